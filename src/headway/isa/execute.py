"""Execute a binary without time: streams at once, in a random order that the machine allows.

In     a verified module, inputs, memory, a source of random numbers
Out    the memory as it is when all engines have ended

All semaphores are alike, whether engines count, drain or meet by them: nothing here knows what they
mean.
Each step, one engine executes an instruction, or one counter starts or completes an instance, as
chance has it; how often each gets its turn changes from run to run. An instance reads when it
starts and writes when it completes. On a serial counter it starts when the one before has
completed; completions of a counter come in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from random import Random

from headway.errors import CheckFailed, Diagnostic, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.ir.program import Instr
from headway.ir.walk import instructions
from headway.isa import interpret
from headway.isa.instructions import Op
from headway.isa.interpret import Effect
from headway.isa.module import Module
from headway.isa.values import Memory, loops_around
from headway.sync.program import Semaphore

SPREAD = 10.0
"""The fastest and the slowest get their turn so many times more and less often than usual."""


@dataclass(slots=True)
class _Counter:
    """What a counter was given: instances that wait, those that have read, and tokens to add."""

    is_serial: bool
    issued: int = 0
    completed: int = 0
    waiting: deque[interpret.Issue] = field(default_factory=deque[interpret.Issue])
    running: deque[tuple[int | None, Callable[[], None]]] = field(
        default_factory=deque[tuple[int | None, Callable[[], None]]]
    )
    tokens: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])


@dataclass(slots=True)
class _Engine:
    name: str
    effects: Iterator[Effect]
    pending: Effect | None = None
    has_arrived: bool = False
    met: dict[int, int] = field(default_factory=dict[int, int])


def execute(module: Module, inputs: Inputs, memory: Memory, random: Random) -> None:
    """Run the streams in one order; `memory` is changed.

    Raise InvalidInput as `headway.isa.interpret.effects` does, CheckFailed on a deadlock,
    UnsupportedByTarget if an instruction runs in other loops than in the sequential program.
    """
    _Machine(module, inputs, memory, random).run()


class _Machine:
    def __init__(self, module: Module, inputs: Inputs, memory: Memory, random: Random) -> None:
        program = module.program
        self._memory = memory
        self._random = random
        self._loops = loops_around(program)
        names = (*program.hosts, *(queue.name for queue in program.queues))
        self._counters = {name: _Counter(name in program.serial) for name in names}
        self._instr: dict[str, Instr] = {i.name: i for i in instructions(program.body)}
        self._semaphores = {semaphore.number: semaphore for semaphore in module.semaphores}
        self._holds = {tokens.number: tokens.flag.holds for tokens in module.tokens}
        self._count = dict.fromkeys((*self._semaphores, *self._holds, *module.meets), 0)
        self._engines = [
            _Engine(s.engine, interpret.effects(module, s, inputs)) for s in module.streams
        ]
        for engine in self._engines:
            engine.pending = next(engine.effects, None)

    def run(self) -> None:
        """Take steps until nobody can; then all engines have ended, or it is a deadlock."""
        actors = self._actors()
        weights = list(accumulate(SPREAD ** self._random.uniform(-1, 1) for _ in actors))
        while actors:
            (first,) = self._random.choices(range(len(actors)), cum_weights=weights)
            order = (*range(first, len(actors)), *range(first))
            if not any(actors[number]() for number in order):
                break
        standing = [engine.name for engine in self._engines if engine.pending is not None]
        if standing:
            raise CheckFailed(f"deadlock: {', '.join(standing)} stand for ever")

    def _actors(self) -> Sequence[Callable[[], bool]]:
        """Return all who can take a step; each tells whether it did."""
        counters = self._counters.values()
        engines = [partial(self._step, engine) for engine in self._engines]
        starts = [partial(self._start, counter) for counter in counters]
        ends = [partial(self._complete, counter) for counter in counters]
        return [*engines, *starts, *ends]

    def _step(self, engine: _Engine) -> bool:
        """Execute the next instruction of an engine, if it can be."""
        if engine.pending is None or not self._do(engine, engine.pending):
            return False
        engine.pending = next(engine.effects, None)
        return True

    def _do(self, engine: _Engine, effect: Effect) -> bool:
        """Do what an instruction does to others; return False if it has to stand still."""
        match effect:
            case interpret.Spend():
                return True
            case interpret.Wait():
                semaphore = self._semaphores[effect.semaphore]
                return self._value(semaphore) >= semaphore.value(effect.threshold)
            case interpret.Issue():
                return self._issue(effect)
            case interpret.Set():
                self._set(effect)
            case interpret.Take():
                return self._take(effect.semaphore)
            case interpret.Drain():
                counter = self._counters[effect.counter]
                return counter.completed == counter.issued
            case interpret.Meet():
                return self._meet(engine, effect.semaphore)
            case interpret.Clear():
                cleared = range(effect.first, effect.first + effect.size)
                self._count |= dict.fromkeys(cleared, 0)
        return True

    def _set(self, effect: interpret.Set) -> None:
        counter = self._counters.get(effect.counter)
        if counter is None:  # control reads have completed when the next instruction comes
            self._add_token(effect.semaphore)
            return
        counter.tokens.append((counter.issued, effect.semaphore))
        self._add_tokens(counter)

    def _value(self, semaphore: Semaphore) -> int:
        return semaphore.value(self._count[semaphore.number])

    def _take(self, semaphore: int) -> bool:
        if not self._count[semaphore]:
            return False
        self._count[semaphore] -= 1
        return True

    def _meet(self, engine: _Engine, semaphore: int) -> bool:
        if not engine.has_arrived:
            self._count[semaphore] += 1
            engine.met[semaphore] = engine.met.get(semaphore, 0) + 1
        is_over = self._count[semaphore] >= engine.met[semaphore] * len(self._engines)
        engine.has_arrived = not is_over
        return is_over

    def _issue(self, effect: interpret.Issue) -> bool:
        """Issue an instance; a serial engine is held up until it can start."""
        if effect.loops != self._loops[effect.name]:
            raise UnsupportedByTarget(_other_loops(effect, self._loops[effect.name]))
        if effect.op is Op.READ:
            self._begin(effect)()
            self._post(effect.post)
            return True
        counter = self._counters[self._instr[effect.name].counter]
        if effect.op is Op.EXEC and counter.is_serial and counter.completed < counter.issued:
            return False
        counter.issued += 1
        counter.waiting.append(effect)
        return True

    def _begin(self, effect: interpret.Issue) -> Callable[[], None]:
        iterations = dict(zip(effect.loops, effect.iteration, strict=True))
        return self._memory.start(effect.name, iterations)

    def _post(self, semaphore: int | None) -> None:
        if semaphore is not None:
            self._count[semaphore] += 1

    def _start(self, counter: _Counter) -> bool:
        """Let the next instance of a counter read."""
        if not counter.waiting or (counter.is_serial and counter.running):
            return False
        effect = counter.waiting.popleft()
        counter.running.append((effect.post, self._begin(effect)))
        return True

    def _complete(self, counter: _Counter) -> bool:
        """Let the first instance that runs write, and signal."""
        if not counter.running:
            return False
        post, write = counter.running.popleft()
        write()
        counter.completed += 1
        self._post(post)
        self._add_tokens(counter)
        return True

    def _add_tokens(self, counter: _Counter) -> None:
        """Add the tokens whose work has completed."""
        while counter.tokens and counter.tokens[0][0] <= counter.completed:
            self._add_token(counter.tokens.popleft()[1])

    def _add_token(self, semaphore: int) -> None:
        """Add a token; one that does not fit is lost."""
        holds = self._holds[semaphore]
        if not holds or self._count[semaphore] < holds:
            self._count[semaphore] += 1


def _other_loops(effect: interpret.Issue, own: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        f"{effect.name!r} runs inside the loops ({', '.join(effect.loops)}), and in the sequential"
        f" program inside ({', '.join(own)})",
        effect.at,
        rule="the addresses of an instance depend on the iterations of the sequential program",
        help="a target with 32-bit semaphores and register thresholds needs no other loops",
    )
