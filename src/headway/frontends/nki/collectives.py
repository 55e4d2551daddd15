"""Collective operations: transfers whose other ends are on other devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.calls import without_values
from headway.frontends.nki.keywords import checked
from headway.frontends.nki.objects import NKIObject
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, sequence
from headway.frontends.nki.transfers import moved

_OF_ALL = "srcs dsts replica_group replica_groups priority dtype"
_OF_IMPLICIT = "dsts_by_channel replica_group channel_ids priority"
_OF_RAGGED = f"{_OF_ALL} metadata_tensor recv_counts_known has_rdispls"
_KEYWORDS = {  # with those of older releases
    "all_gather": f"{_OF_ALL} collective_dim all_gather_dim op",
    "all_gather_v": _OF_RAGGED,
    "all_reduce": f"{_OF_ALL} op",
    "all_to_all": f"{_OF_ALL} collective_dim op",
    "all_to_all_v": _OF_RAGGED,
    "collective_permute": "srcs dsts src dst source_target_pairs priority",
    "collective_permute_implicit": f"srcs_by_channel {_OF_IMPLICIT}",
    "collective_permute_implicit_reduce": (f"srcs0_by_channel srcs1_by_channel op {_OF_IMPLICIT}"),
    "reduce_scatter": f"{_OF_ALL} collective_dim reduce_scatter_dim op",
}
_RANK = "collective_permute_implicit_current_processing_rank_id"


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
    targets = [found for key, found in named.items() if key.startswith("dst")] or [lists.pop()]
    reads = [t for part in lists for t in part]
    reads += [t for key, part in named.items() if not key.startswith("dst") for t in part]
    writes = [t for part in targets for t in part]
    groups = [part for part in (*given, *options.values()) if isinstance(part, ReplicaGroup)]
    if len(reads) == len(writes) and any(group.is_alone for group in groups):
        for src, dst in zip(reads, writes, strict=True):
            ew.transfer(dst, src)
        return
    call = without_values("what arrives comes from other devices")
    moved("dma", reads, writes, call=call)


def rank(iteration_id: Any = 0, replica_group: Any = None, channel_id: Any = 0) -> Register:
    """Return the number of a device, which is known only when the kernel runs."""
    del iteration_id, replica_group, channel_id
    return Register()


def rank_id(name: str = "") -> Register:
    """Return the number of this device, which is known only when the kernel runs."""
    del name
    return Register()


def names() -> dict[str, Any]:
    """Return every name of the collectives module."""
    return {
        **{name: checked(name, collective, known) for name, known in _KEYWORDS.items()},
        _RANK: checked(_RANK, rank),
        "rank_id": checked("rank_id", rank_id),
        "ReplicaGroup": ReplicaGroup,
    }


def _tensors(part: Any) -> Iterator[Tensor]:
    """Yield the tensors of lists of lists of tensors; settings have none."""
    if isinstance(part, Tensor):
        yield part
    elif isinstance(part, list | tuple):
        for inner in cast(Sequence[Any], part):
            yield from _tensors(inner)
