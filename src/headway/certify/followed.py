"""Which registers a certificate follows: those that waits compare with, and their sources."""

from __future__ import annotations

from headway.certify.state import Key
from headway.certify.statement import Statement, steps_in


def followed(statement: Statement) -> list[Key]:
    """Return the registers and numbers that waits compare with, and those they come from."""
    found: set[tuple[str, str, str]] = set()
    waiting: list[tuple[str, str, str]] = []
    sources: dict[tuple[str, str], set[str]] = {}
    for engine, steps in statement.engines.items():
        for step in steps_in(steps):
            for wait in step.waits:
                if wait.value.register:
                    waiting.append((engine, wait.value.register, wait.counter))
                elif isinstance(wait.value.rest, int) and wait.value.rest:
                    found.add(("", str(wait.value.rest), wait.counter))
            if step.kind == "assign":
                used = {value.register for value in step.values if value.register}
                sources.setdefault((engine, step.name), set()).update(used)
    while waiting:
        engine, name, q = waiting.pop()
        if (engine, name) in statement.registers and (engine, name, q) not in found:
            found.add((engine, name, q))
            waiting += [(engine, source, q) for source in sources.get((engine, name), ())]
    return [
        (engine, name, place, q)
        for engine, name, q in sorted(found)
        for place in range(statement.registers.get((engine, name), 1))
    ]
