"""What a binary holds: a stream for each engine, the semaphores, and the sequential program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headway.ir.program import Program, control_counter
from headway.isa.instructions import Instruction, Op
from headway.sync.program import (
    EngineProgram,
    Exec,
    Flag,
    Load,
    Semaphore,
    SyncNode,
    SyncProgram,
)


@dataclass(frozen=True, slots=True)
class Stream:
    """What one engine runs; it uses the registers below `registers`."""

    engine: str
    registers: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The semaphore that holds the tokens of a flag."""

    number: int
    flag: Flag


@dataclass(frozen=True, slots=True)
class Module:
    """The engine programs of a bound program, as streams.

    `semaphores` hold counters, `tokens` flags; `meets` are the two semaphores of barriers, if there
    are any. No semaphore has two uses.
    """

    program: Program
    strategy: str
    target: str
    streams: tuple[Stream, ...]
    semaphores: tuple[Semaphore, ...] = ()
    tokens: tuple[Tokens, ...] = ()
    meets: tuple[int, ...] = ()

    def stream(self, engine: str) -> Stream:
        """Return the stream of an engine; KeyError if it has none."""
        for stream in self.streams:
            if stream.engine == engine:
                return stream
        raise KeyError(engine)

    def skeleton(self) -> SyncProgram:
        """Return a synchronized program without its steps: names, semaphores, who loads what."""
        return self._synchronized(_loads)

    def with_issues(self) -> SyncProgram:
        """Return the same with every instruction that is issued, each once."""
        return self._synchronized(_issues)

    def _synchronized(self, steps: Callable[[Stream], tuple[SyncNode, ...]]) -> SyncProgram:
        engines = tuple(EngineProgram(s.engine, steps(s)) for s in self.streams)
        flags = tuple(tokens.flag for tokens in self.tokens)
        return SyncProgram(
            self.program, engines, self.strategy, self.target, flags, self.semaphores
        )

    def names(self) -> dict[int, str]:
        """Return the counter or flag that each semaphore holds."""
        counters = {s.number: s.counter for s in self.semaphores}
        return counters | {tokens.number: tokens.flag.name for tokens in self.tokens}


def _loads(stream: Stream) -> tuple[Load, ...]:
    names = dict.fromkeys(i.name for i in stream.instructions if i.op is Op.READ)
    return tuple(map(Load, names))


def _issues(stream: Stream) -> tuple[SyncNode, ...]:
    issued = (i for i in stream.instructions if i.op in (Op.EXEC, Op.TRIGGER))
    return (*_loads(stream), *map(Exec, dict.fromkeys(i.name for i in issued)))


def counters(program: Program) -> dict[str, str]:
    """Return the counters of a program with their host engines."""
    hosts = {engine: engine for engine in program.hosts}
    hosts |= {queue.name: queue.host for queue in program.queues}
    return hosts | {control_counter(engine): engine for engine in program.hosts}
