"""Which engine runs an operation, and which queue a transfer goes through.

The engine is the one that the public documentation names first for the instruction. A call may
name another one (`engine=`). What the documentation leaves open goes to the vector engine; whole
number arithmetic of two tiles and powers go to gpsimd, which cannot reach PSUM.

Transfers into the chip are triggered by `sync`, which has nothing else to do; all others by
`gpsimd`: a store waits for its data, and would hold up the loads behind it.
"""

from __future__ import annotations

from headway.frontends.nki.record import Op
from headway.frontends.nki.types import DTYPES
from headway.ir.program import Queue

TENSOR, VECTOR, SCALAR, GPSIMD, SYNC = "tensor", "vector", "scalar", "gpsimd", "sync"

_BY_OPERATION = {
    "matmul": TENSOR,
    "transpose": TENSOR,
    "activation": SCALAR,
    "activation_reduce": SCALAR,
    "affine_select": GPSIMD,
    "iota": GPSIMD,
    "tensor_partition_reduce": GPSIMD,
}

LOADS, STORES, COPIES = Queue("loads", SYNC), Queue("stores", GPSIMD), Queue("copies", GPSIMD)
_BY_MOVE = {"load": LOADS, "store": STORES, "copy": COPIES}


def queue_of(op: Op) -> Queue | None:
    """Return the queue of a transfer, None for what an engine computes."""
    return _BY_MOVE.get(op.kind.work.moves)


def engine_of(op: Op) -> str:
    """Return the engine that runs an operation, or triggers it."""
    queue = queue_of(op)
    if queue is not None:
        return queue.host
    if op.kind.engine:
        return op.kind.engine
    if _needs_gpsimd(op) and not _touches_psum(op):
        return GPSIMD
    engine = _BY_OPERATION.get(op.kind.operation, VECTOR)
    return VECTOR if engine == GPSIMD and _touches_psum(op) else engine


def _needs_gpsimd(op: Op) -> bool:
    dtype = DTYPES[op.kind.work.dtype]
    is_integer = op.kind.operation == "tensor_tensor" and dtype.is_integer and dtype.itemsize == 4
    return is_integer or "power" in op.kind.flags


def _touches_psum(op: Op) -> bool:
    return any(operand.storage.memory.name == "psum" for operand in op.operands)
