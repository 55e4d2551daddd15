"""Run a program in its own order and in several concurrent ones, and compare every byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from headway.errors import InvalidInput
from headway.execution.concurrent import concurrent
from headway.execution.sequential import sequential
from headway.ir.expr import Inputs
from headway.sync.program import SyncProgram
from headway.values import Traced, Values
from headway.values.memory import Contents, differences, fresh, results

Execute = Callable[[SyncProgram, Values, Inputs, Contents, Random], None]
"""What executes engine programs in one order: `concurrent`, or `from_instructions`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out: the results of the sequential run, and where concurrent runs differ.

    `different` names the buffers of the first order that differs, which has number `order`.
    """

    instructions: int
    orders: int
    results: tuple[Any, ...]
    contents: Contents
    different: tuple[str, ...] = ()
    order: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether every run left the same bytes in every buffer."""
        return not self.different


def run(
    traced: Traced,
    sync: SyncProgram,
    inputs: Inputs,
    arguments: Mapping[str, Any] | None = None,
    *,
    orders: int = 3,
    seed: int = 0,
    execute: Execute = concurrent,
    progress: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Execute `traced` in order, and `sync` in so many random orders; stop at the first difference.

    `sync` are engine programs of `traced.program`. `arguments` are arrays for the tensor arguments
    of the kernel; others are random, by `seed`. `execute` runs one order. Raise InvalidInput on
    anything that does not fit, CheckFailed on a deadlock.
    """
    if orders < 0:
        raise InvalidInput(f"{orders} orders: the number of orders is 0 or more")
    progress("in sequential order")
    wanted = fresh(traced.values, arguments, seed)
    count = sequential(traced, inputs, wanted)
    returned = results(traced.values, wanted)
    for order in range(1, orders + 1):
        progress(f"in concurrent order {order} of {orders}")
        found = fresh(traced.values, arguments, seed)
        execute(sync, traced.values, inputs, found, Random(f"{seed}/{order}"))
        different = tuple(differences(wanted, found))
        if different:
            return Outcome(count, order, returned, wanted, different, order)
    return Outcome(count, orders, returned, wanted)
