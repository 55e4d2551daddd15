"""Find facts that hold in every iteration of every loop, and with them a proof.

From the facts at the entry of a loop those are dropped that one turn does not keep, until all that
are left are kept. If that is not enough, loops that run a few times, always as often, are walked
turn by turn. The result is not to be trusted: `headway.prove.verify` checks it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from headway.ir.expr import Iteration, leaves
from headway.ir.program import If, Instr, Loop, Node, Program, While
from headway.ir.walk import accesses, deep_nests, walk
from headway.prove.cells import Cells, Row, cells
from headway.prove.facts import Facts, Terms, beginning
from headway.prove.follow import Undecided
from headway.prove.forms import ZERO, Form, linear
from headway.prove.verify import Gap, Notes, walked
from headway.prove.walk import Turn, Walk
from headway.sync.program import Barrier, Exec, SyncLoop, SyncProgram, SyncWhile, walk_sync

MAX_ROUNDS = 60
WIDEN_AFTER = 12
MOST_TURNS = 12
MOST_WALKED = 250


@dataclass(frozen=True, slots=True)
class Proof:
    """What keeps each dependence, and why each wait comes to an end; `gaps` are what is open.

    With no gaps no instance is early and no wait for ever, whatever the inputs.
    """

    dependences: tuple[dict[str, str], ...] = ()
    waits: tuple[dict[str, str], ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the program is proved, for all inputs."""
        return not self.gaps


def prove(sync: SyncProgram) -> Proof:
    """Try to prove a verified program for all inputs."""
    with deep_nests():
        proof = _attempt(sync, frozenset())
        if proof.gaps and (short := short_loops(sync.program)):
            again = _attempt(sync, short)
            proof = proof if again.gaps else again
    return proof


def _attempt(sync: SyncProgram, unrolled: frozenset[str]) -> Proof:
    turning = rows(sync)
    found = cells(sync, turning)
    search = Search(found)
    try:
        Walk(found, search, None, unrolled).run(beginning(found))
    except Undecided as hole:
        return Proof(gaps=(Gap(hole.reason, hole.at),))
    return _proof(walked(sync, turning, search.heads, unrolled))


def _proof(notes: Notes) -> Proof:
    dependences = tuple(note._asdict() for note in notes.dependences.values())
    waits = tuple(note._asdict() for note in notes.waits.values())
    return Proof(dependences, waits, tuple(dict.fromkeys(notes.gaps)))


def short_loops(program: Program) -> frozenset[str]:
    """Return the paths of loops with few turns, as long as not too much is walked in all."""
    found: set[str] = set()

    def visit(body: tuple[Node, ...], path: str, times: int) -> None:
        for i, node in enumerate(body):
            here, inside = f"{path}{i}", times
            if isinstance(node, Loop) and isinstance(node.trip, int):
                if 1 < node.trip <= MOST_TURNS and times * node.trip <= MOST_WALKED:
                    found.add(here)
                    inside = times * node.trip
            match node:
                case Loop() | While():
                    visit(node.body, f"{here}.", inside)
                case If():
                    visit(node.then, f"{here}t.", times)
                    visit(node.orelse, f"{here}e.", times)
                case Instr():
                    pass

    visit(program.body, "", 1)
    return frozenset(found)


