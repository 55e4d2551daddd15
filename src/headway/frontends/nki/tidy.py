"""Small rewrites of a recorded trace that give it the instructions the kernel's author wrote.

    t = nc_matmul(a, b); psum += t     ->   psum += nc_matmul(a, b)      one accumulating matmul
    t = add(a, b); tile[...] = t       ->   tile[...] = add(a, b)        one add that writes tile
    psum = zeros(); psum += matmul     ->   psum += matmul               (old style) the first
                                            matmul of an accumulation group overwrites

Exact: `t` is memory that only these two operations touch, and no zeros are left out that are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

from headway.frontends.nki.creation import PSUM_ZEROS
from headway.frontends.nki.elementwise import ACCUMULATED, ASSIGNED
from headway.frontends.nki.record import DeviceLoop, Op, PythonLoop, Storage, TraceNode
from headway.frontends.nki.unwritten import Unwritten

ADDS = "accumulate"


def tidy(body: list[TraceNode]) -> list[TraceNode]:
    """Return the trace with these rewrites done."""
    flags = {flag for op in operations(body) for flag in op.kind.flags}
    merged = body
    if ASSIGNED in flags or ACCUMULATED in flags:
        uses: Counter[Storage] = Counter()
        for op in operations(body):
            uses.update({operand.storage for operand in op.operands})
        moving = {storage.site for storage in uses if storage.blocks and storage.is_moving}
        for storage in uses:
            if storage.site in moving:  # other blocks may be the same one
                uses[storage] = 0
        merged = _rewritten(body, lambda out, op: _merge(out, op, uses))
    return _without_zeros(merged) if PSUM_ZEROS in flags else merged


def _without_zeros(merged: list[TraceNode]) -> list[TraceNode]:
    """Leave out the zeros that begin accumulation groups."""
    first: dict[Storage, Op] = {}
    zeros: set[Storage] = set()
    for op in operations(merged):
        for storage in {operand.storage for operand in op.operands}:
            if PSUM_ZEROS in op.kind.flags:
                zeros.add(storage)
            else:
                first.setdefault(storage, op)
    groups = {s for s in zeros if _starts_group(s, first.get(s))} - _read_beside(merged, zeros)
    for op in operations(merged):
        if ADDS in op.kind.means.literals and op.writes[0].storage in zeros - groups:
            _always_adds(op)
    return _rewritten(merged, lambda out, op: _drop(out, op, groups))


def operations(body: list[TraceNode]) -> Iterator[Op]:
    """Yield every recorded operation in the order in which it was recorded."""
    around = [iter(body)]
    while around:
        for node in around[-1]:
            if isinstance(node, Op):
                yield node
                continue
            bodies = [node.body] if isinstance(node, DeviceLoop) else node.iterations
            around.append(chain.from_iterable(bodies))
            break
        else:
            around.pop()


def _rewritten(
    body: list[TraceNode], add: Callable[[list[TraceNode], Op], None]
) -> list[TraceNode]:
    """Rewrite all bodies in place: `add` puts each operation behind those before it."""
    out: list[TraceNode] = []
    for node in body:
        if isinstance(node, Op):
            add(out, node)
            continue
        if isinstance(node, PythonLoop):
            node.iterations = [_rewritten(turn, add) for turn in node.iterations]
        else:
            node.body = _rewritten(node.body, add)
        out.append(node)
    return out


def _read_beside(merged: list[TraceNode], zeros: set[Storage]) -> set[Storage]:
    """Return the tiles of which parts are read that hold zeros, as no matmul wrote them."""
    found: set[Storage] = set()
    unwritten = Unwritten()
    for op in operations(merged):
        for operand in () if PSUM_ZEROS in op.kind.flags else op.operands:
            if operand.storage not in zeros:
                continue
            if op.kind.operation == "matmul":
                unwritten.write(operand)
            elif unwritten.is_under(operand):
                found.add(operand.storage)
    return found


def _drop(out: list[TraceNode], op: Op, groups: set[Storage]) -> None:
    """The zeros that begin an accumulation group are no instruction."""
    if PSUM_ZEROS not in op.kind.flags or op.writes[0].storage not in groups:
        out.append(op)


def _starts_group(storage: Storage, user: Op | None) -> bool:
    """Whether a matmul uses the zeros of a tile first, or nobody does."""
    if user is None:
        return True
    return user.kind.operation == "matmul" and any(o.storage is storage for o in user.writes)


def _always_adds(op: Op) -> None:
    """Zeros that are an instruction of their own are there to be added to."""
    names = op.kind.means.literals
    op.literals = tuple(
        True if name == ADDS else literal for name, literal in zip(names, op.literals, strict=True)
    )


def _merge(out: list[TraceNode], op: Op, uses: Counter[Storage]) -> None:
    previous = out[-1] if out else None
    if isinstance(previous, Op) and _is_merged(previous, op, uses):
        out[-1] = _merged(previous, op)
    else:
        out.append(op)


def _is_merged(producer: Op, op: Op, uses: Counter[Storage]) -> bool:
    flags = op.kind.flags
    if ASSIGNED not in flags and ACCUMULATED not in flags:
        return False
    value = op.reads[-1]
    if len(op.reads) != (2 if ACCUMULATED in flags else 1):
        return False  # where the target lies is known only at run time
    if len(producer.writes) != 1 or producer.writes[0] != value or uses[value.storage] != 2:
        return False
    if producer.kind.work.moves and op.writes[0].storage.memory.name != "sbuf":
        return False  # DMA does not reach PSUM
    is_group = producer.kind.operation == "matmul" and op.writes[0].storage.memory.name == "psum"
    return ASSIGNED in flags or is_group


def _merged(producer: Op, op: Op) -> Op:
    """The producer writes the target itself; it also reads it when it adds to it."""
    is_sum = ACCUMULATED in op.kind.flags
    reads = producer.reads + (op.reads[:-1] if is_sum else ())
    means, literals = producer.kind.means, producer.literals
    if is_sum and means.roles:  # else it is not known what the producer computes
        adds = dict(zip(op.kind.means.literals, op.literals, strict=True))[ADDS]
        roles = (*means.roles[:-1], "addend", means.roles[-1])
        means = means._replace(roles=roles, literals=(*means.literals, ADDS))
        literals = (*literals, adds)
    kind = producer.kind._replace(reads=len(reads), means=means)
    return Op(kind, (*reads, *op.writes), literals)
