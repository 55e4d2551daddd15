"""The type of the `cli` fixture."""

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Result]
