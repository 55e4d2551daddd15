"""The state of random numbers, which an engine keeps from one instruction to the next.

A lane of an engine, one for each partition, has one generator of six words; a lane of the vector
engine has four, whose numbers are taken in turn. The generator is Marsaglia's xorwow, which the
public documentation names; how the vendor's engines seed it and begin is not public, so the
numbers are not theirs. They are the same in every order that keeps the order of each engine.
"""

from __future__ import annotations

from functools import cache

from headway.values.program import Linear, Memory, View

PARTITIONS = 128
WORDS = 6
"""Words of the state of one generator."""

ROLE = "random_state"
OPERATIONS = frozenset(
    {"dropout", "random_bits", "random_seed", "random_state_from", "random_state_to", "uniform"}
)
"""The operations that read or change the state of their engine."""

_SIZE = 4  # bytes of a word
_MASK = 0xFFFFFFFF


def words(engine: str) -> int:
    """Return how many words a lane of an engine keeps."""
    return 4 * WORDS if engine == "vector" else WORDS


def memory(engine: str) -> tuple[str, Memory]:
    """Return the state of an engine as a memory, and its name, which no buffer can have."""
    shape = (PARTITIONS, words(engine))
    return f"{engine} random state", Memory(1, shape, "uint32", "engine", seeded(0, shape[1]))


def view(engine: str, lanes: View | None, row: int) -> View:
    """Return the state of the lanes in whose partitions a view lies, or of all lanes.

    The memory of the view has `row` bytes in each partition.
    """
    width = words(engine) * _SIZE
    first, shape = Linear(), (PARTITIONS, words(engine))
    if lanes is not None:
        begin = lanes.offset.const + (lanes.starts[0] if lanes.starts else 0)
        factors = tuple(round(factor / row) * width for factor in lanes.offset.factors)
        first, shape = Linear(begin // row * width, factors), (lanes.shape[0], shape[1])
    return View(memory(engine)[0], Linear(), 1, first, "uint32", shape, (width, _SIZE))


@cache
def seeded(seed: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Return `count` words for each lane, all different, that follow from a seed."""
    return tuple(
        tuple(_mixed(_mixed(seed & _MASK) + lane * count + word + 1) for word in range(count))
        for lane in range(PARTITIONS)
    )


def _mixed(number: int) -> int:
    """Return a number in which every bit depends on every bit of another one."""
    number &= _MASK
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        number = (number ^ (number >> shift)) * factor & _MASK
    return number
