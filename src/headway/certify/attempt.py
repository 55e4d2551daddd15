"""Try to write a certificate for a synchronized program.

A joint order and states at loop heads are planned, and checked as any certificate is. Loops that
run a few times, always as often, are planned with each turn told apart where that is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headway.certify.certificate import Certificate, dependences, waits
from headway.certify.followed import followed
from headway.certify.numbers import Form, linear
from headway.certify.planner import Planner
from headway.certify.state import Key
from headway.certify.statement import Gap, Refused, Statement, steps_in
from headway.certify.transcribe import statement
from headway.certify.verify import Walk
from headway.ir.expr import Input
from headway.ir.program import If, Instr, Loop, Node, Program, While
from headway.ir.walk import deep_nests, walk
from headway.spec import readers_inside
from headway.sync.program import SyncProgram

MOST_TURNS = 12
"""Turns of a loop with a constant trip count that are walked one by one."""
MOST_WALKED = 250
"""Turns of such loops inside each other, multiplied."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A certificate; with no gaps it proves that no instance is early and no wait for ever.

    `late` are waits that may be stricter than required: with none, no wait is ever late.
    """

    certificate: Certificate
    gaps: tuple[Gap, ...]
    late: tuple[Gap, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the program is proved, for all inputs."""
        return not self.gaps


def certify(sync: SyncProgram) -> Attempt:
    """Try to prove a verified program for all inputs, and write the proof down."""
    empty = Certificate(sync.program.name, [], [], [], [])
    with deep_nests():
        try:
            stated = statement(sync)
        except Refused as hole:
            return Attempt(empty, (Gap(hole.reason, hole.at),))
        registers = followed(stated)
        proof = Attempt(empty, (Gap("nothing was tried"),))
        for exact, is_fine in _ways(stated.program):
            found = _planned(stated, registers, exact, is_fine, empty)
            if not proof.certificate.order or len(found.gaps) < len(proof.gaps):
                proof = found
            if not proof.gaps:
                kept = list(trips(stated.program))
                if proof.late and kept and not list(_strict(stated)):
                    found = _planned(stated, registers, exact, is_fine, empty, kept)
                    if not found.gaps and len(found.late) < len(proof.late):
                        proof = found
                break
    return proof


def _ways(program: Program) -> Iterator[tuple[dict[str, int], bool]]:
    """Yield what to tell apart, cheap ways first."""
    yield {}, False
    yield {}, True
    if short := dict(short_loops(program)):
        yield short, True


def _planned(
    stated: Statement,
    registers: list[Key],
    exact: dict[str, int],
    is_fine: bool,
    empty: Certificate,
    kept: Iterable[Form] = (),
) -> Attempt:
    try:
        order = Planner(stated, exact, is_fine, kept).plan()
        found = Walk(stated, registers)
        found.run(order)
    except Refused as hole:
        return Attempt(empty, (Gap(hole.reason, hole.at),))
    rows = [list(key) for key in registers]
    certificate = Certificate(empty.program, rows, order, dependences(found), waits(found))
    return Attempt(certificate, tuple(found.gaps), (*found.late.values(), *_strict(stated)))


def _strict(stated: Statement) -> Iterator[Gap]:
    """Yield what may hold up an instance and is no wait: whether it is needed is not looked at."""
    working = {
        (node.control.name, engine)
        for node in walk(stated.program.body)
        if not isinstance(node, Instr) and node.control
        for engine in readers_inside(node)
    }
    for engine, steps in stated.engines.items():
        for step in steps_in(steps):
            if step.kind == "load" and (step.name, engine) not in working:
                yield Gap(f"{engine} loads {step.name}, and has no work inside", step.at)
            if step.kind == "barrier":
                yield Gap(f"{engine} stands at a barrier until everything is complete", step.at)
            if step.kind == "take":
                yield Gap(f"{engine} takes {step.name}, which may be set late", step.at)


def trips(program: Program) -> Iterator[Form]:
    """Yield the inputs that are trip counts: the same in all turns of the loop itself."""
    for node in walk(program.body):
        if isinstance(node, Loop) and isinstance(node.trip, Input):
            yield linear(node.trip)


def short_loops(program: Program) -> Iterator[tuple[str, int]]:
    """Yield the iterations of loops with few turns, as long as not too much is walked in all."""
    waiting: list[tuple[Node, int]] = [(node, 1) for node in program.body]
    while waiting:
        node, times = waiting.pop()
        match node:
            case Loop():
                trip = node.trip if isinstance(node.trip, int) else 0
                if 1 < trip <= MOST_TURNS and times * trip <= MOST_WALKED:
                    times *= trip
                    yield node.iteration, trip
                waiting += [(inner, times) for inner in node.body]
            case While():
                waiting += [(inner, times) for inner in node.body]
            case If():
                waiting += [(inner, times) for inner in (*node.then, *node.orelse)]
            case _:
                pass
