"""The texts of findings: what happened, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.check.verdict import Finding
from headway.spec import Instance
from headway.sync.expand import ConcreteWait, Event
from headway.sync.program import Flag, Semaphore

TOO_FEW = "lower the threshold, or add the missing signal"
EACH_OTHER = "lower the threshold, or move a wait behind what the other engine waits for"
"""What helps where an engine stands for ever, if nothing more is known."""
NOT_HERE = "remove the wait, or move it to the instance that needs it"
"""What helps where an instance does not depend on what it waits for."""


def _turn(event: Event) -> str:
    return str(event) if event.name else f"its {event}"


def times(count: int) -> str:
    """Return how often something happens, as text."""
    return "once" if count == 1 else f"{count} times"


def early(event: Event, instance: Instance, before: Instance, waited: int, wait: str) -> Finding:
    """`instance` may issue before `before` has completed, on which it depends."""
    if not wait:
        did = " and does not wait for it"
    elif wait.startswith("take "):
        did = f", and the token of its {wait} tells of " + (f"{waited} only" if waited else "none")
    else:
        did = f", and its wait for {wait} asks for " + (f"{waited} only" if waited else "none")
    return Finding(
        "early",
        str(instance),
        wait,
        before.counter,
        waited,
        before.position,
        f"{instance} on {instance.engine} may issue before {before} has completed: it depends on "
        f"signal {before.position} of {before.counter}{did}",
        event.at,
        f"wait for signal {before.position} of {before.counter} at this point",
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
        help_text = NOT_HERE
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


def late_take(
    instance: Instance, take: ConcreteWait, counter: str, position: int, required: Mapping[str, int]
) -> Finding:
    """A token tells more than the instance requires, so it may come later than needed."""
    needed = required.get(counter, 0)
    need = f"requires only {needed}" if needed else f"does not depend on {counter} here"
    if position <= needed:
        need = "the flag is set behind other work of its engine"
    return Finding(
        "late",
        str(instance),
        f"take {take.counter}",
        counter,
        position,
        needed,
        f"{instance} on {instance.engine} takes token {take.threshold} of {take.counter}, which"
        f" comes behind signal {position} of {counter}, and {need}",
        take.wait.at,
        "set the flag right behind the instruction, and take it right before the one that needs it",
    )


def leftover(flag: Flag, left: int) -> Finding:
    """A flag was set more often than it was taken."""
    tokens = "1 token is" if left == 1 else f"{left} tokens are"
    return Finding(
        "unsupported",
        "",
        f"take {flag.name}",
        flag.counter,
        0,
        0,
        f"{tokens} left over in flag {flag.name} at the end",
        flag.at,
        f"{flag.engine} has to take a flag as often as it is set, after the last loop too",
    )


def overfull(engine: str, event: Event, flag: Flag, token: int, taken: int) -> Finding:
    """A flag may be set before there is room for the token."""
    missing = token - flag.holds
    return Finding(
        "deadlock",
        event.instance,
        "",
        flag.name,
        taken,
        missing,
        f"{engine} may set token {token} of {flag.name} before {flag.engine} has taken token"
        f" {missing}, and the flag holds {flag.holds}: a token is lost, and {flag.engine} waits"
        " for it",
        event.at,
        f"take a flag before this set that {flag.engine} sets behind its take, or let {flag.name}"
        f" hold {token - taken} tokens",
    )


def circle(engine: str, waits_for: Mapping[str, str]) -> str:
    """Return in which order engines wait for each other, if they are more than two."""
    chain = [engine]
    while (following := waits_for.get(chain[-1])) and chain.count(following) == 0:
        chain.append(following)
    return f": {' -> '.join([*chain, following])}" if following and len(chain) > 2 else ""


def deadlock(
    engine: str,
    event: Event,
    wait: ConcreteWait,
    reached: int,
    total: int,
    waits_for: Mapping[str, str],
) -> Finding:
    """An engine waits for a signal that cannot come; `waits_for` is who waits for whom."""
    if wait.threshold > total:
        why = f"only {total} will ever come"
        way_out = TOO_FEW
    else:
        why = f"only {reached} can come: the engines wait for each other"
        why += circle(engine, waits_for)
        way_out = EACH_OTHER
    return _stands(engine, event, wait, why, way_out)


def overtaken(engine: str, event: Event, wait: ConcreteWait, semaphore: Semaphore) -> Finding:
    """A semaphore may have wrapped before an engine looks at it."""
    why = (
        f"may look too late: the semaphore of {wait.counter} has {semaphore.width} bits, and reads"
        f" {semaphore.value(semaphore.most + 1)} after signal {semaphore.most + 1}"
    )
    return _stands(engine, event, wait, why, room(semaphore))


def room(semaphore: Semaphore) -> str:
    """Return what helps where a semaphore wraps."""
    return (
        f"set the counters to 0 by a barrier before {semaphore.counter} has given more than"
        f" {semaphore.most} signals"
    )


def _stands(engine: str, event: Event, wait: ConcreteWait, why: str, way_out: str) -> Finding:
    """An engine may stand for ever at a wait."""
    return Finding(
        "deadlock",
        event.instance,
        str(wait.wait),
        wait.counter,
        wait.threshold,
        0,
        f"{engine} waits for {wait} before {_turn(event)} and {why}",
        wait.wait.at or event.at,
        way_out,
    )


def no_token(
    engine: str,
    event: Event,
    take: ConcreteWait,
    reached: int,
    total: int,
    waits_for: Mapping[str, str],
) -> Finding:
    """An engine takes a token that cannot come; `waits_for` is who waits for whom."""
    missing = take.threshold > total
    so_far = f"has been set {times(reached)}" if reached else "has not been set yet"
    why = f"is set {times(total)} only" if total else "is never set"
    others = "" if missing else ": the engines wait for each other" + circle(engine, waits_for)
    return Finding(
        "deadlock",
        event.instance,
        f"take {take.counter}",
        take.counter,
        take.threshold,
        0,
        f"{engine} takes token {take.threshold} of {take.counter} before {_turn(event)}, and the"
        f" flag {why if missing else so_far}{others}",
        take.wait.at,
        _as_often(engine, waits_for) if missing else _in_time(engine, event, waits_for),
    )


def _as_often(engine: str, waits_for: Mapping[str, str]) -> str:
    setter = waits_for.get(engine, "the other engine")
    return (
        f"set the flag as often as it is taken: {setter} sets it too seldom, or {engine} takes it"
        " too often"
    )


def _in_time(engine: str, event: Event, waits_for: Mapping[str, str]) -> str:
    """Return what helps where a token comes too late because engines wait for each other."""
    if event.kind == "set":
        return f"set {event.name} before this take, if what it tells does not depend on the take"
    setter = waits_for.get(engine, "the other engine")
    return (
        f"{setter} has to set it before it waits for what comes behind this take: mostly in front"
        " of its loop"
    )


def lonely_barrier(
    engine: str, event: Event, absent: Sequence[str], ended: Sequence[str]
) -> Finding:
    """An engine stands at a barrier that the `absent` ones never reach; some have `ended`."""
    others = " and ".join(absent)
    never = "never reaches" if len(absent) == 1 else "never reach"
    standing = [e for e in absent if e not in ended]
    way_out = "every engine has to run the same number of barriers"
    if standing:
        stand = "stands" if len(standing) == 1 else "stand"
        way_out = f"see where {' and '.join(standing)} {stand}: that is in front of the barrier"
    return Finding(
        "deadlock",
        "barrier",
        "barrier",
        "",
        0,
        0,
        f"{engine} stands at a barrier that {others} {never}",
        event.at,
        way_out,
    )


def out_of_order(engine: str, event: Event, expected: Instance | None) -> Finding:
    """An engine issues something else than the program says."""
    turn = f"the program has {expected} next" if expected else "the program has nothing more there"
    return Finding(
        "unsupported",
        event.instance,
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
