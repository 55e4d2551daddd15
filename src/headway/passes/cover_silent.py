"""Give silent instructions a signal behind them, before anything that may have to wait for them.

In     a bound program, some of whose instructions are silent
Out    the same with no-ops that signal: a silent instruction has a signal of its counter behind it,
       in its body and before every access that may depend on it
Keeps  the program: a no-op accesses nothing
Cost   linear, times the accesses of the silent instructions that have no signal behind them yet

    A p writes(b) silent             A p writes(b) silent
    B c reads(b)              ->     A nop.1
    A q                              B c reads(b)
                                     A q

Completions of one counter come in order, so that the next signal shows all silent ones before it.
An instruction that signals anyway is used where it comes in time; one on the same serial counter
depends on nothing that needs a signal. This comes before a strategy: it counts the signals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.program import ControlRead, Instr, Node, Program, Takes
from headway.ir.walk import control_reads, deep_nests, instructions, regions, walk
from headway.passes._bodies import Body, with_bodies
from headway.passes._conflicts import Conflicts
from headway.passes.sync_pass import Concession
from headway.targets.target import Target

Unseen = defaultdict[str, list[Instr]]
"""By counter, the silent instructions that no signal shows yet."""


def covered(program: Program, target: Target) -> tuple[Program, tuple[Concession, ...]]:
    """Return the program with no-ops where they are needed, and where that is.

    Raise UnsupportedByTarget if something depends on an engine that can signal nothing at all.
    """
    if not any(instr.silent for instr in instructions(program.body)):
        return program, ()
    covering = _Covering(program, target)
    with deep_nests():
        body = covering.body(program.body, is_whole=True)
    return replace(program, body=body), tuple(covering.concessions())


def unmarked(program: Program) -> Program:
    """Return the program as if every instruction signalled, and none were fused."""
    with deep_nests():
        return replace(program, body=_unmarked(program.body))


def _unmarked(body: Body) -> Body:
    return tuple(
        replace(node, silent=False, fused=False)
        if isinstance(node, Instr)
        else with_bodies(node, _unmarked)
        for node in body
    )


class _Covering:
    def __init__(self, program: Program, target: Target) -> None:
        self._program = program
        self._target = target
        self._conflicts = Conflicts(program)
        named = (*instructions(program.body), *control_reads(program.body))
        self._taken = {node.name for node in named}
        self._numbers = count(1)
        self._nops: defaultdict[str, list[str]] = defaultdict(list)  # by counter
        self._mute = {e.name for e in target.engines if not e.signals}
        self._check_mute()

    def concessions(self) -> Iterator[Concession]:
        for counter, names in self._nops.items():
            many = f"{len(names)} no-ops" if len(names) > 1 else "a no-op"
            message = f"{many} to signal what silent instructions have done: {', '.join(names)}"
            yield Concession("signals", counter, message)

    def body(self, nodes: Body, is_whole: bool = False) -> Body:
        """Return a body with its no-ops. Nothing comes behind that of the `is_whole` program."""
        out: list[Node] = []
        unseen: Unseen = defaultdict(list)
        for nodes_together in regions(nodes):
            region = [node for node in nodes_together if isinstance(node, Instr)]
            if region:
                self._before(region, unseen, out)
                self._note(region, unseen)
                out += region
            else:  # a loop, while or if
                self._show(list(unseen), unseen, out)
                out += (with_bodies(node, self.body) for node in nodes_together)
        if not is_whole:
            self._show(list(unseen), unseen, out)
        return tuple(out)

    def _before(self, region: list[Instr], unseen: Unseen, out: list[Node]) -> None:
        """Show what a region, or a single instruction, may depend on."""
        needed = [
            counter
            for counter, silent in unseen.items()
            if not self._is_ordered(counter, region[0])
            and any(self._conflicts.between(a, b) for a in silent for b in region)
        ]
        self._show(needed, unseen, out)

    def _note(self, region: list[Instr], unseen: Unseen) -> None:
        """Note what no signal shows yet."""
        for instr in region:
            if instr.silent and instr.counter not in self._mute:
                unseen[instr.counter].append(instr)
            else:
                unseen.pop(instr.counter, None)

    def _show(self, counters: Iterable[str], unseen: Unseen, out: list[Node]) -> None:
        for counter in counters:
            out.append(self._nop(unseen.pop(counter)[-1]))

    def _nop(self, last: Instr) -> Instr:
        """Return a no-op behind a silent instruction.

        It takes what a wait that holds takes; on a queue it is a transfer of no bytes.
        """
        names = (f"nop.{number}" for number in self._numbers)
        name = next(name for name in names if name not in self._taken)
        self._nops[last.counter].append(name)
        return Instr(name, last.engine, last.queue, cost=self._takes(last), at=last.at)

    def _takes(self, last: Instr) -> Takes:
        wait = float(self._target.sequencer.wait)
        if not last.queue or not self._target.engines:
            return Takes(wait, wait)
        dma = self._target.dma
        latency = float(dma.setup + dma.notify)
        return Takes(latency, latency if last.queue in self._program.serial else dma.interval)

    def _check_mute(self) -> None:
        """Refuse what may depend on an engine that can signal nothing."""
        mine: defaultdict[str, list[Instr]] = defaultdict(list)
        for node in self._program.body:
            inside = [instr for instr in instructions((node,)) if instr.counter in self._mute]
            if not isinstance(node, Instr):  # a loop may bring it back
                _add(mine, inside)
            for other in walk((node,)):
                after = other if isinstance(other, Instr) else other.control
                for engine, before in mine.items():
                    if after and not self._is_ordered(engine, after):
                        self._check(before, after)
            if isinstance(node, Instr):
                _add(mine, inside)

    def _check(self, before: Iterable[Instr], after: Instr | ControlRead) -> None:
        found = next((instr for instr in before if self._conflicts.ever(instr, after)), None)
        if found:
            raise UnsupportedByTarget(_cannot_signal(found, after, self._target))

    def _is_ordered(self, counter: str, after: Instr | ControlRead) -> bool:
        """Tell whether an instruction follows those of a counter anyway: its own, if serial."""
        is_own = isinstance(after, Instr) and after.counter == counter
        return is_own and counter in self._program.serial


def _add(rows: defaultdict[str, list[Instr]], instrs: Iterable[Instr]) -> None:
    for instr in instrs:
        rows[instr.counter].append(instr)


def _cannot_signal(before: Instr, after: Instr | ControlRead, target: Target) -> Diagnostic:
    return Diagnostic(
        f"{after.name!r} may depend on {before.name!r}, whose completion nothing can show",
        after.at,
        rule=f"engine {before.engine!r} of target {target.name!r} cannot signal",
        help="let another engine do it, or keep what depends on it on the same engine",
    )
