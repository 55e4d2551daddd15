"""The texts of findings: what happened, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.check.verdict import Finding
from headway.spec import Instance
from headway.sync.expand import ConcreteWait, Event


def early(event: Event, instance: Instance, before: Instance, waited: int, wait: str) -> Finding:
    """`instance` may issue before `before` has completed, on which it depends."""
    did = f"waits only for {waited}" if waited else "does not wait for it"
    return Finding(
        "early",
        str(instance),
        wait,
        before.counter,
        waited,
        before.position,
        f"{instance} on {instance.engine} may issue before {before} has completed: it depends on "
        f"signal {before.position} of {before.counter} and {did}",
        event.at,
        f"wait for {before.counter} >= {before.position} at this point",
    )


def late(
    instance: Instance, wait: ConcreteWait, position: int, required: Mapping[str, int]
) -> Finding:
    """A wait is stricter than required and not implied by earlier waits."""
    needed = required.get(wait.counter, 0)
    if position <= needed:  # true for these engine programs, but the load itself is not needed
        need = "only because an engine without work inside loads the value too"
        help_text = "let only the engines with work inside a loop or if load its control value"
    elif needed:
        need = f"requires only {needed}"
        help_text = f"lower the threshold by {position - needed}"
    else:
        need = f"does not depend on {wait.counter} here"
        help_text = "remove the wait, or move it to the instance that needs it"
    return Finding(
        "late",
        str(instance),
        str(wait.wait),
        wait.counter,
        position,
        needed,
        f"{instance} on {instance.engine} waits for signal {position} of {wait.counter} and {need}",
        wait.wait.at,
        help_text,
    )


def late_barrier(
    barrier: Event, instance: Instance, counter: str, position: int, needed: int
) -> Finding:
    """A barrier holds up an instance that requires less than everything."""
    return Finding(
        "late",
        str(instance),
        "barrier",
        counter,
        position,
        needed,
        f"{instance} on {instance.engine} stands at a barrier until signal {position} of {counter}"
        f" and requires {needed}",
        barrier.at,
        "a barrier waits for everything; wait for what is required instead",
    )


def deadlock(engine: str, event: Event, wait: ConcreteWait, reached: int, total: int) -> Finding:
    """An engine waits for a signal that cannot come."""
    if wait.threshold > total:
        why = f"only {total} will ever come"
        way_out = "lower the threshold, or add the missing signal"
    else:
        why = f"only {reached} can come: the engines wait for each other"
        way_out = "move a wait behind the instruction that the other engine waits for"
    return Finding(
        "deadlock",
        f"{event.name}[{','.join(map(str, event.iteration))}]" if event.name else event.kind,
        str(wait.wait),
        wait.counter,
        wait.threshold,
        0,
        f"{engine} waits for {wait} before {event.name or 'its ' + event.kind} and {why}",
        wait.wait.at or event.at,
        way_out,
    )


def lonely_barrier(engine: str, event: Event, ended: Sequence[str]) -> Finding:
    """An engine stands at a barrier that others never reach."""
    others = ", ".join(ended) or "others"
    never = "never reaches" if len(ended) == 1 else "never reach"
    return Finding(
        "deadlock",
        "barrier",
        "barrier",
        "",
        0,
        0,
        f"{engine} stands at a barrier that {others} {never}",
        event.at,
        "every engine has to run the same number of barriers",
    )


def out_of_order(engine: str, event: Event, expected: Instance | None) -> Finding:
    """An engine issues something else than the program says."""
    turn = f"the program has {expected} next" if expected else "the program has nothing more there"
    return Finding(
        "unsupported",
        f"{event.name}[{','.join(map(str, event.iteration))}]",
        "",
        expected.counter if expected else "",
        0,
        0,
        f"{engine} issues {event.name} where {turn}",
        event.at,
        "each engine has to keep the order of the sequential program",
    )


def never_issued(instance: Instance) -> Finding:
    """The engine programs end before everything was issued."""
    return Finding(
        "unsupported",
        str(instance),
        "",
        instance.counter,
        0,
        0,
        f"{instance} on {instance.engine} is never issued",
        instance.node.at,
        "every instance of the sequential program has to be issued",
    )
