"""Choose a simulator and run it."""

from __future__ import annotations

from headway import targets
from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.registry import unknown
from headway.sim import reference
from headway.sim.model import model
from headway.sim.names import check_names
from headway.sim.timeline import Timeline
from headway.sync.program import SyncProgram
from headway.targets.target import Target

ENGINES = ("auto", "reference", "compiled")
LIMIT = 50_000_000


def simulate(
    sync: SyncProgram,
    inputs: Inputs,
    target: Target | str | None = None,
    engine: str = "auto",
    *,
    limit: int = LIMIT,
    detail: bool = False,
) -> Timeline:
    """Run a synchronized program on `target`, by default the one that it was made for.

    `engine` is `reference` (plain Python), `compiled` (needs the extra `fast`) or `auto`: the
    reference for short runs, then the compiled one if it is installed. Both find the same times.
    `detail` records stalls and barriers too. `limit` bounds the instances and iterations.

    Raise InvalidInput on an input that does not fit or a run over the limit, InvalidProgram on a
    deadlock or an unknown name, UnsupportedByTarget on a queue that its engine cannot trigger.
    """
    if engine not in ENGINES:
        raise InvalidInput(unknown("simulator", engine, ENGINES))
    if target is None or isinstance(target, str):
        target = targets.load(target or sync.target)
    bound = model(sync.program, target)
    check_names(sync, bound)
    return reference.run(sync, bound, inputs, limit, detail, target.name)
