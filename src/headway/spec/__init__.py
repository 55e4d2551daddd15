"""The definition of correct and minimal synchronization. It imports nothing that it judges."""

from headway.spec.dependences import Dependence, dependences
from headway.spec.instances import Cell, Instance, Readers, instances, readers_inside
from headway.spec.machine import Issue, ideal
from headway.spec.required import is_ordered, required

__all__ = [
    "Cell",
    "Dependence",
    "Instance",
    "Issue",
    "Readers",
    "dependences",
    "ideal",
    "instances",
    "is_ordered",
    "readers_inside",
    "required",
]
