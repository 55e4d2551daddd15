"""What a program needs of its target, and what was given up to make it fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from headway.passes.sync_pass import Concession
from headway.sync.program import Exec, Load, SyncNode, SyncProgram, TakeFlag, Waits, walk_sync


@dataclass(frozen=True, slots=True)
class Report:
    """`registers` are those of each engine; `semaphores` counts counters that some wait names.

    `cost_ns` is how much longer it runs than on the same target without limits, if that was asked.
    """

    strategy: str
    registers: Mapping[str, int]
    semaphores: int
    concessions: tuple[Concession, ...] = ()
    cost_ns: float | None = None

    def with_cost(self, cost_ns: float) -> Report:
        """Return the report with the simulated cost of what was given up."""
        return replace(self, cost_ns=cost_ns)

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form; `cost_ns` is there if it was asked for."""
        form: dict[str, object] = {
            "strategy": self.strategy,
            "registers": dict(self.registers),
            "semaphores": self.semaphores,
            "concessions": [concession.to_json() for concession in self.concessions],
        }
        return form if self.cost_ns is None else form | {"cost_ns": self.cost_ns}

    def __str__(self) -> str:
        registers = ", ".join(f"{engine} {count}" for engine, count in self.registers.items())
        lines = [f"registers: {registers or 'none'}; semaphores: {self.semaphores}"]
        lines += [f"given up: {concession}" for concession in self.concessions]
        if self.cost_ns is not None:
            lines.append(f"cost: {self.cost_ns:+,.0f} ns against the same target without limits")
        return "\n".join(lines)


def report(sync: SyncProgram, concessions: tuple[Concession, ...] = ()) -> Report:
    """Return the report of engine programs."""
    registers = {e.engine: sum(r.size for r in e.registers) for e in sync.engines}
    return Report(sync.strategy, registers, len(semaphores(sync)), concessions)


def semaphores(sync: SyncProgram) -> tuple[str, ...]:
    """Return the counters and flags that something waits for, in the order of their first use."""
    found = (counter for engine in sync.engines for counter in _waited_for(engine.body))
    return tuple(dict.fromkeys(found))


def waited_for(sync: SyncProgram) -> tuple[str, ...]:
    """Return the counters that some wait names."""
    flags = {flag.name for flag in sync.flags}
    return tuple(q for q in semaphores(sync) if q not in flags)


def _waited_for(body: tuple[SyncNode, ...]) -> Iterator[str]:
    for node in walk_sync(body):
        if isinstance(node, Exec | Load | Waits):
            yield from (wait.counter for wait in node.waits)
        elif isinstance(node, TakeFlag):
            yield node.flag
