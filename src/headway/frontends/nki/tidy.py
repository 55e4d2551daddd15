"""Small rewrites of a recorded trace that give it the instructions the kernel's author wrote.

    t = nc_matmul(a, b); psum += t     ->   psum += nc_matmul(a, b)      one accumulating matmul
    t = add(a, b); tile[...] = t       ->   tile[...] = add(a, b)        one add that writes tile
    psum = zeros(); psum += matmul     ->   psum += matmul               (old style) the first
                                            matmul of an accumulation group overwrites

Exact: `t` is memory that only these two operations touch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from headway.frontends.nki.elementwise import ACCUMULATED, ASSIGNED
from headway.frontends.nki.language import PSUM_ZEROS
from headway.frontends.nki.record import DeviceLoop, Op, PythonLoop, Storage, TraceNode


def tidy(body: list[TraceNode]) -> list[TraceNode]:
    """Return the trace with these rewrites done."""
    uses: Counter[Storage] = Counter()
    first: dict[Storage, Op] = {}
    for op in operations(body):
        for storage in {operand.storage for operand in op.operands}:
            uses[storage] += 1
            if PSUM_ZEROS not in op.kind.flags:
                first.setdefault(storage, op)
    return _body(body, uses, first)


def operations(body: list[TraceNode]) -> Iterator[Op]:
    """Yield every recorded operation in the order in which it was recorded."""
    for node in body:
        if isinstance(node, Op):
            yield node
        elif isinstance(node, DeviceLoop):
            yield from operations(node.body)
        else:
            for turn in node.iterations:
                yield from operations(turn)


def _body(
    body: list[TraceNode], uses: Counter[Storage], first: dict[Storage, Op]
) -> list[TraceNode]:
    out: list[TraceNode] = []
    for node in body:
        if isinstance(node, PythonLoop):
            node.iterations = [_body(turn, uses, first) for turn in node.iterations]
        elif isinstance(node, DeviceLoop):
            node.body = _body(node.body, uses, first)
        elif _is_group_start(node, first):
            continue
        else:
            previous = out[-1] if out else None
            if isinstance(previous, Op) and _is_merged(previous, node, uses):
                out[-1] = _merged(previous, node)
                continue
        out.append(node)
    return out


def _is_group_start(op: Op, first: dict[Storage, Op]) -> bool:
    if PSUM_ZEROS not in op.kind.flags:
        return False
    storage = op.writes[0].storage
    user = first.get(storage)
    if user is None:
        return True
    is_matmul = user.kind.operation == "matmul" or ACCUMULATED in user.kind.flags
    return is_matmul and any(o.storage is storage for o in user.writes)


def _is_merged(producer: Op, op: Op, uses: Counter[Storage]) -> bool:
    flags = op.kind.flags
    if ASSIGNED not in flags and ACCUMULATED not in flags:
        return False
    value = op.reads[-1]
    if len(producer.writes) != 1 or producer.writes[0] != value or uses[value.storage] != 2:
        return False
    if producer.kind.work.moves:
        return False
    is_group = producer.kind.operation == "matmul" and op.writes[0].storage.memory.name == "psum"
    return ASSIGNED in flags or is_group


def _merged(producer: Op, op: Op) -> Op:
    """The producer writes the target itself; it also reads it when it adds to it."""
    reads = producer.reads + (op.reads[:-1] if ACCUMULATED in op.kind.flags else ())
    kind = replace(producer.kind, reads=len(reads))
    return Op(kind, (*reads, *op.writes))
