"""The compiled judge: what signals tell, and findings.

It does what `headway.check.knowledge` does, on the arrays that `headway.check.fast.kernel` names.
"""

from __future__ import annotations

from headway.check.fast.records import (
    ABOUT,
    BY,
    COUNT,
    F_COUNTER,
    F_ENGINE,
    F_NAME,
    F_NUMBER,
    F_POSITION,
    F_ROW,
    FOUND,
    FOUND_WIDTH,
    FROM,
    GOT,
    KIND,
    N_COUNTERS,
    N_PLACES,
    NAME,
    NUMBER,
    PLACE,
    REQUIRED,
    ROOM,
    TOLD,
    WANTED,
    WIDTH_TOLD,
)
from headway.code.arrays import Ints, Longs
from headway.code.steps import at, called, compiled


@called
def join(m: Longs, told: Ints, vector: int, counter: int, position: int) -> None:
    """Add to a vector what a signal tells; it is kept as long as somebody may not know it."""
    if position <= m[at(vector + m[at(counter + PLACE)])]:
        return
    number = position - 1 - m[at(counter + FROM)]
    here = m[at(counter + TOLD)] + number * m[at(counter + WIDTH_TOLD)]
    for k in range(m[N_PLACES]):
        m[at(vector + k)] = max(m[at(vector + k)], told[at(here + k)])


@compiled
def copy(m: Longs, to: int, vector: int) -> None:
    for k in range(m[N_PLACES]):
        m[at(to + k)] = m[at(vector + k)]


@compiled
def has_room(m: Longs, counter: int) -> bool:
    return m[at(counter + COUNT)] - m[at(counter + FROM)] < m[at(counter + ROOM)]


@called
def signal(m: Longs, told: Ints, counter: int, vector: int) -> int:
    """Add a signal that tells a vector and what the signal before told; return where."""
    count, width = m[at(counter + COUNT)], m[at(counter + WIDTH_TOLD)]
    here = m[at(counter + TOLD)] + (count - m[at(counter + FROM)]) * width
    for k in range(m[N_PLACES]):
        known = m[at(vector + k)]
        if count > 0:
            known = max(known, told[at(here - width + k)])
        told[at(here + k)] = known
    told[at(here + m[at(counter + PLACE)])] = count + 1
    m[at(counter + COUNT)] = count + 1
    return here


@called
def find(
    m: Longs, found: Longs, kind: int, engine: int, row: int, about: int, got: int, wanted: int
) -> int:
    """Add a finding that is about no instance; return where it lies."""
    here = m[FOUND] * FOUND_WIDTH
    m[FOUND] += 1
    found[at(here + KIND)] = kind
    found[at(here + F_NUMBER)] = 0
    found[at(here + F_ENGINE)] = engine
    found[at(here + F_ROW)] = row
    found[at(here + ABOUT)] = about
    found[at(here + GOT)] = got
    found[at(here + WANTED)] = wanted
    found[at(here + BY)] = 0
    return here


@called
def of_instance(m: Longs, found: Longs, needs: Ints, here: int, counter: int, need: int) -> None:
    """Say which instance a finding is about."""
    found[at(here + F_NUMBER)] = needs[at(need + NUMBER)]
    found[at(here + F_NAME)] = needs[at(need + NAME)]
    found[at(here + F_COUNTER)] = counter
    found[at(here + F_POSITION)] = m[at(counter + COUNT)] + 1


@compiled
def allowed(m: Longs, needs: Ints, need: int, place: int) -> int:
    """Return how far an instance may wait for a counter: what it requires, without followers."""
    required = needs[at(need + REQUIRED + place)]
    if place >= m[N_COUNTERS] or needs[at(need + NAME)] % 2 or required % 2 == 0:
        return 0
    return required // 2
