"""How far the loops of an engine program go, where the program tells."""

from __future__ import annotations

from collections.abc import Mapping

from headway.sync.program import EngineProgram, SyncLoop, SyncWhile, walk_sync


def last_iterations(engine: EngineProgram) -> Mapping[str, int]:
    """Return the largest iteration of each loop, by name, where the program tells."""
    found: dict[str, int] = {}
    unknown: set[str] = set()
    for node in walk_sync(engine.body):
        match node:
            case SyncLoop(iteration=name, trip=int() as trip, first=first):
                found[name] = max(found.get(name, 0), first + trip - 1)
            case SyncLoop(iteration=name) | SyncWhile(iteration=name):
                unknown.add(name)
            case _:
                pass
    return {name: last for name, last in found.items() if name not in unknown}
