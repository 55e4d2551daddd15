"""Write engine programs as the plain steps that a certificate is about."""

from __future__ import annotations

from collections.abc import Iterable

from headway.certify.certificate import Certificate, check
from headway.certify.rows import refuse_outside
from headway.certify.semaphores import refuse_overflow
from headway.certify.statement import Flag, Gap, Refused, Statement, Step, Sum, Wait
from headway.ir.expr import Binary, Expr, leaves
from headway.sync.program import (
    Assign,
    Barrier,
    Exec,
    Load,
    RegisterRef,
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
from headway.sync.written_out import likewise


def statement(sync: SyncProgram) -> Statement:
    """Return what is to be proved of a program. Raise Refused if that cannot be written down."""
    refuse_overflow(sync)
    refuse_outside(sync)
    sync = likewise(sync)
    return Statement(
        sync.program,
        {engine.engine: _steps(engine.body) for engine in sync.engines},
        {
            (e.engine, register.name): register.size
            for e in sync.engines
            for register in e.registers
        },
        {flag.name: Flag(flag.counter, flag.engine, flag.holds) for flag in sync.flags},
    )


def verify(sync: SyncProgram, certificate: Certificate) -> list[Gap]:
    """Return what is wrong with a certificate for a program; nothing if the program is proved.

    Raise InvalidInput if the certificate cannot be read.
    """
    try:
        return check(statement(sync), certificate)
    except Refused as hole:
        return [Gap(hole.reason, hole.at)]


def _steps(body: Iterable[SyncNode], again: Step | None = None) -> tuple[Step, ...]:
    """Return the steps of a body, and `again` at its end.

    Waits right before an instruction are waits of it. What a loop loads is loaded before it.
    """
    steps: list[Step] = []
    for node in body:
        if isinstance(node, SyncLoop | SyncWhile | SyncIf) and node.load:
            steps.append(_step(node.load))
        step = _step(node)
        while step.kind == "issue" and steps and steps[-1].kind == "waits":
            step = step._replace(waits=steps.pop().waits + step.waits)
        steps.append(step)
    return (*steps, again) if again else tuple(steps)


def _step(node: SyncNode) -> Step:
    at = node.at
    match node:
        case Assign():
            name, place = node.register.name, _plain(node.register.index)
            return Step("assign", name, place, values=_sums(node.value), at=at)
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
        case SyncLoop() if node.first:
            raise Refused(f"what is done before iteration {node.first} is not followed", at)
        case SyncLoop():
            return Step("loop", node.iteration, 0, node.trip, bodies=(_steps(node.body),), at=at)
        case SyncWhile():
            body = _steps(node.body, _step(node.load) if node.load else None)
            return Step("while", node.iteration, 0, node.condition, bodies=(body,), at=at)
        case SyncIf():
            bodies = (_steps(node.then), _steps(node.orelse))
            return Step("if", "", 0, _plain(node.condition), bodies=bodies, at=at)


def _waits(waits: Iterable[SyncWait]) -> tuple[Wait, ...]:
    return tuple(Wait(w.counter, _threshold(w), str(w), w.at) for w in waits)


def _threshold(wait: SyncWait) -> Sum:
    register, offset = wait.threshold.register, wait.threshold.offset
    return Sum(register.name, _plain(register.index), offset) if register else Sum(rest=offset)


def _plain(expr: Expr) -> Expr:
    """Return a place or condition. Raise Refused if it is computed from registers."""
    if any(isinstance(leaf, RegisterRef) for leaf in leaves(expr)):
        raise Refused(f"{expr} is computed from a register, which is not followed")
    return expr


def _sums(value: Expr) -> tuple[Sum, ...]:
    """Return what a value is the largest of; nothing if that is not a register and a number."""
    if isinstance(value, Binary) and value.operator == "max":
        left, right = _sums(value.left), _sums(value.right)
        return left + right if left and right else ()
    registers = [leaf for leaf in leaves(value) if isinstance(leaf, RegisterRef)]
    if not registers:
        return (Sum(rest=value),)
    rest = _without(value, registers[0])
    return (
        ()
        if len(registers) > 1 or rest is None
        else (Sum(registers[0].name, _plain(registers[0].index), rest),)
    )


def _without(value: Expr, register: RegisterRef) -> Expr | None:
    """Return what is added to a register; None if that is not all that is done with it."""
    if value == register:
        return 0
    if not isinstance(value, Binary) or value.operator not in ("+", "-"):
        return None
    if register in leaves(value.left):
        left = _without(value.left, register)
        return None if left is None else Binary(value.operator, left, value.right)
    right = _without(value.right, register) if value.operator == "+" else None
    return None if right is None else Binary("+", value.left, right)
