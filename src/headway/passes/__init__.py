"""Small steps from engine programs to engine programs: one file each, each legal alone."""

from headway.passes.pipeline import ORDER, chosen, run
from headway.passes.sync_pass import ConcedingPass, Concession, SyncPass
from headway.registry import Registry

REGISTRY = Registry[SyncPass]("pass", "headway.passes", "PASS")
names = REGISTRY.names
load = REGISTRY.load

__all__ = [
    "ORDER",
    "REGISTRY",
    "ConcedingPass",
    "Concession",
    "SyncPass",
    "chosen",
    "load",
    "names",
    "run",
]
