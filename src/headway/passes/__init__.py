"""Small steps from engine programs to engine programs: one file each, each legal alone."""

from headway.passes.sync_pass import SyncPass
from headway.registry import Registry

REGISTRY = Registry[SyncPass]("pass", "headway.passes", "PASS")
names = REGISTRY.names
load = REGISTRY.load

__all__ = ["REGISTRY", "SyncPass", "load", "names"]
