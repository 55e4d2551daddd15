"""Random programs against strategies, judged by thresholds and again by the clock.

In     seeds, strategies and a simulator, all as plain functions: nothing here knows them
Out    for every seed what failed; for a failure a small program that fails in the same way
Rules  no strategy is early, deadlocks or loses an instance; one that places neither barriers nor
       flags is exact, and issues every instruction exactly when the ideal machine does
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from signal import SIG_IGN, SIGINT, signal
from typing import Literal, NamedTuple, TypeVar

from headway.check.generate import Case, Shape, generate
from headway.check.judge import check
from headway.check.needs import Need, numbered, reference
from headway.check.shrink import Small, shrink
from headway.errors import UnsupportedByTarget
from headway.ir import to_text, verify
from headway.ir.expr import Inputs
from headway.ir.program import Instr, Program
from headway.ir.walk import control_reads
from headway.spec import Issue, ideal, required
from headway.sync.program import Barrier, SyncProgram, walk_sync

Span = tuple[float, float]
"""When an instance was issued and when it completed, in ns."""

Times = Mapping[str, Sequence[Span]]
"""By counter, the spans of its instances in their order."""

Simulate = Callable[[SyncProgram, Inputs], Times]

R = TypeVar("R")

Kind = Literal["early", "late", "deadlock", "unsupported", "times", "crash"]
KINDS: tuple[Kind, ...] = ("early", "late", "deadlock", "unsupported", "times", "crash")
"""The verdicts that are failures; issue times that contradict the verdict; an exception."""

PROCESSES = 2
CHUNK = 20
"""Seeds that a process is given at a time."""


class Candidate(NamedTuple):
    """A strategy under test; `synchronize` may raise UnsupportedByTarget, which is no failure."""

    name: str
    synchronize: Callable[[Program], SyncProgram]


class Failure(NamedTuple):
    """What is wrong with one candidate on the program of one seed."""

    seed: int
    strategy: str
    kind: Kind
    message: str


class Outcome(NamedTuple):
    """What became of one seed. `refused` names the candidates that cannot carry the program."""

    seed: int
    instances: int
    failures: tuple[Failure, ...] = ()
    refused: tuple[str, ...] = ()


def in_turn(candidates: tuple[Candidate, ...], seed: int) -> tuple[Candidate, ...]:
    """Return one of the candidates, the next one for the next seed."""
    return (candidates[seed % len(candidates)],)


@dataclass(frozen=True, slots=True)
class Campaign:
    """What every seed is tried with. All of it can be sent to another process.

    `is_in_turn`: with one of the candidates, the next one for the next seed.
    """

    candidates: tuple[Candidate, ...]
    simulate: Simulate
    shape: Shape | None = None
    is_in_turn: bool = False

    def outcome(self, seed: int) -> Outcome:
        """Try every candidate on the program of a seed."""
        case = generate(seed, self.shape)
        truth = _truth(case.program, case.inputs)
        failures: list[Failure] = []
        refused: list[str] = []
        chosen = in_turn(self.candidates, seed) if self.is_in_turn else self.candidates
        for candidate in chosen:
            try:
                found = _failure(truth, candidate, self.simulate)
            except UnsupportedByTarget:
                refused.append(candidate.name)
                continue
            if found:
                failures.append(Failure(seed, candidate.name, *found))
        return Outcome(seed, len(truth.issues), tuple(failures), tuple(refused))

    def shrunk(self, failure: Failure) -> Small:
        """Return a small program on which the same candidate fails in the same way."""
        case: Case = generate(failure.seed, self.shape)
        candidate = next(c for c in self.candidates if c.name == failure.strategy)

        def fails(program: Program, inputs: Inputs) -> bool:
            verify(program)
            found = _failure(_truth(program, inputs), candidate, self.simulate)
            return found is not None and found[0] == failure.kind

        return shrink(case.program, case.inputs, fails)


def spread(
    function: Callable[[int], R], seeds: Iterable[int], processes: int = PROCESSES
) -> Iterator[R]:
    """Yield `function(seed)` of every seed in order, computed in several processes."""
    if processes == 1:
        yield from map(function, seeds)
        return
    pool = ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_the_parent)
    try:
        yield from pool.map(function, seeds, chunksize=CHUNK)
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal(SIGINT, SIG_IGN)


class _Truth(NamedTuple):
    """What all candidates are judged by: what instances require, and when the ideal issues them."""

    program: Program
    inputs: Inputs
    needs: list[Need]
    issues: list[Issue]

    def of(self, synced: SyncProgram) -> list[Need]:
        """Return the needs of a synchronized program; who loads control values is its choice."""
        is_free = next(control_reads(self.program.body), None) is not None
        if is_free or synced.program is not self.program:
            return reference(synced, self.inputs)
        return self.needs


def _truth(program: Program, inputs: Inputs) -> _Truth:
    needs = numbered(required(program, inputs))
    return _Truth(program, inputs, needs, ideal(program, inputs))


def _failure(truth: _Truth, candidate: Candidate, simulate: Simulate) -> tuple[Kind, str] | None:
    try:
        return _judged(candidate.synchronize(truth.program), truth, simulate)
    except UnsupportedByTarget:
        raise
    except Exception as error:  # whatever a strategy, the judge or the simulator trips over
        return "crash", f"{type(error).__name__}: {error}"


def _judged(synced: SyncProgram, truth: _Truth, simulate: Simulate) -> tuple[Kind, str] | None:
    verdict = check(synced, truth.inputs, needs=truth.of(synced))
    may_be_late = bool(synced.flags) or has_barriers(synced)
    if verdict.verdict != "exact" and not (may_be_late and verdict.verdict == "late"):
        return verdict.verdict, str(verdict.findings[0])
    times = simulate(synced, truth.inputs)
    if may_be_late:
        wrong = overtaken(truth.program, truth.needs, times)
    else:
        wrong = difference(truth.issues, times)  # the ideal machine violates nothing
    return ("times", wrong) if wrong else None


def has_barriers(synced: SyncProgram) -> bool:
    """Tell whether some engine stands at a barrier somewhere."""
    nodes = (node for engine in synced.engines for node in walk_sync(engine.body))
    return any(isinstance(node, Barrier) for node in nodes)


def difference(issues: Iterable[Issue], times: Times) -> str:
    """Return the first instruction that is not issued when the ideal machine issues it, or ""."""
    for instance, issue, _ in issues:
        if isinstance(instance.node, Instr):
            real = times[instance.counter][instance.position - 1][0]
            if real != issue:
                return f"{instance} is issued at {real:g} ns, and at {issue:g} ns by the ideal"
    return ""


def violation(program: Program, inputs: Inputs, times: Times) -> str:
    """Return the first instruction that is issued before one that it depends on is done, or ""."""
    return overtaken(program, numbered(required(program, inputs)), times)


def overtaken(program: Program, needs: Iterable[Need], times: Times) -> str:
    """Return what `violation` returns, if what instances require is known."""
    counters = {x.name for x in (*program.engines, *program.queues)}
    for instance, needed, _ in needs:
        if not isinstance(instance.node, Instr):
            continue  # who loads a control value differs from strategy to strategy
        issue = times[instance.counter][instance.position - 1][0]
        for q, position in needed.items():
            if q in counters and times[q][position - 1][1] > issue:
                done = times[q][position - 1][1]
                late = f"signal {position} of {q} comes at {done:g} ns"
                return f"{instance} is issued at {issue:g} ns, {late}"
    return ""


def to_file(small: Small, failure: Failure) -> str:
    """Return a small program as text, with its failure and its inputs in a comment."""
    options = [f"--input {name}={_number(value)}" for name, value in small.inputs.items()]
    check_it = " ".join(["headway check -", *options])
    lines = [
        f"seed {failure.seed}: {failure.strategy}: {failure.kind}",
        *failure.message.splitlines()[:1],
        f"headway sync FILE --strategy {failure.strategy} --target generic | {check_it}",
    ]
    return "".join(f"// {line}\n" for line in lines) + to_text(small.program)


def _number(value: int | Sequence[int]) -> str:
    if isinstance(value, int):
        return str(value)
    return ",".join(map(str, value)) + ("," if len(value) == 1 else "")


def first_of_each(failures: Sequence[Failure]) -> list[Failure]:
    """Return the first failure of each strategy and kind: the others are likely the same."""
    return list({(f.strategy, f.kind): f for f in reversed(failures)}.values())
