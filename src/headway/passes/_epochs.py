"""Cut a program into epochs: pieces that give few signals, each complete before the next.

In     a sequential program, how many signals a counter may give in an epoch, and a strategy
Out    for each engine the pieces as the strategy synchronizes them alone, with barriers between
Keeps  an epoch begins with everything complete, all counters 0 and all registers 0, so that the
       thresholds of its piece are right; within an epoch nothing is later than the strategy has it
Cost   linear, beside that of the strategy

    loop i n {                loop epoch.i (n + 14) // 15 {
      A p                       if epoch.i > 0 { barrier }
    }                   ->      loop i min(15, n - 15 * epoch.i) { A p }
                              }

A loop that fits into no epoch is cut into groups of iterations. Where one iteration does not fit
either, there is a barrier in every iteration, and its body is cut in the same way. So it is with a
while whose condition could be 0 in one iteration and hold again in a later one, which no group that
follows may see.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.expr import Binary, Expr, Iteration, leaves
from headway.ir.program import ControlRead, If, InputDecl, Instr, Loop, Node, Program, While
from headway.ir.walk import regions, walk
from headway.passes._rewrite import mapped
from headway.passes._rewrite import with_values as with_step_values
from headway.passes._signals import Signals
from headway.passes._values import (
    as_inputs,
    as_iterations,
    period,
    shifted,
    with_values,
)
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Flag,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
)
from headway.sync.rewrite import rewritten

Alone = Callable[[Program], SyncProgram]
"""Synchronizes a program that runs alone, with all counters and registers 0 at its start."""

Bodies = dict[str, list[SyncNode]]
"""What each engine runs."""

BARRIER = Barrier()


class Epochs:
    """Cuts one program; `signals` says what fits into an epoch."""

    def __init__(self, sync: SyncProgram, signals: Signals, alone: Alone) -> None:
        self._sync = sync
        self._program = sync.program
        self._signals = signals
        self._alone = alone
        self._engines = [engine.engine for engine in sync.engines]
        self._around: list[str] = []
        self._registers: dict[str, dict[str, Register]] = {e: {} for e in self._engines}
        self._flags: dict[str, Flag] = {}
        self._is_first = True
        inputs = {decl.name for decl in self._program.inputs}
        loops = (node for node in walk(self._program.body) if isinstance(node, Loop | While))
        self._taken = inputs | {node.iteration for node in loops}

    def cut(self) -> SyncProgram:
        """Return engine programs with a barrier between any two epochs."""
        bodies = self._body(self._program.body)
        engines = tuple(
            replace(
                engine,
                body=tuple(bodies[engine.engine]),
                registers=tuple(self._registers[engine.engine].values()),
            )
            for engine in self._sync.engines
        )
        return replace(self._sync, engines=engines, flags=tuple(self._flags.values()))

    def _body(self, nodes: tuple[Node, ...]) -> Bodies:
        out: Bodies = {engine: [] for engine in self._engines}
        for number, part in enumerate(self._parts(nodes)):
            if number:
                self._append(out, BARRIER)
            fits = self._signals.fit(part)
            for engine, more in (self._piece(part) if fits else self._opened(part[0])).items():
                out[engine] += more
        return out

    def _parts(self, nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
        """Yield runs of nodes that fit into one epoch, and alone each node that fits into none."""
        part: tuple[Node, ...] = ()
        for region in regions(nodes):
            if part and not self._signals.fit((*part, *region)):
                yield part
                part = ()
            part = (*part, *region)
        if part:
            yield part

    def _append(self, bodies: Bodies, node: SyncNode) -> None:
        for body in bodies.values():
            body.append(node)

    @contextmanager
    def _inside(self, iteration: str) -> Generator[None]:
        self._around.append(iteration)
        yield
        self._around.pop()

    # Pieces

    def _piece(self, nodes: tuple[Node, ...]) -> Bodies:
        return self._placed(self._synchronized(nodes))

    def _synchronized(self, nodes: tuple[Node, ...]) -> SyncProgram:
        """Synchronize a part alone; the loops around it are inputs then."""
        rule = as_inputs(frozenset(self._around))
        body = tuple(with_values(node, rule) for node in nodes)
        inputs = (*self._program.inputs, *map(InputDecl, self._around))
        return self._alone(replace(self._program, body=body, inputs=inputs))

    def _placed(self, alone: SyncProgram) -> Bodies:
        """Return the code of a part in its loops, which starts with all registers 0."""
        self._flags |= {flag.name: flag for flag in alone.flags}
        bodies: Bodies = {engine: [] for engine in self._engines}
        back = as_iterations(frozenset(self._around))
        for engine in alone.engines:
            body = rewritten(engine.body, lambda node: (with_step_values(node, back),))
            bodies[engine.engine] = [*self._cleared(engine), *body]
        self._is_first = False
        return bodies

    def _cleared(self, engine: EngineProgram) -> Iterator[SyncNode]:
        """Yield what sets the registers of a piece to 0, unless nothing has run before."""
        known = self._registers[engine.engine]
        for register in engine.registers:
            size = max(register.size, known[register.name].size if register.name in known else 0)
            known[register.name] = Register(register.name, size)
            if not self._is_first or self._around:
                for index in range(register.size):
                    yield Assign(RegisterRef(register.name, index), 0)

    # Nodes that fit into no epoch

    def _opened(self, node: Node) -> Bodies:
        match node:
            case Instr():
                raise UnsupportedByTarget(_holds_nothing(node))
            case If():
                return self._if(node)
            case Loop() | While() if self._signals.fit(node.body) and _can_be_grouped(node):
                return self._grouped(node)
            case Loop() | While():
                return self._each(node)

    def _if(self, node: If) -> Bodies:
        then, orelse = self._body(node.then), self._body(node.orelse)
        first = (BARRIER,) if node.control else ()  # the load is a signal too
        load = _load(node.control)
        return {
            engine: [
                SyncIf(
                    node.condition,
                    (*first, *then[engine]),
                    (*first, *orelse[engine]),
                    load,
                    node.at,
                )
            ]
            for engine in self._engines
        }

    def _each(self, node: Loop | While) -> Bodies:
        """Put a barrier into every iteration."""
        with self._inside(node.iteration):
            bodies = self._body(node.body)
        return {e: [self._loop(node, node.iteration, bodies[e])] for e in self._engines}

    def _grouped(self, node: Loop | While) -> Bodies:
        """Put a barrier between groups of iterations."""
        size = self._group_size(node)
        outer = self._fresh(f"epoch.{node.iteration}")
        by = Binary("*", size, Iteration(outer))
        rule = shifted(node.iteration, by, size)
        body = tuple(with_values(child, rule) for child in node.body)
        if isinstance(node, Loop):
            inner: Node = Loop(node.iteration, _rest(node.trip, size, by), body, None, node.at)
            around: Loop | While = replace(node, trip=_groups(node.trip, size))
        else:
            goes_on = Binary("<", Iteration(node.iteration), size)
            condition = Binary("and", goes_on, mapped(node.condition, rule))
            inner = While(node.iteration, condition, body, None, node.at)
            first = mapped(node.condition, _instead_of(node.iteration, by))
            around = replace(node, condition=first)
        with self._inside(outer):
            bodies = self._piece((inner,))
        return {e: [self._loop(around, outer, bodies[e])] for e in self._engines}

    def _group_size(self, node: Loop | While) -> int:
        size = self._signals.repetitions(node.body)
        return size - size % period(node.body, size)

    def _loop(self, node: Loop | While, iteration: str, body: list[SyncNode]) -> SyncNode:
        """Return the loop of one engine: with every iteration, everything before is complete."""
        load = _load(node.control)
        if isinstance(node, While):
            first = (BARRIER,) if load else ()
            return SyncWhile(iteration, node.condition, (*first, *body, BARRIER), load, node.at)
        again = SyncIf(Binary(">", Iteration(iteration), 0), (BARRIER,))
        return SyncLoop(iteration, node.trip, (BARRIER if load else again, *body), load, node.at)

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _can_be_grouped(node: Loop | While) -> bool:
    """Tell whether the test of a loop may be repeated between groups of its iterations.

    A load before each test may not. Nor may the test of a while that goes on with the next group
    although it has failed inside the last one.
    """
    if isinstance(node, Loop):
        return True
    return node.control is None and _stays_false(node.condition, Iteration(node.iteration))


def _stays_false(condition: Expr, i: Iteration) -> bool:
    """Tell whether a condition that is 0 in one iteration is 0 in all later ones (conservative)."""
    match condition:
        case Binary("and" | "or", left, right):
            return _stays_false(left, i) and _stays_false(right, i)
        case Binary("<" | "<=", left, right) if left == i:
            return i not in leaves(right)
        case Binary(">" | ">=", left, right) if right == i:
            return i not in leaves(left)
        case _:
            return i not in leaves(condition)


def _load(control: ControlRead | None) -> Load | None:
    return Load(control.name, (), control.at) if control else None


def _groups(trip: Expr, size: int) -> Expr:
    if isinstance(trip, int):
        return -(-trip // size)
    return Binary("//", Binary("+", trip, size - 1), size)


def _rest(trip: Expr, size: int, by: Expr) -> Expr:
    return Binary("min", size, Binary("-", trip, by))


def _instead_of(iteration: str, value: Expr) -> Callable[[Expr], Expr | None]:
    return lambda expr: value if expr == Iteration(iteration) else None


def _holds_nothing(instr: Instr) -> Diagnostic:
    return Diagnostic(
        f"the semaphores of the target cannot count {instr.name!r}",
        instr.at,
        rule="a semaphore holds at least one signal",
    )
