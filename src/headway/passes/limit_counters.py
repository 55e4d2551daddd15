"""Let a barrier stand for each wait for a counter that has no semaphore.

In     engine programs of a strategy that waits in straight-line code, such as `barrier`
Out    the same program in pieces, each of which waits only for as many counters as there are
       semaphores, with barriers between
Keeps  no instance early, no deadlock; late at the barriers
Cost   linear, beside that of the strategy

    c waits A >= 1, B >= 2      ->      barrier
                                        c

The counters that are named by most waits keep their semaphores. With none at all there is a barrier
between any two instructions that depend on each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from headway.analysis.segment import Segment
from headway.ir.atoms import Atoms
from headway.ir.program import Instr, Loop, Node, Program, While
from headway.ir.walk import deep_nests, regions
from headway.passes._epochs import Bodies, Epochs
from headway.passes._unrolled import Straight
from headway.passes._values import as_inputs, with_values
from headway.passes.insert_epochs import all_counters, most_signals
from headway.passes.report import semaphores
from headway.passes.sync_pass import Concession
from headway.sync.program import Exec, SyncProgram, Waits, walk_sync
from headway.targets.target import Target

Strategy = Callable[[Program, Target], SyncProgram]


def limited_counters(
    sync: SyncProgram, target: Target, strategy: Strategy
) -> tuple[SyncProgram, Concession]:
    """Return engine programs that wait for as many counters as `target` has semaphores."""
    kept = _kept(sync, int(target.semaphores.count))
    signals = Straight(sync.program, all_counters(sync.program), most_signals(target))
    with deep_nests():
        found = _Limited(sync, signals, lambda program: strategy(program, target), kept).cut()
    gone = ", ".join(q for q in semaphores(sync) if q not in kept)
    message = f"barriers instead of waits for {gone}: too few semaphores"
    return found, Concession("semaphores", "", message)


def _kept(sync: SyncProgram, most: int) -> frozenset[str]:
    """Return the counters that are named by most waits."""
    named = Counter(
        wait.counter
        for engine in sync.engines
        for node in walk_sync(engine.body)
        if isinstance(node, Exec | Waits)
        for wait in node.waits
    )
    order = sorted(named, key=lambda q: (-named[q], q))
    return frozenset(order[:most])


class _Limited(Epochs):
    """Cuts where a wait would name another counter."""

    def __init__(
        self,
        sync: SyncProgram,
        signals: Straight,
        alone: Callable[[Program], SyncProgram],
        kept: frozenset[str],
    ) -> None:
        super().__init__(sync, signals, alone)
        self._kept = kept
        self._atoms = Atoms(sync.program)

    def _parts(self, nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
        part: tuple[Node, ...] = ()
        segment = self._fresh_segment()
        for region in regions(nodes):
            instrs = [node for node in region if isinstance(node, Instr)]
            goes_on = bool(instrs) and self._goes_on(segment, part, instrs)
            if part and not goes_on:
                yield part
                part, segment = (), self._fresh_segment()
                self._goes_on(segment, part, instrs)
            part = (*part, *region)
        if part:
            yield part

    def _fresh_segment(self) -> Segment:
        return Segment(self._sync.program, self._atoms)

    def _goes_on(self, segment: Segment, part: tuple[Node, ...], instrs: list[Instr]) -> bool:
        """Tell whether instructions may follow without a barrier; add them to the segment."""
        rule = as_inputs(frozenset(self._around))  # as the part is synchronized
        alone = [node for x in instrs if isinstance(node := with_values(x, rule), Instr)]
        waits = [q for instr in alone for q in segment.add(instr)]
        return self._kept.issuperset(waits) and self._signals.fit((*part, *instrs))

    def _grouped(self, node: Loop | While) -> Bodies:
        return self._each(node)
