"""Run modules on real threads, and compare the memory they leave with the sequential reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway.ir.expr import Inputs
from headway.isa.module import Module
from headway.isa.values import SymbolicMemory, run_sequentially
from headway.native import build
from headway.native.emit import emit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found.

    `races` are those that ThreadSanitizer reports; without it, the cells that came out wrong.
    `equal`: every cell has the value that the sequential program gives it. `standing` says who
    waits for what in a deadlock; `report` is what ThreadSanitizer printed.
    """

    races: int
    equal: bool
    standing: tuple[str, ...]
    report: str

    @property
    def is_good(self) -> bool:
        """Tell whether nothing is wrong."""
        return self.equal and not self.races and not self.standing

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {"races": self.races, "equal": self.equal, "deadlock": bool(self.standing)}


def to_c(module: Module, inputs: Inputs) -> str:
    """Return the C program of a module for given inputs. Raise as `emit` does."""
    return build.source([emit(module, inputs)])


def run(module: Module, inputs: Inputs, sanitize: str | None = None, seed: int = 1) -> Outcome:
    """Build and run a verified module; `seed` varies where threads give way.

    `sanitize` is `thread` for ThreadSanitizer. Raise InvalidInput if inputs do not fit or there is
    no compiler, UnsupportedByTarget as `emit` does.
    """
    wanted = reference(module, inputs)
    found = build.run(to_c(module, inputs), sanitize, seed)
    return _outcome(wanted, found, bool(sanitize))


def _outcome(wanted: Sequence[int], found: build.Found, is_sanitized: bool) -> Outcome:
    memory = found.memories[0] if found.memories else ()
    wrong = sum(a != b for a, b in zip(wanted, memory, strict=False))
    equal = not wrong and len(memory) == len(wanted)
    return Outcome(found.races if is_sanitized else wrong, equal, found.deadlock, found.report)


def reference(module: Module, inputs: Inputs) -> list[int]:
    """Return the memory that the sequential program leaves. Raise InvalidInput."""
    memory = SymbolicMemory(module.program, inputs)
    run_sequentially(module, inputs, memory)
    return memory.contents()


def run_all(cases: Sequence[tuple[Module, Inputs]], sanitize: str | None = None) -> list[bool]:
    """Build many modules into one program and run it; tell of each whether its memory is equal.

    What follows a deadlock is not run, and is not equal.
    """
    emitted = [emit(module, inputs, f"p{n}_") for n, (module, inputs) in enumerate(cases)]
    found = build.run(build.source(emitted), sanitize, flags=build.QUICK)
    wanted = [tuple(reference(module, inputs)) for module, inputs in cases]
    given = [*found.memories, *[None] * (len(wanted) - len(found.memories))]
    return [a == b for a, b in zip(wanted, given, strict=True)]
