"""What a certificate is about, as plain data: a sequential program and what each engine does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Expr
from headway.ir.program import Access, Program


class Refused(Exception):
    """The order does not fit, or a state does not hold: the reason, and the place."""

    def __init__(self, reason: str, at: Location | None = None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Gap(NamedTuple):
    """Where a proof has a hole, and why."""

    reason: str
    at: Location | None = None


class Wait(NamedTuple):
    """Stand still until `counter` has reached the register plus `offset`; no register is 0."""

    counter: str
    register: str
    place: Expr
    offset: int
    text: str
    at: Location | None = None


class Step(NamedTuple):
    """What an engine does next.

    assign   set register `name`, at `place` of its row, to `value`
    waits    `waits`
    issue    the instruction `name`, after `waits`
    load     the control value `name`, after `waits`
    barrier  meet the others
    set      add a token to flag `name`; take: take one
    loop, while, if   run `bodies` as `value` says, after `load` if there is one
    """

    kind: str
    name: str = ""
    place: Expr = 0
    value: Expr = 0
    waits: tuple[Wait, ...] = ()
    bodies: tuple[tuple[Step, ...], ...] = ()
    load: Step | None = None
    at: Location | None = None


class Flag(NamedTuple):
    """Whoever takes a token knows all that `counter` has been given before it was set."""

    counter: str
    engine: str


class Statement(NamedTuple):
    """A sequential program, engine programs, and by engine and name how long each row is."""

    program: Program
    engines: dict[str, tuple[Step, ...]]
    registers: dict[tuple[str, str], int]
    flags: dict[str, Flag]


class Instance(NamedTuple):
    """What is issued: an instruction, or a control read by one engine."""

    name: str
    engine: str
    counter: str
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    waits: tuple[Wait, ...]
    at: Location | None


def steps_in(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield every step, those inside others too."""
    for step in steps:
        yield step
        if step.load:
            yield step.load
        for body in step.bodies:
            yield from steps_in(body)
