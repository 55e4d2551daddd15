"""Options of a strategy: what can be switched off, for study."""

from __future__ import annotations

from dataclasses import field, fields, is_dataclass


def option(description: str) -> bool:
    """Return the field of an option, for a dataclass; `description` is one line for lists."""
    return field(default=True, metadata={"option": description})


def options(strategy: object) -> dict[str, str]:
    """Return the options of a strategy by name, with their descriptions."""
    if not is_dataclass(strategy):
        return {}
    found = ((f.name, f.metadata.get("option")) for f in fields(strategy))
    return {name: str(text) for name, text in found if text is not None}
