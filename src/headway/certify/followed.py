"""Which registers a certificate follows: those that waits compare with, and their sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headway.certify.cases import alternatives
from headway.certify.state import Key, linear, names
from headway.certify.statement import Statement, steps_in


def followed(statement: Statement) -> list[Key]:
    """Return the registers and numbers that waits compare with, and those they come from."""
    found: set[tuple[str, str, str]] = set()
    waiting: list[tuple[str, str, str]] = []
    sources: dict[tuple[str, str], set[str]] = {}
    for engine, steps in statement.engines.items():
        for step in steps_in(steps):
            for wait in step.waits:
                if wait.register:
                    waiting.append((engine, wait.register, wait.counter))
                elif wait.offset:
                    found.add(("", str(wait.offset), wait.counter))
            if step.kind == "assign":
                used = {name for atom, _ in linear_all(step.value) for name in names(atom)}
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


def linear_all(value: Any) -> Iterator[tuple[str, int]]:
    """Yield the terms of everything that a maximum is taken of."""
    for each in alternatives(value):
        yield from linear(each)
