"""The timed machine: how long a synchronized program takes on a target. See docs/timing.md."""

from headway.sim.reference import simulate_ideal
from headway.sim.simulate import IMPLEMENTATIONS, LIMIT, simulate
from headway.sim.timeline import EngineTime, Site, Timed, Timeline, Track

__all__ = [
    "IMPLEMENTATIONS",
    "LIMIT",
    "EngineTime",
    "Site",
    "Timed",
    "Timeline",
    "Track",
    "simulate",
    "simulate_ideal",
]
