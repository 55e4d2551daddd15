"""Values: what the instructions of a program compute, and memory to compute it in."""

from headway.values.program import Linear, Meaning, Memory, Traced, Values, View

__all__ = ["Linear", "Meaning", "Memory", "Traced", "Values", "View"]
