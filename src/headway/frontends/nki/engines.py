"""Which engine runs an operation, and which queue a transfer goes through.

The engine is the one that the public documentation names first for the instruction. A call may
name another one (`engine=`), and a policy another one for the calls that do not. What the
documentation leaves open goes to the vector engine; whole number arithmetic of two tiles and powers
go to gpsimd, which cannot reach PSUM.

By default transfers into the chip are triggered by `sync`, which has nothing else to do; all others
by `gpsimd`: a store waits for its data, and would hold up the loads behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from headway.errors import Diagnostic, InvalidInput
from headway.frontends.nki.record import Op, TraceNode
from headway.frontends.nki.tidy import operations
from headway.frontends.nki.types import DTYPES
from headway.ir.program import Queue

TENSOR, VECTOR, SCALAR, GPSIMD, SYNC = "tensor", "vector", "scalar", "gpsimd", "sync"
ENGINES = (SYNC, TENSOR, VECTOR, SCALAR, GPSIMD)

_BY_OPERATION = {
    "matmul": TENSOR,
    "transpose": TENSOR,
    "activation": SCALAR,
    "activation_reduce": SCALAR,
    "affine_select": GPSIMD,
    "core_barrier": GPSIMD,
    "iota": GPSIMD,
    "local_gather": GPSIMD,
    "nc_n_gather": GPSIMD,
    "nonzero_with_count": GPSIMD,
    "sequence_bounds": GPSIMD,
    "tensor_partition_reduce": GPSIMD,
    "topk": GPSIMD,
}

TRIGGERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "split": {"load": (SYNC,), "store": (GPSIMD,), "copy": (GPSIMD,)},
    "one": {"load": (SYNC,), "store": (SYNC,), "copy": (SYNC,)},
    "spread": {"load": (SYNC, SCALAR), "store": (GPSIMD,), "copy": (GPSIMD,)},
}
"""The hosts of each direction. Where there are several, the transfers of the kernel's lines take
them in turn."""

_NAMES = {"load": "loads", "store": "stores", "copy": "copies"}


QUEUES = ("loads", "stores", "copies", "loads_scalar")
"""The names of all queues."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Who runs what the kernel leaves open.

    `engines` gives operations (`tensor_copy`) to other engines than the default; `triggers` names
    one of `TRIGGERS`. Raise InvalidInput if there is no such engine or way.
    """

    engines: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    triggers: str = "split"

    def __post_init__(self) -> None:
        for operation, engine in self.engines.items():
            if engine not in ENGINES:
                known = ", ".join(ENGINES)
                raise InvalidInput(
                    Diagnostic(
                        f"there is no engine {engine!r} for {operation}", help=f"engines: {known}"
                    )
                )
        if self.triggers not in TRIGGERS:
            known = ", ".join(TRIGGERS)
            raise InvalidInput(
                Diagnostic(f"unknown way to trigger DMA {self.triggers!r}", help=f"ways: {known}")
            )


DEFAULT = Policy()


class Assignment:
    """Assigns the operations of one program, in the order in which they are asked for."""

    def __init__(self, policy: Policy = DEFAULT) -> None:
        self._policy = policy
        self._dealt: Counter[str] = Counter()
        self.left_open: Counter[tuple[str, str]] = Counter()

    def of(self, op: Op) -> tuple[str, Queue | None]:
        """Return the engine that runs an operation or triggers it, and the queue of a transfer."""
        moves = op.kind.work.moves
        if moves:
            queue = self._queue(moves)
            return queue.host, queue
        if op.kind.engine:
            return op.kind.engine, None
        operation = op.kind.operation
        engine = self._policy.engines.get(operation) or default_engine(op)
        self.left_open[operation, engine] += 1
        return engine, None

    def _queue(self, moves: str) -> Queue:
        hosts = TRIGGERS[self._policy.triggers][moves]
        number = self._dealt[moves] % len(hosts)
        self._dealt[moves] += 1
        name = _NAMES[moves] + (f"_{hosts[number]}" if number else "")
        return Queue(name, hosts[number])


def left_open(recorded: list[TraceNode], engines: Mapping[str, str]) -> str:
    """Return in words which engines run the operations that name none."""
    assignment = Assignment(Policy(engines))
    kinds = {op.kind: op for op in operations(recorded)}
    for op in kinds.values():
        assignment.of(op)
    return ", ".join(f"{name} on {engine}" for name, engine in sorted(assignment.left_open))


def default_engine(op: Op) -> str:
    """Return the engine of a call that names none.

    What only gpsimd does stays there, also where kernels of the old style give it a tile in PSUM.
    """
    if _needs_gpsimd(op) and not _touches_psum(op):
        return GPSIMD
    return _BY_OPERATION.get(op.kind.operation, VECTOR)


def _needs_gpsimd(op: Op) -> bool:
    dtype = DTYPES[op.kind.work.dtype]
    is_integer = op.kind.operation == "tensor_tensor" and dtype.is_integer and dtype.itemsize == 4
    return is_integer or "power" in op.kind.flags


def _touches_psum(op: Op) -> bool:
    return any(operand.storage.memory.name == "psum" for operand in op.operands)
