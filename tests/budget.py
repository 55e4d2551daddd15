"""How many random programs a property test tries."""

import os

PROGRAMS = int(os.environ.get("HEADWAY_PROGRAMS", "300"))


def programs(one_in: int = 1, least: int = 1) -> int:
    """Return HEADWAY_PROGRAMS (300 by default) divided by `one_in`, for tests that take longer."""
    return max(least, PROGRAMS // one_in)
