"""Make a failing program small: keep every simplification under which it still fails.

In     a program, its inputs, and a question that is answered with yes for them
Out    a program and inputs for which the answer is still yes, and no for each one-step
       simplification of them (unless the number of attempts ran out first)
Cost   one question per attempt
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.ir.expr import Binary, Expr, Input, Inputs, Iteration, leaves
from headway.ir.program import Access, ControlRead, If, Instr, Loop, Node, Program, Takes, While
from headway.ir.walk import accesses, branches, control, deep_nests, instructions, walk

Body = tuple[Node, ...]
Fails = Callable[[Program, Inputs], bool]

ATTEMPTS = 3000
"""Smaller programs that are tried: some seconds."""
TRIPS = (0, 1, 2, 3)
"""Trip counts that are tried in place of one that is computed."""

DURATION = 10
"""The duration, in ns, that is tried in place of another; long ones often show a failure."""


class Small(NamedTuple):
    """A program that fails, with its inputs."""

    program: Program
    inputs: Inputs


def shrink(program: Program, inputs: Inputs, fails: Fails, attempts: int = ATTEMPTS) -> Small:
    """Return a smaller program that fails too; `fails` may raise HeadwayError, which is a no."""
    small = Small(program, inputs)
    with deep_nests():
        while (smaller := _first(_simpler(small), fails, attempts)).found:
            small = smaller.found
            attempts = smaller.left
    return small


class _Search(NamedTuple):
    found: Small | None
    left: int


def _first(candidates: Iterator[Small], fails: Fails, attempts: int) -> _Search:
    """Return the first candidate that fails, and how many attempts are left."""
    for left, candidate in zip(range(attempts - 1, -1, -1), candidates, strict=False):
        if _still(fails, candidate):
            return _Search(candidate, left)
    return _Search(None, 0)


def _still(fails: Fails, candidate: Small) -> bool:
    try:
        return fails(*candidate)
    except HeadwayError:
        return False


def _simpler(small: Small) -> Iterator[Small]:
    """Yield every one-step simplification; those that take most away come first."""
    program, inputs = small
    pruned = _pruned(small)
    if pruned != small:
        yield pruned
    for body in _bodies(program.body):
        yield Small(replace(program, body=body), inputs)
    for serial in _less_pipelined(program):
        yield Small(serial, inputs)
    for lower in _lower(inputs):
        yield Small(program, lower)


def _pruned(small: Small) -> Small:
    """Drop every declaration that nothing uses."""
    program, inputs = small
    instrs = list(instructions(program.body))
    hosts = {instr.engine for instr in instrs}
    queues = {instr.queue for instr in instrs}
    buffers = {access.buffer for access in accesses(program.body)}
    used = {
        leaf.name for expr in _exprs(program) for leaf in leaves(expr) if isinstance(leaf, Input)
    }
    pruned = replace(
        program,
        inputs=tuple(decl for decl in program.inputs if decl.name in used),
        engines=tuple(engine for engine in program.engines if engine.name in hosts),
        queues=tuple(queue for queue in program.queues if queue.name in queues),
        buffers=tuple(buffer for buffer in program.buffers if buffer.name in buffers),
    )
    return Small(pruned, {name: value for name, value in inputs.items() if name in used})


def _exprs(program: Program) -> Iterator[Expr]:
    for node in walk(program.body):
        if not isinstance(node, Instr):
            yield control(node)
    for access in accesses(program.body):
        yield access.slot
        for interval in access.box or ():
            yield from interval


def _bodies(body: Body) -> Iterator[Body]:
    for i, node in enumerate(body):
        for nodes in _replacements(node):
            yield (*body[:i], *nodes, *body[i + 1 :])


def _replacements(node: Node) -> Iterator[Body]:
    """Yield what may stand in place of a node; the node goes first, its details last."""
    yield ()
    if isinstance(node, Instr):
        for instr in _instrs(node):
            yield (instr,)
        return
    for branch in branches(node):
        yield branch if isinstance(node, If) else _without(node.iteration, branch)
    if node.control:
        yield (replace(node, control=None),)
    match node:
        case Loop():
            yield from ((replace(node, trip=trip),) for trip in _trips(node.trip))
            yield from ((replace(node, body=body),) for body in _bodies(node.body))
        case While():
            yield from ((Loop(node.iteration, trip, node.body),) for trip in TRIPS)
            yield from ((replace(node, body=body),) for body in _bodies(node.body))
        case If():
            yield from ((replace(node, then=then),) for then in _bodies(node.then))
            yield from ((replace(node, orelse=orelse),) for orelse in _bodies(node.orelse))


def _trips(trip: Expr) -> tuple[int, ...]:
    return tuple(range(trip)) if isinstance(trip, int) else TRIPS


def _instrs(instr: Instr) -> Iterator[Instr]:
    for i in range(len(instr.reads)):
        yield replace(instr, reads=instr.reads[:i] + instr.reads[i + 1 :])
    for i in range(len(instr.writes)):
        yield replace(instr, writes=instr.writes[:i] + instr.writes[i + 1 :])
    if instr.queue:
        yield replace(instr, queue=None)
    for i, access in enumerate(instr.reads):
        for simple in _accesses(access):
            yield replace(instr, reads=(*instr.reads[:i], simple, *instr.reads[i + 1 :]))
    for i, access in enumerate(instr.writes):
        for simple in _accesses(access):
            yield replace(instr, writes=(*instr.writes[:i], simple, *instr.writes[i + 1 :]))
    plain = Takes(DURATION, DURATION)
    if isinstance(instr.cost, Takes) and instr.cost != plain:
        yield replace(instr, cost=plain)


def _accesses(access: Access) -> Iterator[Access]:
    if access.box is not None:
        yield replace(access, box=None)
    if access.slot != 0:
        yield replace(access, slot=0)
    if not isinstance(access.slot, int):
        yield replace(access, slot=1)


def _less_pipelined(program: Program) -> Iterator[Program]:
    for i, engine in enumerate(program.engines):
        if engine.pipelined:
            serial = replace(engine, pipelined=False)
            yield replace(
                program, engines=(*program.engines[:i], serial, *program.engines[i + 1 :])
            )
    for i, queue in enumerate(program.queues):
        if queue.pipelined:
            serial = replace(queue, pipelined=False)
            yield replace(program, queues=(*program.queues[:i], serial, *program.queues[i + 1 :]))


def _lower(inputs: Inputs) -> Iterator[Inputs]:
    """Yield the inputs with one number lower: zero, or one less."""
    for name, value in inputs.items():
        if isinstance(value, int):
            yield from ({**inputs, name: lower} for lower in _below(value))
            continue
        for i, number in enumerate(value):
            for lower in _below(number):
                yield {**inputs, name: [*value[:i], lower, *value[i + 1 :]]}


def _below(value: int) -> Iterator[int]:
    return iter(sorted({0, value - 1})) if value > 0 else iter(())


def _without(iteration: str, body: Body) -> Body:
    """Return the body of a loop as its first iteration runs it."""
    return tuple(_fixed_node(iteration, node) for node in body)


def _fixed_node(iteration: str, node: Node) -> Node:
    match node:
        case Instr():
            reads, writes = _fixed(iteration, node.reads), _fixed(iteration, node.writes)
            return replace(node, reads=reads, writes=writes)
        case Loop():
            trip = _at_zero(iteration, node.trip)
            fixed = replace(node, trip=trip, body=_without(iteration, node.body))
        case While():
            condition = _at_zero(iteration, node.condition)
            fixed = replace(node, condition=condition, body=_without(iteration, node.body))
        case If():
            then, orelse = _without(iteration, node.then), _without(iteration, node.orelse)
            condition = _at_zero(iteration, node.condition)
            fixed = replace(node, condition=condition, then=then, orelse=orelse)
    return replace(fixed, control=_fixed_control(iteration, node.control))


def _fixed_control(iteration: str, read: ControlRead | None) -> ControlRead | None:
    return replace(read, reads=_fixed(iteration, read.reads)) if read else None


def _fixed(iteration: str, accesses: tuple[Access, ...]) -> tuple[Access, ...]:
    return tuple(
        Access(
            access.buffer,
            _at_zero(iteration, access.slot),
            access.box
            and tuple((_at_zero(iteration, a), _at_zero(iteration, b)) for a, b in access.box),
        )
        for access in accesses
    )


def _at_zero(iteration: str, expr: Expr) -> Expr:
    """Return the expression where that iteration is 0."""
    match expr:
        case Iteration() if expr.loop == iteration:
            return 0
        case Input() if expr.index is not None:
            return Input(expr.name, _at_zero(iteration, expr.index))
        case Binary():
            left, right = _at_zero(iteration, expr.left), _at_zero(iteration, expr.right)
            return Binary(expr.operator, left, right)
        case _:
            return expr
