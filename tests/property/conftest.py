"""How many random programs the property tests try: HEADWAY_PROGRAMS, 300 by default."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "property: random programs, HEADWAY_PROGRAMS of them")
