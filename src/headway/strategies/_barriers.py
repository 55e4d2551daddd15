"""What the strategies `barrier` and `barrier-always` share: segments between barriers.

A segment is the code since the last barrier; its thresholds are static and count from there. The
two strategies differ in where barriers stand only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from headway.analysis.segment import Segment
from headway.ir.atoms import Atoms
from headway.ir.program import ControlRead, If, Instr, Loop, Node, Program, While
from headway.ir.walk import deep_nests, engines_inside, instructions
from headway.strategies._copies import with_copies
from headway.sync.program import (
    Barrier,
    EngineProgram,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Threshold,
    Wait,
)

Body = list[SyncNode]


def synchronize(program: Program, target: str, strategy: str, always: bool) -> SyncProgram:
    """Return engine programs with barriers: where needed, or `always` around and inside loops.

    Where needed only, short loops are written out, which need none then.
    """
    with deep_nests():
        if always:
            engines = tuple(_engines(program, always))
        else:
            engines = with_copies(program, lambda written: _engines(written, always))
    return SyncProgram(program, engines, strategy, target)


def _engines(program: Program, always: bool) -> Iterator[EngineProgram]:
    skeleton, _ = _Placement(program, always).body(program.body, None)
    owner = {instr.name: instr.engine for instr in instructions(program.body)}
    for engine in program.hosts:
        yield EngineProgram(engine, _of_engine(skeleton, engine, owner))


class _Placement:
    """Writes one skeleton with the instructions of all engines; `_of_engine` takes it apart."""

    def __init__(self, program: Program, always: bool) -> None:
        self._program = program
        self._atoms = Atoms(program)
        self._always = always

    def _fresh(self) -> Segment:
        return Segment(self._program, self._atoms)

    def body(self, nodes: tuple[Node, ...], segment: Segment | None) -> tuple[Body, Segment]:
        """Place barriers and waits in a body; return it with the segment at its end."""
        segment = segment or self._fresh()
        out: Body = []
        for node in nodes:
            if isinstance(node, Instr):
                waits = tuple(Wait(q, Threshold(None, n)) for q, n in segment.add(node).items())
                out.append(Exec(node.name, waits, node.at))
            elif not engines_inside((node,)):
                continue  # nothing happens inside
            elif isinstance(node, If):
                segment = self._branch(node, segment, out)
            else:
                if self._always or not segment.is_empty:
                    out.append(Barrier(node.at))
                out += self._turns(node)
                segment = self._fresh()
        return out, segment

    def _turns(self, node: Loop | While) -> Iterator[SyncNode]:
        """A barrier at the end of every iteration covers the back edge and the exit."""
        inner, end = self.body(node.body, None)
        if self._always or not end.is_empty:
            inner.append(Barrier(node.at))
        load = _load(node.control)
        if isinstance(node, Loop):
            if load:
                # All engines have loaded the trip count before anyone can overwrite it.
                yield load
                yield Barrier(node.at)
            yield SyncLoop(node.iteration, node.trip, tuple(inner), None, node.at)
        else:
            guarded = [Barrier(node.at), *inner] if load else inner
            yield SyncWhile(node.iteration, node.condition, tuple(guarded), load, node.at)
            if load:
                yield Barrier(node.at)
        if self._always:
            yield Barrier(node.at)

    def _branch(self, node: If, segment: Segment, out: Body) -> Segment:
        load = _load(node.control)
        if load:
            if not segment.is_empty:
                out.append(Barrier(node.at))
            segment = self._fresh()
            out += [load, Barrier(node.at)]
        then, then_end = self.body(node.then, segment.copy())
        orelse, orelse_end = self.body(node.orelse, segment.copy())
        out.append(SyncIf(node.condition, tuple(then), tuple(orelse), None, node.at))
        if self._always or not (then_end.is_empty and orelse_end.is_empty):
            out.append(Barrier(node.at))
        return self._fresh()


def _load(control: ControlRead | None) -> Load | None:
    return Load(control.name, (), control.at) if control else None


def _of_engine(
    body: Iterable[SyncNode], engine: str, owner: Mapping[str, str]
) -> tuple[SyncNode, ...]:
    """Keep the control, the barriers, and the instructions of one engine."""
    kept: Body = []
    for node in body:
        match node:
            case Exec():
                if owner[node.instr] == engine:
                    kept.append(node)
            case SyncLoop() | SyncWhile():
                kept.append(replace(node, body=_of_engine(node.body, engine, owner)))
            case SyncIf():
                then = _of_engine(node.then, engine, owner)
                orelse = _of_engine(node.orelse, engine, owner)
                kept.append(replace(node, then=then, orelse=orelse))
            case _:
                kept.append(node)
    return tuple(kept)
