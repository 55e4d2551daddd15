"""Names for what a program declares: unique, and never a word of the language."""

from __future__ import annotations

import re

from headway.ir.names import WORDS


class Namer:
    """Hands out names; all of a program's things share one name space here."""

    def __init__(self) -> None:
        self._taken: set[str] = set(WORDS)
        self._next: dict[str, int] = {}

    def unique(self, wish: str) -> str:
        """Return the wished name, with a number if it is taken."""
        base = plain(wish)
        if base not in self._taken:
            self._taken.add(base)
            return base
        number = self._next.get(base, 2)
        while f"{base}_{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        self._taken.add(f"{base}_{number}")
        return f"{base}_{number}"

    def is_taken(self, name: str) -> bool:
        """Tell whether a name was handed out, or is a word of the language."""
        return name in self._taken


def plain(text: str) -> str:
    """Return text as a name: letters, digits and `_`."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"x_{name}"
