"""Reads of memory that nothing has written: an error of the kernel, whatever the order.

In     a recorded trace
Raise  InvalidProgram, at the line of the first operation that reads such memory
Exact  for whole tensors. Reading the unwritten part of one that was written in part is no error:
       kernels compute on whole tiles of which they filled some rows, and use those
"""

from __future__ import annotations

from collections.abc import Collection

from headway.frontends.nki.places import problem
from headway.frontends.nki.record import Op, Storage, TraceNode
from headway.frontends.nki.tidy import operations


def check_initialised(recorded: list[TraceNode], skipped: Collection[Storage]) -> None:
    """Check that every tensor is written before it is read. `skipped` were masked out."""
    written: set[Storage] = set(skipped)
    blocks: set[int] = set()  # sites of which some block was written, in a loop of the device
    for op in operations(recorded):
        for operand in op.reads:
            storage = operand.storage
            if storage in written or storage.site in blocks or not _begins_empty(storage):
                continue
            if storage.is_moving and any(storage.site == other.site for other in written):
                continue
            if not _adds(op, storage):
                raise problem(
                    f"{op.kind.operation} reads {storage.name!r}, which nothing has written",
                    op.kind.at,
                    rule="a new tensor holds no values: it is written before it is read",
                    help=f"line {storage.at.line} allocates it: load it, set it or copy to it",
                )
        for operand in op.writes:
            written.add(operand.storage)
            if operand.storage.blocks and operand.storage.is_moving:
                blocks.add(operand.storage.site)


def _begins_empty(storage: Storage) -> bool:
    """Arguments, whose sites are below zero, and constants have values from the start."""
    return storage.site >= 0 and storage.contents is None


def _adds(op: Op, storage: Storage) -> bool:
    """The first matmul into a PSUM tile does not read it, although it is said to add to it."""
    is_sum = op.kind.operation == "matmul" and storage.memory.name == "psum"
    return is_sum and any(operand.storage is storage for operand in op.writes)
