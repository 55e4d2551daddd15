"""Slots by a counter that runs on over outer loops, beside slots by the iteration of their loop.

`python -m headway.bench.running_slots` prints the table for two kernels whose innermost loop is
entered again: with trip counts that are known at run time, with inner ones that are constants, and
with subscripts such as `a[(row * 21 + column * 7 + step) % 3]` in place of `a[step % 3]`.

A program with other subscripts is another program: buffers may be numbered so because all that an
iteration reads of them was written in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from headway import kernels, strategies
from headway.bench.waits import Made, lines, row
from headway.ir.expr import Binary, Expr, Input, Inputs, Iteration
from headway.ir.program import Access, Instr, Loop, Node, Program

KERNELS: tuple[tuple[str, Inputs], ...] = (
    ("matmul", {"m": 4, "n": 3, "k": 7}),
    ("mamba", {"groups": 3, "n": 7}),
)
"""With trip counts that are no multiple of the slots."""

SLOTS = (2, 3)

Around = tuple[tuple[str, int], ...]
"""The loops around by iteration, from the outside, with their trip counts."""


def with_constants(program: Program, inputs: Inputs) -> Program:
    """Return a program of loops with constants for the trip counts of all but outermost loops."""

    def constant(loop: Loop) -> Loop:
        name = loop.trip.name if isinstance(loop.trip, Input) else ""
        value = inputs.get(name)
        return replace(loop, trip=value) if isinstance(value, int) else loop

    def inside(node: Node) -> Node:
        if not isinstance(node, Loop):
            return node
        return replace(constant(node), body=tuple(map(inside, node.body)))

    def outermost(node: Node) -> Node:
        return replace(node, body=tuple(map(inside, node.body))) if isinstance(node, Loop) else node

    return replace(program, body=tuple(map(outermost, program.body)))


def with_running_slots(program: Program) -> Program:
    """Return a program of loops whose slots run on over the loops around.

    All but outermost loops have constants as their trip counts.
    """
    return replace(program, body=tuple(_running(node, ()) for node in program.body))


def _running(node: Node, around: Around) -> Node:
    match node:
        case Loop():
            trip = node.trip if isinstance(node.trip, int) else 0  # outermost: never asked for
            inner = (*around, (node.iteration, trip))
            return replace(node, body=tuple(_running(inside, inner) for inside in node.body))
        case Instr():
            reads, writes = (
                tuple(_access(access, around) for access in accesses)
                for accesses in (node.reads, node.writes)
            )
            return replace(node, reads=reads, writes=writes)
        case _:
            return node


def _access(access: Access, around: Around) -> Access:
    match access.slot:
        case Binary("%", Iteration(name), int() as slots):
            return replace(access, slot=Binary("%", _count(name, around), slots))
        case _:
            return access


def _count(name: str, around: Around) -> Expr:
    """Return how many iterations of a loop have begun before, counted over all its runs."""
    (iteration, _), *inner = around
    total: Expr = Iteration(iteration)
    for following, trip in inner:
        if iteration == name:
            break
        total = Binary("+", Binary("*", total, trip), Iteration(following))
        iteration = following
    return total


Form = Callable[[Program, Inputs], Program]

FORMS: dict[str, Form] = {
    "run-time trips": lambda program, inputs: program,
    "constant trips": with_constants,
    "running slots": lambda program, inputs: with_running_slots(with_constants(program, inputs)),
}


def programs() -> Iterator[Made]:
    """Yield each kernel in each form, with a title and inputs."""
    for slots in SLOTS:
        for name, inputs in KERNELS:
            plain = kernels.load(name).program(buffers=slots)
            for form, make in FORMS.items():
                yield f"{name}, {slots} slots, {form}", make(plain, inputs), inputs


def main() -> None:
    """Print the table."""
    print("\n".join(lines([row(*made, strategies.load("counted")) for made in programs()])))


if __name__ == "__main__":
    main()
