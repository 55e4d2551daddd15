"""Memory accessed piece by piece, cut into bands that become slots.

In     all accesses to the memory of one place, with their boxes
Out    for each dimension whether it stays an address range inside the slot or is cut into bands
Exact  for bands no wider than what is accessed at once. Conservative where more than `MOST_BANDS`
       bands share slots (band k is slot `k % MOST_BANDS`), and for a dimension accessed at places
       that are no affine function of the loops' iterations times a common width
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from headway.frontends.nki.affine import Number, const_of, terms_of
from headway.frontends.nki.record import Box

MOST_BANDS = 8


@dataclass(frozen=True, slots=True)
class Bands:
    """`widths[d]` is the width of the bands of dimension d; None: it stays an address range.

    A width equal to the extent means: accessed at unknown places, always taken whole.
    """

    extents: tuple[int, ...]
    widths: tuple[int | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of one slot."""
        return tuple(
            extent if width is None else width
            for extent, width in zip(self.extents, self.widths, strict=True)
        )

    @property
    def slots(self) -> int:
        """The number of slots that the bands share."""
        return min(MOST_BANDS, prod(self._counts()))

    @property
    def are_apart(self) -> bool:
        """Whether each band has a slot of its own."""
        return prod(self._counts()) <= MOST_BANDS

    def _counts(self) -> list[int]:
        return [
            1 if width is None else -(-extent // width)
            for extent, width in zip(self.extents, self.widths, strict=True)
        ]

    def pieces(self, box: Box) -> Iterator[tuple[Number, tuple[tuple[int, int], ...]]]:
        """Yield (band number, box inside it) of each slot that a box touches."""
        inside: list[tuple[int, int]] = []
        base: Number = 0
        offsets: list[list[int]] = []
        counts = self._counts()
        for d, ((low, high), width) in enumerate(zip(box, self.widths, strict=True)):
            if width is None:
                inside.append((const_of(low), const_of(high)))
                continue
            inside.append((0, width))
            weight = prod(counts[d + 1 :])
            if counts[d] > 1:
                base = base + (low // width) * weight
                crossed = (const_of(high) - const_of(low)) // width
                offsets.append([weight * i for i in range(min(crossed, MOST_BANDS))])
        found = {sum(combination) % self.slots for combination in product(*offsets)}
        for offset in sorted(found):
            yield base + offset, tuple(inside)


def bands(root: tuple[int, ...], boxes: Sequence[Box]) -> Bands:
    """Return how to cut memory of shape `root` that is accessed in these boxes."""
    spans = [[box[d] for box in boxes] for d in range(len(root))]
    return Bands(root, tuple(map(_width, root, spans)))


def _width(extent: int, spans: list[tuple[Number, Number]]) -> int | None:
    if not any(terms_of(border) for span in spans for border in span):
        return None
    width = extent
    for low, high in spans:
        if terms_of(low) != terms_of(high):
            return extent
        width = gcd(width, const_of(low), const_of(high), *(factor for _, factor in terms_of(low)))
    return width
