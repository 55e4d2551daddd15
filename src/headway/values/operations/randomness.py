"""Random numbers: each operation takes the state of its engine's lanes and gives the next one."""

from __future__ import annotations

from math import prod
from typing import Any

from headway.values.generators import ROLE, WORDS, seeded
from headway.values.numbers import as_float, np

_KEEPS_ALL = {f"{ROLE}.mask": None}  # a mask says what is written, and not who takes numbers
_STEP = np.uint32(362437)


def random_bits(shape: Any, random_state: Any) -> Any:
    """32 random bits for each element."""
    bits, after = _drawn(random_state, shape)
    return {"dst": bits, ROLE: after, **_KEEPS_ALL}


def uniform(shape: Any, random_state: Any, min: Any = 0.0, max: Any = 1.0) -> Any:
    """Random numbers from `min` on and below `max`."""
    found, after = _between_0_and_1(random_state, shape)
    low, high = as_float(min), as_float(max)
    return {"dst": low + (high - low) * found, ROLE: after, **_KEEPS_ALL}


def dropout(data: Any, prob: Any, random_state: Any) -> Any:
    """Elements become zero with that probability."""
    found, after = _between_0_and_1(random_state, data.shape)
    chance = np.asarray(as_float(prob))
    if chance.ndim:
        chance = chance.reshape(-1, *(1,) * (data.ndim - 1))
    kept = np.where(found < chance, np.zeros((), data.dtype), data)
    return {"dst": kept, ROLE: after, **_KEEPS_ALL}


def random_seed(src_seeds: Any, random_state: Any) -> Any:
    """The state that follows from one number."""
    words = random_state.shape[1]
    (seed,) = np.asarray(src_seeds).reshape(-1)[:1].astype(np.int64)
    return {ROLE: np.array(seeded(int(seed), words), np.uint32)}


def random_state_from(src_seeds: Any, random_state: Any) -> Any:
    """The state that was written down; a lane that is given fewer words keeps its others."""
    given = src_seeds.reshape(src_seeds.shape[0], -1)[:, : random_state.shape[1]]
    after = random_state.copy()
    after[:, : given.shape[1]] = given
    return {ROLE: after}


def random_state_to(shape: Any, random_state: Any) -> Any:
    """The state of each lane; what there is no word for is zero."""
    width = prod(shape[1:])
    found = np.zeros((shape[0], width), np.uint32)
    kept = random_state[:, :width]
    found[:, : kept.shape[1]] = kept
    return found.reshape(shape)


def _between_0_and_1(state: Any, shape: Any) -> tuple[Any, Any]:
    bits, after = _drawn(state, shape)
    return (bits >> np.uint32(8)).astype(np.float32) * np.float32(2**-24), after


def _drawn(state: Any, shape: Any) -> tuple[Any, Any]:
    """Return random bits for the elements of each lane, and the state after them."""
    lanes, count = shape[0], prod(shape[1:])
    x, y, z, w, v, d = np.moveaxis(state.reshape(lanes, -1, WORDS), 2, 0).copy()
    rounds = -(-count // x.shape[1])
    found = np.empty((lanes, rounds, x.shape[1]), np.uint32)
    for turn in range(rounds):
        t = x ^ (x >> np.uint32(2))
        x, y, z, w = y, z, w, v
        v = (v ^ (v << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
        d = d + _STEP
        found[:, turn] = d + v
    after = np.stack((x, y, z, w, v, d), axis=2).reshape(state.shape)
    return found.reshape(lanes, -1)[:, :count].reshape(shape), after


OPERATIONS = {
    f.__name__: f
    for f in (
        dropout,
        random_bits,
        random_seed,
        random_state_from,
        random_state_to,
        uniform,
    )
}
