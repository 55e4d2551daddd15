"""Write engine programs as the plain steps that a certificate is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.certify.certificate import Certificate, check
from headway.certify.statement import Flag, Gap, Refused, Statement, Step, Wait
from headway.sync.program import (
    Assign,
    Barrier,
    Exec,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Waits,
)
from headway.sync.program import Wait as SyncWait

ENOUGH = 2**22
"""A counter that counts as far as that is taken to be wide enough for every run."""


def statement(sync: SyncProgram) -> Statement:
    """Return what is to be proved of a program. Raise Refused if that cannot be written down."""
    for semaphore in sync.semaphores:
        if semaphore.most < ENOUGH:
            why = f"{semaphore.counter} has {semaphore.width} bits and may wrap"
            raise Refused(why, semaphore.at)
    for flag in sync.flags:
        if flag.holds:
            tokens = "1 token" if flag.holds == 1 else f"{flag.holds} tokens"
            raise Refused(f"flag {flag.name} holds {tokens} and may lose one", flag.at)
    return Statement(
        sync.program,
        {engine.engine: _steps(engine.body) for engine in sync.engines},
        {
            (e.engine, register.name): register.size
            for e in sync.engines
            for register in e.registers
        },
        {flag.name: Flag(flag.counter, flag.engine) for flag in sync.flags},
    )


def verify(sync: SyncProgram, certificate: Certificate) -> list[Gap]:
    """Return what is wrong with a certificate for a program; nothing if the program is proved.

    Raise InvalidInput if the certificate cannot be read.
    """
    try:
        return check(statement(sync), certificate)
    except Refused as hole:
        return [Gap(hole.reason, hole.at)]


def _steps(body: Iterable[SyncNode]) -> tuple[Step, ...]:
    """Return the steps of a body. Waits right before an instruction are waits of it."""
    steps: list[Step] = []
    for node in body:
        step = _step(node)
        while step.kind == "issue" and steps and steps[-1].kind == "waits":
            step = step._replace(waits=steps.pop().waits + step.waits)
        steps.append(step)
    return tuple(steps)


def _step(node: SyncNode) -> Step:
    at = node.at
    match node:
        case Assign():
            return Step("assign", node.register.name, node.register.index, node.value, at=at)
        case Waits():
            return Step("waits", waits=_waits(node.waits), at=at)
        case Exec():
            return Step("issue", node.instr, waits=_waits(node.waits), at=at)
        case Load():
            return Step("load", node.control, waits=_waits(node.waits), at=at)
        case Barrier():
            return Step("barrier", at=at)
        case SetFlag():
            return Step("set", node.flag, at=at)
        case TakeFlag():
            return Step("take", node.flag, at=at)
        case SyncLoop():
            kind, name, value, bodies = "loop", node.iteration, node.trip, (node.body,)
        case SyncWhile():
            kind, name, value, bodies = "while", node.iteration, node.condition, (node.body,)
        case SyncIf():
            kind, name, value, bodies = "if", "", node.condition, (node.then, node.orelse)
    load = _step(node.load) if node.load else None
    return Step(kind, name, 0, value, (), tuple(map(_steps, bodies)), load, at)


def _waits(waits: Iterable[SyncWait]) -> tuple[Wait, ...]:
    return tuple(_converted(waits))


def _converted(waits: Iterable[SyncWait]) -> Iterator[Wait]:
    for wait in waits:
        register, offset = wait.threshold.register, wait.threshold.offset
        if register is None:
            yield Wait(wait.counter, "", 0, offset, str(wait), wait.at)
        else:
            yield Wait(wait.counter, register.name, register.index, offset, str(wait), wait.at)
