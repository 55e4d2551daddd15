"""Count the mutants of one synchronized program that the judge misses."""

from __future__ import annotations

from collections import Counter

from headway.check.fuzz import Times
from headway.check.mutate import mutants
from headway.check.trial import Fate, Trial
from headway.ir.expr import Inputs
from headway.sim import simulate
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET


def fates(synced: SyncProgram, inputs: Inputs) -> Counter[Fate]:
    """Return how many mutants are caught, are equivalent, and are missed."""
    trial = Trial(synced, inputs, _times, seed=0)
    return Counter(trial.fate(mutant)[0] for mutant in mutants(synced))


def _times(synced: SyncProgram, inputs: Inputs) -> Times:
    timeline = simulate(synced, inputs, TARGET)
    return {track.counter: [(t.issue, t.done) for t in track] for track in timeline.tracks}
