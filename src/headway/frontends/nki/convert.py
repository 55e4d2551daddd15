"""Make the sequential program of a rolled trace, with what its instructions compute.

Each recorded operation is one instruction, whose location is the kernel's line. Loops stay loops;
a loop in `bounds` runs as often as a run-time input says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headway.errors import Diagnostic, InvalidInput, Location
from headway.frontends.nki.affine import Number, const_of, terms_of
from headway.frontends.nki.engines import DEFAULT, ENGINES, QUEUES, Assignment, Policy
from headway.frontends.nki.meanings import Placed, values_of
from headway.frontends.nki.memory import Buffers, Memory
from headway.frontends.nki.names import Namer, plain
from headway.frontends.nki.places import diagnostic
from headway.frontends.nki.record import DeviceLoop, Op, Operand, Storage, TraceNode
from headway.frontends.nki.reroll import Rolled, RolledNode, RolledOp
from headway.frontends.nki.slots import Located, located
from headway.ir.expr import Binary, Expr, Input, Iteration
from headway.ir.program import (
    Access,
    ControlRead,
    Engine,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    While,
)
from headway.values.program import Traced


def convert(
    name: str,
    recorded: list[TraceNode],
    rolled: tuple[RolledNode, ...],
    bounds: Mapping[str, str],
    buffers: Buffers,
    at: Location,
    arguments: Mapping[str, Storage],
    results: Sequence[Storage],
    policy: Policy = DEFAULT,
) -> Traced:
    """Return the program. `bounds` maps loops, as `k` or `k@LINE`, to input names."""
    namer = Namer()
    for engine in (*ENGINES, *QUEUES):
        namer.unique(engine)
    inputs = _bounded(recorded, rolled, bounds)
    for input in dict.fromkeys(inputs.values()):
        namer.unique(input)
    memory = Memory(recorded, rolled, set(inputs), buffers, namer, results)
    builder = _Builder(memory, inputs, namer, Assignment(policy))
    body = tuple(builder.nodes(rolled))
    program = Program(
        name=plain(name),
        body=body,
        inputs=tuple(InputDecl(input, at=at) for input in builder.used_inputs),
        engines=tuple(Engine(e) for e in ENGINES if e in builder.used_engines),
        queues=tuple(builder.used_queues),
        buffers=tuple(memory.buffers()),
        at=at,
    )
    return Traced(program, values_of(builder.placed, memory.homes(), arguments, results))


# ---- loops with run-time bounds


def loops(nodes: tuple[RolledNode, ...]) -> Iterator[Rolled]:
    """Yield every loop of a rolled trace."""
    for node in nodes:
        if isinstance(node, Rolled):
            yield node
            yield from loops(node.body)


def _bounded(
    recorded: list[TraceNode], rolled: tuple[RolledNode, ...], bounds: Mapping[str, str]
) -> dict[int, str]:
    """Return the input of each loop site in `bounds`. Raise InvalidInput if one cannot have it."""
    found: dict[int, str] = {}
    known = list(loops(rolled))
    for wish, input in bounds.items():
        matching = [loop for loop in known if wish in (loop.name, f"{loop.name}@{loop.at.line}")]
        if not matching:
            names = ", ".join(dict.fromkeys(f"{x.name}@{x.at.line}" for x in known)) or "none"
            raise InvalidInput(
                Diagnostic(f"there is no loop {wish!r} after re-rolling", help=f"loops: {names}")
            )
        for loop in matching:
            _check_boundable(loop)
            if loop.site not in found and _is_partly_unrolled(loop.site, recorded, rolled):
                raise _unboundable(loop, "some of its executions stayed unrolled")
            found[loop.site] = input
    return found


def _is_partly_unrolled(
    site: int, recorded: list[TraceNode], rolled: tuple[RolledNode, ...]
) -> bool:
    """Tell whether operations of that loop are left outside it, where no input bounds them."""
    inside = {id(op) for op in _operations_of(site, recorded)}
    return any(id(op) in inside for op in _outside(site, rolled))


def _operations_of(site: int, nodes: list[TraceNode], is_inside: bool = False) -> Iterator[Op]:
    for node in nodes:
        if isinstance(node, Op):
            if is_inside:
                yield node
            continue
        bodies = [node.body] if isinstance(node, DeviceLoop) else node.iterations
        for body in bodies:
            yield from _operations_of(site, body, is_inside or node.site == site)


def _outside(site: int, nodes: tuple[RolledNode, ...]) -> Iterator[Op]:
    for node in nodes:
        if isinstance(node, RolledOp):
            yield node.origin
        elif node.site != site:
            yield from _outside(site, node.body)


def _check_boundable(loop: Rolled) -> None:
    if not loop.is_whole:
        raise _unboundable(loop, "some of its iterations differ from the others and were peeled")
    if loop.device is None and isinstance(loop.trip, int) and loop.trip < 3:
        raise _unboundable(loop, "fewer than 3 iterations were traced, too few to see a pattern")


def _unboundable(loop: Rolled, reason: str) -> InvalidInput:
    return InvalidInput(
        diagnostic(
            f"loop {loop.name!r} cannot have a run-time bound: {reason}",
            loop.at,
            help="trace with larger arguments, or bound another loop",
        )
    )


# ---- nodes


@dataclass(frozen=True, slots=True)
class _Scope:
    """The loops around a node: names by level, and sites."""

    names: dict[int, str]
    sites: tuple[int, ...]

    def inside(self, loop: Rolled, name: str) -> _Scope:
        return _Scope({**self.names, loop.level: name}, (*self.sites, loop.site))

    def expr(self, value: Number) -> Expr:
        """Return a number as an expression of the program."""
        result: Expr | None = None
        for level, factor in terms_of(value):
            name = Iteration(self.names[level])
            term: Expr = name if factor == 1 else Binary("*", name, factor)
            result = term if result is None else Binary("+", result, term)
        const = const_of(value)
        if result is None:
            return const
        if not const:
            return result
        return Binary("+", result, const) if const > 0 else Binary("-", result, -const)


class _Builder:
    def __init__(
        self, memory: Memory, inputs: Mapping[int, str], namer: Namer, assignment: Assignment
    ) -> None:
        self._memory = memory
        self._assignment = assignment
        self._inputs = inputs
        self._namer = namer
        self._loop_inputs: dict[int, str] = {}
        self.used_inputs: dict[str, None] = {}
        self.used_engines: dict[str, None] = {}
        self.used_queues: dict[Queue, None] = {}
        self.placed: list[Placed] = []

    def nodes(self, rolled: tuple[RolledNode, ...]) -> Iterator[Node]:
        """Yield the nodes of a program."""
        return self._nodes(rolled, _Scope({}, ()))

    def _nodes(self, rolled: tuple[RolledNode, ...], scope: _Scope) -> Iterator[Node]:
        for node in rolled:
            is_op = isinstance(node, RolledOp)
            yield self._instr(node, scope) if is_op else self._loop(node, scope)

    def _instr(self, node: RolledOp, scope: _Scope) -> Instr:
        op = node.origin
        places = located(node)
        for access in places:
            self._check_scope(access.operand, scope, op.kind.at)
        engine, queue = self._assignment.of(op)
        if queue is not None:
            self.used_queues[queue] = None
        self.used_engines[engine] = None
        reads = op.kind.reads
        name = self._namer.unique(_title(node))
        self.placed.append(Placed(name, node, tuple(scope.names), engine))
        return Instr(
            name,
            engine,
            queue.name if queue else None,
            self._accesses(places[:reads], scope),
            self._accesses(places[reads:], scope),
            op.kind.work,
            at=op.kind.at,
        )

    def _accesses(self, places: list[Located], scope: _Scope) -> tuple[Access, ...]:
        found = (a for place in places for a in self._memory.accesses(place, scope.expr))
        return tuple(dict.fromkeys(found))

    def _check_scope(self, operand: Operand, scope: _Scope, at: Location) -> None:
        """What a loop with a run-time bound allocates has no known slot outside it."""
        for site in operand.storage.loops:
            if site in self._inputs and site not in scope.sites:
                raise InvalidInput(
                    diagnostic(
                        f"{operand.storage.name!r} is allocated in a loop with the run-time bound "
                        f"{self._inputs[site]!r} and used outside it",
                        at,
                        rule="how often the loop runs decides which tile this is",
                    )
                )

    def _loop(self, loop: Rolled, scope: _Scope) -> Node:
        name = self._iteration(loop, scope)
        inner = scope.inside(loop, name)
        control = self._control(loop, scope)
        body = tuple(self._nodes(loop.body, inner))
        if loop.device is not None and loop.device.is_while:
            condition = Binary("<", Iteration(name), self._input(loop))
            return While(name, condition, body, control, loop.at)
        return Loop(name, self._trip(loop, scope), body, control, loop.at)

    def _trip(self, loop: Rolled, scope: _Scope) -> Expr:
        if loop.site in self._inputs or loop.trip is None:
            return self._input(loop)
        return scope.expr(loop.trip)

    def _input(self, loop: Rolled) -> Input:
        name = self._inputs.get(loop.site) or self._loop_inputs.get(loop.site)
        if name is None:
            name = self._loop_inputs[loop.site] = self._namer.unique(f"{loop.name}_trips")
        self.used_inputs[name] = None
        return Input(name)

    def _control(self, loop: Rolled, scope: _Scope) -> ControlRead | None:
        """A bound that was loaded from memory is read where the loop begins."""
        accesses = self._accesses(located(loop), scope)
        if not accesses:
            return None
        return ControlRead(self._namer.unique(f"{loop.name}_bound"), accesses, loop.at)

    def _iteration(self, loop: Rolled, scope: _Scope) -> str:
        base = plain(loop.name)
        around = set(scope.names.values())
        name, number = base, 2
        while name in around or self._namer.is_taken(name):
            name, number = f"{base}_{number}", number + 1
        return name


def _title(node: RolledOp) -> str:
    """Name an instruction after what it does and the tile that matters."""
    kind = node.kind
    writes, reads = node.origin.writes, node.origin.reads
    moves = kind.work.moves
    tile = (reads[0] if moves == "store" else writes[0]).storage.name if writes else ""
    return f"{moves or kind.operation}_{tile}"
