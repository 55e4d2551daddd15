"""Execute engine programs from the binary that they are assembled to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from headway.ir.expr import Inputs
from headway.isa import from_binary, lower, to_binary
from headway.isa.execute import execute
from headway.sync.program import SyncProgram
from headway.values import Values
from headway.values.execute import Result, begin, commit
from headway.values.memory import Contents


def from_instructions(
    sync: SyncProgram, values: Values, inputs: Inputs, contents: Contents, random: Random
) -> None:
    """Assemble engine programs and execute their streams in one order; `contents` is changed.

    Raise as `headway.isa.lower` and `headway.isa.execute.execute` do.
    """
    module = from_binary(to_binary(lower(sync)))
    execute(module, inputs, _Memory(values, contents), random)


class _Memory:
    """Memory that the operations of a kernel are executed on."""

    def __init__(self, values: Values, contents: Contents) -> None:
        self._values = values
        self._contents = contents

    def start(self, name: str, iterations: Mapping[str, int]) -> Callable[[], None]:
        """Read and compute; a control read computes nothing."""
        if name not in self._values.meanings:
            return lambda: None
        results = begin(self._values, name, tuple(iterations.values()), self._contents)
        kept: list[Result] = []
        rest: list[Result] = []
        for result in results:
            (kept if self._values.is_in_engine(result.at.view) else rest).append(result)
        commit(kept, self._contents)  # instructions of an engine start in its order
        return lambda: commit(rest, self._contents)

    def contents(self) -> Contents:
        """Return all buffers."""
        return self._contents
