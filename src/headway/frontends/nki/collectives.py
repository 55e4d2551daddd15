"""Collective operations: transfers whose other ends are on other devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.calls import without_values
from headway.frontends.nki.objects import NKIObject
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, sequence
from headway.frontends.nki.transfers import moved

_NAMES = (
    "all_gather",
    "all_gather_v",
    "all_reduce",
    "all_to_all",
    "all_to_all_v",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_reduce",
    "reduce_scatter",
)


class ReplicaGroup(NKIObject):
    """The devices that take part in a collective operation."""

    def __init__(self, groups: Any = None) -> None:
        self.groups = groups

    @property
    def is_alone(self) -> bool:
        """Whether each group is one device, which has nobody to exchange with."""
        groups = sequence(self.groups)
        return self.groups is not None and all(len(sequence(group)) == 1 for group in groups)


def collective(*given: Any, **options: Any) -> None:
    """Record a collective operation as one transfer from all its sources to all its targets.

    In groups of one device the targets are copies of the sources.
    """
    lists = [found for part in given if (found := tuple(_tensors(part)))]
    named = {key: tuple(_tensors(part)) for key, part in options.items()}
    targets = [found for key, found in named.items() if key.startswith("dsts")] or [lists.pop()]
    reads = [t for part in lists for t in part]
    reads += [t for key, part in named.items() if not key.startswith("dsts") for t in part]
    writes = [t for part in targets for t in part]
    groups = [part for part in (*given, *options.values()) if isinstance(part, ReplicaGroup)]
    if len(reads) == len(writes) and any(group.is_alone for group in groups):
        for src, dst in zip(reads, writes, strict=True):
            ew.transfer(dst, src)
        return
    call = without_values("what arrives comes from other devices")
    moved("dma", reads, writes, call=call)


def rank(*settings: Any, **options: Any) -> Register:
    """Return the number of a device, which is known only when the kernel runs."""
    del settings, options
    return Register()


def names() -> dict[str, Any]:
    """Return every name of the collectives module."""
    return {
        **dict.fromkeys(_NAMES, collective),
        "collective_permute_implicit_current_processing_rank_id": rank,
        "rank_id": rank,
        "ReplicaGroup": ReplicaGroup,
    }


def _tensors(part: Any) -> Iterator[Tensor]:
    """Yield the tensors of lists of lists of tensors; settings have none."""
    if isinstance(part, Tensor):
        yield part
    elif isinstance(part, list | tuple):
        for inner in cast(Sequence[Any], part):
            yield from _tensors(inner)
