"""Every instruction waits for all instructions before it.

In     a bound program without control values in memory and silent instructions
Out    engine programs that count every signal of every counter
Keeps  no instance early; most are late
Cost   engines times instructions

    vector add writes(x)                 engine tensor {
    tensor mm reads(x)            ->       mm waits vector >= 1
                                         }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.expr import Binary
from headway.ir.program import If, Instr, Loop, Node, Program
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Threshold,
    Wait,
)
from headway.targets import Target


@dataclass(frozen=True, slots=True)
class OneAtATime:
    """Walks the whole program on each engine: `seen.q` counts the signals of counter q."""

    name: str = "one-at-a-time"
    description: str = "every instruction waits for all before it"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Raise UnsupportedByTarget on what it cannot count."""
        counters = [x.name for x in (*program.engines, *program.queues)]
        engines = tuple(
            EngineProgram(
                engine,
                tuple(_body(program.body, engine, counters)),
                tuple(Register(f"seen.{counter}") for counter in counters),
            )
            for engine in program.hosts
        )
        return SyncProgram(program, engines, self.name, target.name)


def _body(nodes: tuple[Node, ...], engine: str, counters: list[str]) -> Iterator[SyncNode]:
    for node in nodes:
        if isinstance(node, Instr):
            if node.silent:
                raise UnsupportedByTarget(_cannot(f"{node.name!r} is silent", node))
            if node.engine == engine:
                yield Exec(node.name, tuple(map(_wait, counters)), node.at)
            seen = RegisterRef(f"seen.{node.counter}")
            yield Assign(seen, Binary("+", seen, 1))
            continue
        if node.control:
            raise UnsupportedByTarget(_cannot("a control value lies in memory", node))
        if isinstance(node, If):
            then = tuple(_body(node.then, engine, counters))
            yield SyncIf(node.condition, then, tuple(_body(node.orelse, engine, counters)))
        elif isinstance(node, Loop):
            yield SyncLoop(node.iteration, node.trip, tuple(_body(node.body, engine, counters)))
        else:
            body = tuple(_body(node.body, engine, counters))
            yield SyncWhile(node.iteration, node.condition, body)


def _cannot(why: str, node: Node) -> Diagnostic:
    return Diagnostic(f"'one-at-a-time' cannot synchronize this: {why}", node.at)


def _wait(counter: str) -> Wait:
    return Wait(counter, Threshold(RegisterRef(f"seen.{counter}")))


STRATEGY = OneAtATime()
