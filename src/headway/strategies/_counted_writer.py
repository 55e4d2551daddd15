"""Writes the program of one engine for the strategy `counted`.

In     the prepared program, and what the engine has to wait for, to count and to capture
Out    its engine program
Keeps  at every point `shadow.q + offset` is the number of signals of q before it in program order,
       as long as a later wait or capture reads it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.analysis.plan import Plan
from headway.analysis.runs import Run, Runs
from headway.analysis.sites import Sites
from headway.analysis.skip import Last, last_captures, substituted
from headway.analysis.steps import AnyStep, IfStep, LoopStep, Step, Steps
from headway.analysis.tally import Signals, Tallies
from headway.errors import Location
from headway.ir.expr import Binary, Expr
from headway.ir.program import If, Instr, Loop, Node, Program, While
from headway.strategies._counted_constants import with_constants
from headway.strategies._counted_hoist import hoisted
from headway.strategies._counted_late import Late, late
from headway.strategies._counted_parts import Parts, plus, times
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Wait,
)

Body = list[SyncNode]
Offsets = dict[int, int]


@dataclass(frozen=True, slots=True)
class Context:
    """What the writers of all engines share."""

    program: Program
    steps: Steps
    sites: Sites
    parts: Parts
    tallies: Tallies
    runs: Runs
    horizons: Sequence[int]
    skips: bool
    has_offsets: bool
    hoists: bool


class Writer:
    """Writes one engine program. `missing` are control values that it turned out to need."""

    def __init__(self, context: Context, plan: Plan) -> None:
        self.missing: set[tuple[str, str]] = set()
        self._context = context
        self._plan = plan
        self._engine = plan.engine
        self._steps = context.steps
        self._offsets: Offsets = dict.fromkeys(plan.counters, 0)
        self._assigned: set[str] = set()
        self._parts = context.parts
        self._at = 0
        self._loops = 0  # how many are around

    def program(self) -> EngineProgram:
        """Return the program. It is of no use if `missing` is not empty then."""
        body = tuple(self._body(self._context.program.body, self._steps.body))
        names = [self._parts.shadow(q).name for q in self._plan.counters]
        if zero := set(names) - self._assigned:
            body = with_constants(body, zero)
        sites = self._context.sites
        shadows = [Register(name) for name in names if name in self._assigned]
        captures = [
            Register(self._parts.name(key), self._steps.places[sites.key(key).place].slots)
            for key in self._plan.keys
        ]
        engine = self._steps.engines[self._plan.engine]
        return EngineProgram(engine, body, (*shadows, *captures))

    def _body(self, nodes: tuple[Node, ...], steps: tuple[AnyStep, ...]) -> Body:
        out: Body = []
        waiting: Late | None = None  # a load that nothing has needed yet
        for part in self._context.runs.of(nodes, steps):
            if not isinstance(part, Run):
                waiting = self._late(*part, waiting, out)
            elif waiting is None and self._context.has_offsets:
                self._run(part, out)
            else:
                for step, node, _ in part.items:
                    waiting = self._late(node, step, waiting, out)
        return [*out, *(waiting.nodes if waiting else ())]

    def _run(self, run: Run, out: Body) -> None:
        """Write straight-line code: instructions of the engine, and captures at those of others."""
        engine, offsets, sites = self._engine, self._offsets, self._plan.sites
        captures, has_sites = self._parts.captures, self._plan.has_sites(run.first, len(run.items))
        for step, node, count in run.items if has_sites else run.own.get(engine, ()):
            at, q = step.at, step.counter
            if step.engine == engine:
                out.append(Exec(step.name, self._waits_in(run, at), node.at))
            if at in sites:
                out += captures(at, q, sites[at], offsets[q] + count)
        for q, signals in run.signals.items():
            if q in self._offsets:
                self._offsets[q] += len(signals)
        self._at = run.first + len(run.items)

    def _waits_in(self, run: Run, at: int) -> tuple[Wait, ...]:
        """Return the waits of an instruction of a run; the offsets are still those in front."""
        wait, offsets = self._parts.wait, self._offsets
        found: list[Wait] = []
        for need in self._plan.needs[at]:
            q, _, gap, _ = need
            found.append(wait(need, 0 if gap is None else offsets[q] + run.before(at, q)))
        return tuple(found) if len(found) < 2 else _distinct(found)

    def _late(self, node: Node, step: AnyStep, waiting: Late | None, out: Body) -> Late | None:
        """Write a node; return the load that nothing has needed by then."""
        if waiting and waiting.is_overwritten_by(step, self._steps):
            out += waiting.nodes
            waiting = None
        new, later = late(self._node(node, step), step, self._plan.engine)
        if waiting and (later or waiting.must_precede(new)):
            out += waiting.nodes
            waiting = None
        out += new
        if later and later.is_overwritten_by(step, self._steps):  # inside its own loop
            out += later.nodes
            return waiting
        return later or waiting

    def _node(self, node: Node, step: AnyStep) -> Body:
        match node, step:
            case Instr(), Step():
                return self._instr(step, node.at)
            case Loop(), LoopStep():
                return self._loop(node, step)
            case While(), LoopStep():
                return self._while(node, step)
            case If(), IfStep():
                return self._if(node, step)
            case _:
                raise AssertionError("steps have the shape of their program")

    def _instr(self, step: Step, at: Location | None) -> Body:
        own = step.engine == self._engine
        out: Body = [Exec(step.name, self._waits(), at)] if own else []
        out += self._signal(step)
        return out

    # Counting

    def _signal(self, step: Step) -> Iterator[SyncNode]:
        """Count the signal of a step and capture it where that is read later."""
        yield from self._count(step.counter, step.signals, self._context.horizons[self._at])
        if sites := self._plan.sites.get(self._at):
            q = step.counter
            yield from self._parts.captures(self._at, q, sites, self._offsets[q])
        self._at += 1

    def _count(self, q: int, signals: int, horizon: int) -> Iterator[SyncNode]:
        """Count at compile time; without that option, in the register."""
        if not signals or q not in self._offsets:
            return
        if self._context.has_offsets:
            self._offsets[q] += signals
        elif self._plan.is_used(q, min(horizon, self._at)):
            yield self._add(q, signals)

    def _add(self, q: int, signals: Expr) -> Assign:
        shadow = self._parts.shadow(q)
        self._assigned.add(shadow.name)
        return Assign(shadow, Binary("+", shadow, signals))

    def _settle(self, before: Offsets, horizon: int) -> Iterator[SyncNode]:
        """Bring the registers up to date, so that the offsets are `before` again."""
        for q, offset in before.items():
            ahead = self._offsets[q] - offset
            if ahead and self._plan.is_used(q, horizon):
                yield self._add(q, ahead)
            self._offsets[q] = offset

    def _waits(self) -> tuple[Wait, ...]:
        """Return the waits of the step that comes next."""
        needs, offsets, wait = self._plan.needs[self._at], self._offsets, self._parts.wait
        found = [wait(need, offsets.get(need[0], 0)) for need in needs]
        return _distinct(found)

    # Control

    def _loop(self, node: Loop, step: LoopStep) -> Body:
        out, load = self._loads(step.loads)
        horizon = self._next_horizon(step)
        if self._has_fixed_effect(step, horizon):
            out += alone(load)
            out += self._skip_fixed(step, horizon)
            return out
        self._require(node)
        last = self._last_captures(node, step, horizon)
        if last is not None:
            out += alone(load)
            out += self._skip(node, step, last, horizon)
            return out
        before = dict(self._offsets)
        self._loops += 1
        body = self._body(node.body, step.body)
        self._loops -= 1
        body += self._settle(before, horizon)
        if body or load:
            loop = SyncLoop(node.iteration, node.trip, tuple(body), load, node.at)
            out += hoisted(loop) if self._context.hoists else (loop,)
        return out

    def _while(self, node: While, step: LoopStep) -> Body:
        horizon = self._next_horizon(step)
        if self._has_fixed_effect(step, horizon):
            return list(self._skip_fixed(step, horizon))
        self._require(node)
        before, start = dict(self._offsets), self._at
        counted, load = self._loads(step.loads)
        self._loops += 1
        body = [*counted, *self._body(node.body, step.body), *self._settle(before, horizon)]
        self._loops -= 1
        if not body and not load:
            return []
        end, self._at = self._at, start
        counted, _ = self._loads(step.loads)  # the test that fails has loaded the condition too
        self._at = end
        return [SyncWhile(node.iteration, node.condition, tuple(body), load, node.at), *counted]

    def _if(self, node: If, step: IfStep) -> Body:
        out, load = self._loads(step.loads)
        horizon = self._next_horizon(step)
        if self._has_fixed_effect(step, horizon):
            out += alone(load)
            out += self._skip_fixed(step, horizon)
            return out
        self._require(node)
        before = dict(self._offsets)
        then, after_then = self._body(node.then, step.then), dict(self._offsets)
        self._offsets = dict(before)
        orelse, after_orelse = self._body(node.orelse, step.orelse), dict(self._offsets)
        horizon = self._horizon_here()
        common = {q: min(after_then[q], after_orelse[q]) for q in before}
        orelse += self._settle(common, horizon)
        self._offsets = after_then
        then += self._settle(common, horizon)
        if then or orelse or load:
            out.append(SyncIf(node.condition, tuple(then), tuple(orelse), load, node.at))
        return out

    def _loads(self, loads: Sequence[Step]) -> tuple[Body, Load | None]:
        """Count the loads of all engines; return this engine's own."""
        own: Load | None = None
        out: Body = []
        for step in loads:
            if step.engine == self._plan.engine:
                own = Load(step.name, self._waits())
            out += self._signal(step)
        return out, own

    def _require(self, node: Loop | While | If) -> None:
        """Note that the engine has to know the decision, if that is not settled yet."""
        if node.control and not self._is_loaded(node.control.name):
            self.missing.add((node.control.name, self._steps.engines[self._plan.engine]))

    def _is_loaded(self, control: str) -> bool:
        return self._steps.engines[self._plan.engine] in self._steps.readers[control]

    def _next_horizon(self, step: LoopStep | IfStep) -> int:
        """Return the first step that may come after the first one inside."""
        inside = self._context.tallies.of(step).size
        return self._context.horizons[self._at] if inside else self._at

    def _horizon_here(self) -> int:
        return min(self._context.horizons[self._at - 1], self._at) if self._at else 0

    def _has_fixed_effect(self, step: LoopStep | IfStep, horizon: int) -> bool:
        """Tell whether the engine may pass by: nothing to do, to capture, or to find out inside."""
        tally = self._context.tallies.of(step)
        if self._plan.engine in tally.engines or self._plan.has_sites(self._at, tally.size):
            return False
        counts = (tally.total[q] for q in tally.total if self._plan.is_used(q, horizon))
        return all(count is not None for count in counts)

    def _skip_fixed(self, step: LoopStep | IfStep, horizon: int) -> Iterator[SyncNode]:
        tally = self._context.tallies.of(step)
        self._at += tally.size
        for q, count in tally.total.items():
            yield from self._count(q, count or 0, horizon)

    # Loops that are not walked

    def _last_captures(self, node: Loop, step: LoopStep, horizon: int) -> list[Last] | None:
        tally = self._context.tallies.of(step)
        if not self._context.skips or self._plan.engine in tally.engines:
            return None
        if any(n is None for q, n in tally.turn.items() if self._plan.is_used(q, horizon)):
            return None
        slots = [place.slots for place in self._steps.places]
        tallies = self._context.tallies
        sites = self._context.sites
        return last_captures(step, node.iteration, self._at, self._plan, sites, tallies, slots)

    def _skip(
        self, node: Loop, step: LoopStep, last: list[Last], horizon: int
    ) -> Iterator[SyncNode]:
        """Add what the loop adds, and capture its last iterations in their order (C11)."""
        tally = self._context.tallies.of(step)
        yield from self._last_iterations(node, tally.turn, last, 0)
        self._at += tally.size
        if not self._loops:
            horizon = self._at  # it is not walked, so nothing inside comes after it
        for q, signals in tally.turn.items():
            if signals and self._plan.is_used(q, horizon):
                if isinstance(node.trip, int):
                    yield from self._count(q, signals * node.trip, horizon)
                else:
                    yield self._add(q, times(signals, node.trip))

    def _last_iterations(self, node: Loop, turn: Signals, last: list[Last], back: int) -> Body:
        """Capture the last iteration but `back`, if there was one (C12), after those before it."""
        due = [capture for capture in last if capture.period > back]
        if not due or (isinstance(node.trip, int) and node.trip <= back):
            return []
        out = self._last_iterations(node, turn, last, back + 1)
        number = plus(node.trip, -1 - back)
        for site, position, _ in due:
            q = self._context.sites.key(self._context.sites.keys[site]).counter
            count = self._parts.count(q, self._offsets[q] + position)
            value = plus(count, times(turn[q] or 0, number))
            register = self._parts.register(site)
            slot = substituted(register.index, node.iteration, number)
            out.append(Assign(RegisterRef(register.name, slot), value))
        if isinstance(node.trip, int):
            return out
        return [SyncIf(Binary(">", node.trip, back), tuple(out))]


def _distinct(waits: Sequence[Wait]) -> tuple[Wait, ...]:
    """Return each wait once: equal ones are one object."""
    return tuple({id(wait): wait for wait in waits}.values())


def alone(load: Load | None) -> Body:
    """Return a load that stands alone, if there is one."""
    return [load] if load else []
