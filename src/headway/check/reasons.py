"""Why each instance of an instruction may issue: its dependences in one run, and what keeps them.

The run is followed in sequential order. For every engine it is kept which wait made it know what,
so that a dependence without a wait of its own can be traced to the wait that stands for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from headway.check.judge import Need, reference
from headway.check.knowledge import Knowledge, Vector
from headway.errors import Diagnostic, Location, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.ir.program import Access, Instr, Loop, Node, While, control_counter
from headway.ir.walk import branches
from headway.spec.instances import Cell, Instance
from headway.spec.required import is_ordered
from headway.sync.expand import Event, expand
from headway.sync.program import SyncProgram

Loops = tuple[tuple[int, str], ...]
"""Loops with a number that each has to itself, and their iterations."""


class Learned(NamedTuple):
    """That an engine has come to know `position` of a counter, by a wait or without one."""

    position: int
    by: str
    waiting: str
    counter: str
    told_by: Instance | None
    at: Location | None


class Reason(NamedTuple):
    """One dependence of an instruction on another, and why it needs no more waits than there are.

    `distances` say how far back the other instance was, in all instances of the run; `text` is
    about the last of them, and `rule` is that of its certificate.
    """

    access: str
    kind: str
    before: str
    counter: str
    distances: tuple[str, ...]
    rule: str
    text: str
    at: Location | None


class _Run:
    def __init__(self, sync: SyncProgram, inputs: Inputs) -> None:
        if sync.flags:
            flag = sync.flags[0]
            raise UnsupportedByTarget(
                Diagnostic(
                    "a program with flags is not explained",
                    flag.at,
                    rule="reasons are about counters; a flag is its own reason",
                    help="explain it with --strategy counted or scoreboard",
                )
            )
        self.program = sync.program
        self.needs = reference(sync, inputs)
        self._events = expand(sync, inputs)
        self._next = dict.fromkeys(self._events, 0)
        engines = tuple(self._events)
        counters = (*engines, *(q.name for q in sync.program.queues))
        self._knowledge = Knowledge((*counters, *map(control_counter, engines)))
        self.known: dict[str, Vector] = dict.fromkeys(engines, self._knowledge.nothing)
        self.learned: dict[tuple[str, str], list[Learned]] = defaultdict(list)
        self._base = dict.fromkeys(self._knowledge.index, 0)
        self._issued: dict[str, list[Instance]] = defaultdict(list)

    def issue(self, need: Need) -> Event:
        """Issue the next instance; return its event. Before it, its engine may meet a barrier."""
        instance = need.instance
        engine, q = instance.engine, instance.counter
        while self._event(engine).kind == "barrier":
            self._meet(instance)
        event = self._event(engine)
        if event.name != instance.node.name:
            raise self._lost(instance)
        self._next[engine] += 1
        if q == engine and q in self.program.serial:
            self._wait(engine, engine, len(self._issued[q]), "", str(instance), event.at)
        for wait in event.waits:
            if wait.threshold > 0:
                position = self._base[wait.counter] + wait.threshold
                if position > len(self._issued[wait.counter]):
                    raise self._lost(instance)
                where = wait.wait.at or event.at
                self._wait(engine, wait.counter, position, str(wait.wait), str(instance), where)
        told = self._knowledge.signal(q, self.known[engine])
        self._issued[q].append(instance)
        if event.kind == "load":
            self.known[engine] = told
        return event

    def _event(self, engine: str) -> Event:
        return self._events[engine][self._next[engine]]

    def _wait(
        self, engine: str, q: str, position: int, by: str, waiting: str, at: Location | None
    ) -> None:
        new = self._knowledge.after(self.known[engine], [(q, position)])
        told_by = self._issued[q][position - 1] if position else None
        self._learn(engine, new, Learned(0, by, waiting, q, told_by, at))

    def _learn(self, engine: str, new: Vector, learned: Learned) -> None:
        for counter, i in self._knowledge.index.items():
            if new[i] > self.known[engine][i]:
                entry = learned._replace(position=new[i])
                self.learned[engine, counter].append(entry)
        self.known[engine] = new

    def _meet(self, instance: Instance) -> None:
        everything = self._knowledge.everything()
        for engine in self._events:
            event = self._event(engine)
            if event.kind != "barrier":
                raise self._lost(instance)
            self._learn(engine, everything, Learned(0, "barrier", "", "", None, event.at))
            self._next[engine] += 1
        self._base = dict(zip(self._knowledge.index, everything, strict=True))

    def _lost(self, instance: Instance) -> UnsupportedByTarget:
        return UnsupportedByTarget(
            Diagnostic(
                f"{instance} on {instance.engine} does not come in its turn",
                instance.node.at,
                rule="only a program that runs to its end can be explained",
                help="headway check says what is wrong with it",
            )
        )


def reasons(sync: SyncProgram, instr: str, inputs: Inputs) -> list[Reason]:
    """Return the dependences of an instruction in one run.

    Raise InvalidInput as `check` does, UnsupportedByTarget if the program does not get to its end.
    """
    run = _Run(sync, inputs)
    loops = loops_around(sync.program.body)
    writes: dict[Cell, dict[str, Instance]] = defaultdict(dict)
    reads: dict[Cell, dict[str, Instance]] = defaultdict(dict)
    found: dict[tuple[str, str, str, str], Reason] = {}
    for need in run.needs:
        event = run.issue(need)
        instance = need.instance
        if instance.node.name == instr:
            for access, kind, before in _conflicts(instance, writes, reads):
                key = access, kind, before.node.name, before.counter
                old = found.get(key)
                distances = (*(old.distances if old else ()), distance(before, instance, loops))
                rule, text, at = _why(run, instance, before, event)
                found[key] = Reason(*key, tuple(dict.fromkeys(distances)), rule, text, at)
        for cell in instance.reads:
            reads[cell][instance.counter] = instance
        for cell in instance.writes:
            writes[cell][instance.counter] = instance
    return list(found.values())


def _conflicts(
    instance: Instance,
    writes: dict[Cell, dict[str, Instance]],
    reads: dict[Cell, dict[str, Instance]],
) -> Iterator[tuple[str, str, Instance]]:
    """Yield the last conflicting instance of each counter, by access."""
    node = instance.node
    written = node.writes if isinstance(node, Instr) else ()
    for accesses, cells, tables in (
        (node.reads, instance.reads, (("RAW", writes),)),
        (written, instance.writes, (("WAR", reads), ("WAW", writes))),
    ):
        for access in accesses:
            for cell in cells:
                if cell.buffer == access.buffer:
                    yield from _last(access, cell, tables)


def _last(
    access: Access,
    cell: Cell,
    tables: tuple[tuple[str, dict[Cell, dict[str, Instance]]], ...],
) -> Iterator[tuple[str, str, Instance]]:
    last: dict[str, tuple[str, Instance]] = {}
    for kind, table in tables:
        for q, before in table[cell].items():
            if q not in last or last[q][1].position <= before.position:
                last[q] = kind, before
    for kind, before in last.values():
        yield f"{access.buffer}[{access.slot}]", kind, before


def _why(
    run: _Run, instance: Instance, before: Instance, event: Event
) -> tuple[str, str, Location | None]:
    """Return the rule that keeps a dependence of this instance, a sentence, and a place."""
    q, engine = before.counter, instance.engine
    if is_ordered(run.program, q, engine, instance.counter):
        return "a-order", f"{q} does one thing after the other", None
    entries = (e for e in run.learned[engine, q] if e.position >= before.position)
    learned = next(entries, None)
    if learned is None:
        return "", f"nothing makes {engine} wait for it: {instance} may be early", event.at
    if learned.by == "barrier":
        return "c-transitive", "everything was over at a barrier", learned.at
    here = learned.waiting == str(instance)
    who = "it" if here else learned.waiting
    if not learned.by:
        told = f"{learned.told_by}, after which {who} starts on {engine}, had seen it"
        return "c-transitive", told, None
    if learned.counter == q:
        where = "its own wait" if here else f"the wait of {who}"
        return ("b-wait" if here else "b-earlier-wait"), f"{where} for {learned.by}", learned.at
    told = f"{who} waits for {learned.by}, the signal of {learned.told_by}, which had seen it"
    return "c-transitive", told, learned.at


def distance(before: Instance, after: Instance, loops: dict[str, Loops]) -> str:
    """Return how many iterations lie between two instances, in the loops around both."""
    around = zip(loops[before.node.name], loops[after.node.name], strict=False)
    for level, (one, other) in enumerate(around):
        if one != other:
            break
        between = after.iteration[level] - before.iteration[level]
        if between:
            return f"{between} iteration{'s' if between > 1 else ''} of {one[1]} before"
    return "same iteration"


def loops_around(body: tuple[Node, ...]) -> dict[str, Loops]:
    """Return the loops around every instruction and control read, outermost first, by name."""
    found: dict[str, Loops] = {}
    numbers = count()
    stack: list[tuple[tuple[Node, ...], Loops]] = [(body, ())]
    while stack:
        nodes, loops = stack.pop()
        for node in nodes:
            inside = loops
            if isinstance(node, Loop | While):
                inside = (*loops, (next(numbers), node.iteration))
            if isinstance(node, Instr):
                found[node.name] = loops
            elif node.control:
                found[node.control.name] = inside if isinstance(node, While) else loops
            stack += [(part, inside) for part in branches(node)]
    return found
