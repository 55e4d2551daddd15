"""The operations: what each computes, by the name that meanings use. One function per operation.

An operation is called with the arrays it reads, its literals and its settings, all by the names
that its NKI instruction gives them. It returns what goes to `dst`, or a mapping with more
destinations. Arrays come with the type of their view; the result is converted when it is written.
The first dimension is the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headway.values.operations import (
    elementwise,
    matrices,
    microscaling,
    movement,
    randomness,
    reductions,
    search,
    selection,
)

Operation = Callable[..., Any]

OPERATIONS: Mapping[str, Operation] = {
    name: operation
    for module in (
        elementwise,
        matrices,
        microscaling,
        movement,
        randomness,
        reductions,
        search,
        selection,
    )
    for name, operation in module.OPERATIONS.items()
}
