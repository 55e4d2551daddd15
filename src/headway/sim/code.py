"""What engine programs are lowered to: the rows of `headway.code`, and rows that take time.

The records of `headway.sim.records` lie in front of the values.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.code.rows import OWN, Rows
from headway.errors import Location
from headway.sim.timeline import Site

# Rows that take time, like TURN and NEXT: the last operand says how many ps more, spent on
# synchronization, when they are done.
SPEND = OWN
AWAIT = OWN + 1  # wait for the counter at a to reach memory[b] + c
COMPUTE = OWN + 2  # issue the instruction at a; it is site b, with d iteration numbers as c lists
TRANSFER = OWN + 3  # trigger the instruction at a, likewise
READ = OWN + 4  # load a control value, counted by the counter at a, likewise
GIVE = OWN + 5  # spend c ps; add a token to the flag at a when what b has issued is complete
MEET = OWN + 6  # a barrier
END = OWN + 7


@dataclass(slots=True)
class Code(Rows):
    """Rows with the places of those that may stand still, and the sites that instances name."""

    places: dict[int, Location | None] = field(default_factory=dict[int, Location | None])
    sites: list[Site] = field(default_factory=list[Site])
