"""How much work a call is: counted, so that it is the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType


def effort(call: Callable[[], object]) -> int:
    """Return how many functions are called, Python's own included."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return calls
