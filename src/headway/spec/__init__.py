"""The definition of correct and minimal synchronization. It imports nothing that it judges."""

from headway.spec.dependences import Dependence, dependences
from headway.spec.instances import (
    MAX_INSTANCES,
    Cell,
    Instance,
    Readers,
    instances,
    negative_trip,
    no_slot,
    over_limit,
    readers_inside,
)
from headway.spec.machine import Issue, ideal
from headway.spec.required import is_fused, is_ordered, required
from headway.spec.signals import Signals, is_silent

__all__ = [
    "MAX_INSTANCES",
    "Cell",
    "Dependence",
    "Instance",
    "Issue",
    "Readers",
    "Signals",
    "dependences",
    "ideal",
    "instances",
    "is_fused",
    "is_ordered",
    "is_silent",
    "negative_trip",
    "no_slot",
    "over_limit",
    "readers_inside",
    "required",
]
