"""Memory in HBM that orders nothing: only read, or each element written once and never read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from headway.frontends.nki.affine import terms_of
from headway.frontends.nki.record import DeviceLoop, Op, Operand, Storage, TraceNode
from headway.frontends.nki.tidy import operations

MOST_CELLS = 1 << 18


def silent(recorded: list[TraceNode], tiles: Mapping[int, list[Storage]]) -> set[int]:
    """Return the sites of memory in HBM that orders nothing (exact for what is recorded)."""
    written: dict[Storage, list[Operand]] = defaultdict(list)
    read: set[Storage] = set()
    for op in operations(recorded):
        read.update(operand.storage for operand in op.reads)
        for operand in op.writes:
            written[operand.storage].append(operand)
    read.update(operand.storage for operand in _control(recorded))
    return {
        site
        for site, listed in tiles.items()
        if listed[0].memory.name == "hbm"
        and all(s not in written or (s not in read and _once(written[s])) for s in listed)
    }


def _control(recorded: list[TraceNode]) -> Iterator[Operand]:
    for node in recorded:
        if isinstance(node, DeviceLoop):
            yield from node.reads
            yield from _control(node.body)
        elif not isinstance(node, Op):
            for turn in node.iterations:
                yield from _control(turn)


def _once(writes: list[Operand]) -> bool:
    """Tell whether no element is written twice; False too when there are too many to say."""
    roots = {write.root for write in writes}
    in_device_loop = any(terms_of(n) for w in writes for span in w.box for n in span)
    if len(roots) > 1 or in_device_loop or _is_repeated(writes):
        return False
    borders = [
        sorted({int(n) for w in writes for n in w.box[d]}) for d in range(len(writes[0].root))
    ]
    at = [{border: i for i, border in enumerate(row)} for row in borders]
    cells: set[tuple[int, ...]] = set()
    total = 0
    for write in writes:
        spans = [
            range(row[int(low)], row[int(high)])
            for row, (low, high) in zip(at, write.box, strict=True)
        ]
        total += prod(len(span) for span in spans)
        if total > MOST_CELLS:
            return False
        cells.update(product(*spans))
    return len(cells) == total


def _is_repeated(writes: list[Operand]) -> bool:
    """A device loop traced once writes the same place in each of its turns."""
    return any(terms_of(n) for w in writes for n in w.storage.index)
