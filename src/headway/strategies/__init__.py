"""The ways to synchronize: one file each, independent of each other."""

from headway.registry import Registry
from headway.strategies.strategy import Strategy

REGISTRY = Registry[Strategy]("strategy", "headway.strategies", "STRATEGY")
names = REGISTRY.names
load = REGISTRY.load

__all__ = ["REGISTRY", "Strategy", "load", "names"]
