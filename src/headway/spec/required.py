"""What each instance has to wait for: the definition that everything else is judged by.

An instance depends on every earlier instance that touches one of its cells, if one of the two
writes it. On one counter completions come in order, so all its dependences there are one number:
the largest position among them.

    required(instance, q) = max { position(before) | instance depends on before, before is on q }

An instance may issue as soon as every counter q has reached required(instance, q), and not before.
The hardware runs a region in order: instances of one region need not wait for each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from headway.ir.expr import Inputs
from headway.ir.program import Instr, Program, control_counter
from headway.spec.instances import MAX_INSTANCES, Cell, Instance, Readers, instances, readers_inside

Positions = dict[str, int]


def required(
    program: Program,
    inputs: Inputs,
    readers: Readers = readers_inside,
    limit: int = MAX_INSTANCES,
) -> Iterator[tuple[Instance, Positions]]:
    """Yield every instance, in sequential order, with what it requires: counter to position.

    Counters that it need not wait for are left out. Raise InvalidInput as `instances` does.
    """
    last_write: defaultdict[Cell, Positions] = defaultdict(dict)
    last_access: defaultdict[Cell, Positions] = defaultdict(dict)
    start: dict[str, int] = {}  # by counter: where its region begins
    for instance in instances(program, inputs, readers, limit):
        if not is_fused(instance):
            start[instance.counter] = instance.position
        own = instance.counter, start[instance.counter]
        needed: Positions = {}
        for cell in instance.reads:
            _join(needed, last_write[cell], own)  # RAW
        for cell in instance.writes:
            _join(needed, last_access[cell], own)  # WAR and WAW
        for q in list(needed):
            if is_ordered(program, q, instance.engine, instance.counter):
                del needed[q]
        yield instance, needed
        for cell in instance.reads + instance.writes:
            last_access[cell][instance.counter] = instance.position
        for cell in instance.writes:
            last_write[cell][instance.counter] = instance.position


def is_ordered(program: Program, before: str, engine: str, counter: str) -> bool:
    """Tell whether an instance on `counter`, hosted by `engine`, follows those on `before` anyway.

    It does if the counter is its own and serial, and if they are control reads of its own engine:
    the sequencer stands still until a load is done.
    """
    return before == control_counter(engine) or (before == counter and before in program.serial)


def is_fused(instance: Instance) -> bool:
    """Tell whether an instance belongs to the region of the one before it on its counter."""
    return isinstance(instance.node, Instr) and instance.node.fused


def _join(into: Positions, other: Positions, own: tuple[str, int]) -> None:
    """Add positions, without those of the own region: what they depend on comes before them."""
    for q, position in other.items():
        if q != own[0] or position < own[1]:
            into[q] = max(into.get(q, 0), position)
