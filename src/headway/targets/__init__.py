"""Hardware as data, and the binding of programs to it."""

from headway.registry import Registry
from headway.targets.bind import bind
from headway.targets.figures import Count, Figure
from headway.targets.target import Target

REGISTRY = Registry[Target]("target", "headway.targets", "TARGET")
names = REGISTRY.names
load = REGISTRY.load

__all__ = ["REGISTRY", "Count", "Figure", "Target", "bind", "load", "names"]