class Search:
    """Finds the facts at loop heads, and keeps them by the path of the loop."""

    def __init__(self, cells: Cells) -> None:
        self.heads: dict[str, Facts] = {}
        self.rounds = 0
        self._cells = cells
        self._walkers: dict[str, set[str]] = defaultdict(set)
        self._resets: set[str] = set()
        for engine in cells.sync.engines:
            for node in walk_sync(engine.body):
                if isinstance(node, SyncLoop | SyncWhile):
                    self._walkers[node.iteration].add(engine.engine)
                    if any(isinstance(inner, Barrier) for inner in walk_sync(node.body)):
                        self._resets.add(node.iteration)

    def head(self, path: str, node: Loop | While, entry: Facts, turn: Turn) -> tuple[Facts, Facts]:
        """Return facts that hold in every iteration, and what a turn makes of them."""
        head = entry.copy()
        head.enter(node.iteration, self._frames(node, entry))
        if path not in self.heads:
            self._guess_growth(node, head)
        else:
            head = joined(head, self.heads[path], node.iteration)
        for n in range(MAX_ROUNDS):
            self.rounds += 1
            self.heads[path] = head
            end = turn(head)
            new = joined(end, head, node.iteration)
            if n > WIDEN_AFTER:
                widen(new, head)
            if new == head:
                return head, end
            head = new
        raise Undecided("no facts were found that every iteration keeps", node.at)

    def _guess_growth(self, node: Loop | While, head: Facts) -> None:
        """Let counts grow with the iteration, for 0 and in engines that pass the loop by."""
        if node.iteration in self._resets:
            return  # counts begin anew at each barrier
        signals = signals_of(node.body)
        walkers = self._walkers.get(node.iteration, set())
        for register, f in head.equal.items():
            growth = signals.get(register.counter, 0)
            if growth and register.engine not in walkers:
                atom = Iteration(node.iteration)
                head.equal[register] = f.plus(Form(((atom, growth),)))

    def _frames(self, node: Loop | While, entry: Facts) -> dict[str, Terms]:
        """Return the frame for each buffer that suits most accesses of the body."""
        inner = {n.iteration for n in walk(node.body) if isinstance(n, Loop | While)}
        votes: dict[str, Counter[Terms]] = {}
        for access in accesses(node.body):
            f = linear(access.slot, self._cells.slots[access.buffer])
            terms = tuple(
                (atom, n)
                for atom, n in f.terms
                if not any(isinstance(x, Iteration) and x.loop in inner for x in leaves(atom))
            )
            votes.setdefault(access.buffer, Counter())[terms] += 1
        return {
            buffer: votes[buffer].most_common(1)[0][0] if buffer in votes else terms
            for buffer, terms in entry.frames.items()
        }


def signals_of(body: tuple[Node, ...]) -> dict[str, int | None]:
    """Return how many signals of each counter a body gives; None if that varies."""
    found: dict[str, int | None] = defaultdict(int)
    for node in body:
        match node:
            case Instr():
                parts: list[tuple[dict[str, int | None], int | None]] = [({node.counter: 1}, 1)]
            case Loop():
                trip = node.trip if isinstance(node.trip, int) else None
                parts = [(signals_of(node.body), trip)]
            case While():
                parts = [(signals_of(node.body), None)]
            case If():
                then, orelse = signals_of(node.then), signals_of(node.orelse)
                same = {q: n if n == orelse.get(q, 0) else None for q, n in then.items()}
                parts = [({**dict.fromkeys(orelse), **same}, 1)]
        for signals, times in parts:
            for q, n in signals.items():
                before = found[q]
                total = None if n is None or times is None else n * times
                found[q] = None if total is None or before is None else before + total
    return found


def joined(facts: Facts, head: Facts, iteration: str) -> Facts:
    """Return what holds in both, where distances may grow with the iteration."""
    atom = Iteration(iteration)
    facts, head = facts.copy(), head.copy()
    for register, f in head.equal.items():
        other = facts.equal.get(register)
        if other is None or other == f:
            continue
        grown = other.plus(f, -1)
        if other == f.with_value(atom, ZERO):
            facts.equal[register] = f
        elif not grown.terms and not f.of(atom):
            head.equal[register] = facts.equal[register] = f.plus(Form(((atom, grown.number),)))
    return head.meet(facts)


def widen(facts: Facts, before: Facts) -> None:
    """Drop what has changed and may change for ever: bounds, and ages of marks."""
    facts.below = {r: n for r, n in facts.below.items() if before.below.get(r) == n}
    for q, ages in facts.ages.items():
        changed = 0
        for age in {age for age, _ in (*ages, *before.ages[q])}:
            changed |= facts.at_age(q, age) ^ before.at_age(q, age)
        if changed:
            facts.ages[q] = [(age, marks & ~changed) for age, marks in ages]


def rows(sync: SyncProgram) -> dict[Row, str]:
    """Return with which buffer each row of registers turns: a guess, by where it is waited for."""
    slots = {buffer.name: buffer.slots for buffer in sync.program.buffers}
    instrs = {n.name: n for n in walk(sync.program.body) if isinstance(n, Instr)}
    found: dict[Row, str] = {}
    for engine in sync.engines:
        sizes = {register.name: register.size for register in engine.registers}
        for name, size in sizes.items():
            named = [b for b in slots if f".{b}." in f"{name}." and slots[b] == size > 1]
            if named:
                found[engine.engine, name] = max(named, key=len)
        for node in walk_sync(engine.body):
            if not isinstance(node, Exec) or node.instr not in instrs:
                continue
            instr = instrs[node.instr]
            for wait in node.waits:
                register = wait.threshold.register
                if register is None or sizes[register.name] == 1:
                    continue
                for access in (*instr.reads, *instr.writes):
                    if access.slot == register.index:
                        if slots[access.buffer] == sizes[register.name]:
                            found.setdefault((engine.engine, register.name), access.buffer)
    return found
