"""Make one register of the captures of slots that are always written together, or read together.

In     engine programs whose captures are rows of registers, one for each slot
Out    the same with shorter rows, and fewer waits and operations
Keeps  every instance waits for the same counters and thresholds, of several thresholds of one
       counter the largest
Cost   linear in the engine programs, times the divisors of the length of a row

    loop i n {                                      loop i n {
      mm waits q >= write.q.x[i % 4 * 2]              mm waits q >= write.q.x[i % 4]
      write.q.x[i % 4 * 2] := shadow.q        ->      write.q.x[i % 4] := shadow.q
      write.q.x[i % 4 * 2 + 1] := shadow.q          }
    }

A row is cut into blocks of equal width. If every assignment to one register of a block stands
beside assignments of the same value to all others, the block is one register. So it is if every
wait for one stands beside waits for all others: then it holds the largest. After a barrier
positions count anew and the largest is not the latest, so that the second rule has no use there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from headway.ir.expr import Binary, Expr
from headway.ir.walk import deep_nests
from headway.passes._mentions import reads
from headway.passes._places import Place, place
from headway.passes._rewrite import mapped, with_values
from headway.passes.merge_counts import Group, assignment_groups
from headway.sync.iterations import last_iterations
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Wait,
    Waits,
    walk_sync,
)
from headway.sync.rewrite import rewritten
from headway.targets.target import Target

Placing = Callable[[Expr], Place]
"""Where in its row an index is, for blocks of some width."""


@dataclass(slots=True)
class _Row:
    """Where one row of registers is set and waited for."""

    groups: list[tuple[Group, list[int]]] = field(default_factory=list[tuple[Group, list[int]]])
    waits: list[tuple[Wait, ...]] = field(default_factory=list[tuple[Wait, ...]])


def _waits_of(node: SyncNode) -> tuple[Wait, ...]:
    return node.waits if isinstance(node, Exec | Waits | Load) else ()


def _rows(engine: EngineProgram) -> dict[str, _Row]:
    """Return the rows that are set and waited for, and not read for anything else."""
    found = {register.name: _Row() for register in engine.registers if register.size > 1}
    others: set[str] = set()
    for group in assignment_groups(engine.body):
        places: defaultdict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(group):
            places[node.register.name].append(number)
            others |= reads(_operand(node), node.register.index)
        for name in places.keys() & found.keys():
            found[name].groups.append((group, places[name]))
    for node in walk_sync(engine.body):
        waits: defaultdict[str, list[Wait]] = defaultdict(list)
        for wait in _waits_of(node):
            if wait.threshold.register is not None:
                waits[wait.threshold.register.name].append(wait)
                others |= reads(wait.threshold.register.index)
        for name in waits.keys() & found.keys():
            found[name].waits.append(tuple(waits[name]))
        match node:
            case SyncLoop():
                others |= reads(node.trip)
            case SyncWhile() | SyncIf():
                others |= reads(node.condition)
            case _:
                pass
    return {name: row for name, row in found.items() if name not in others}


def _operand(node: Assign) -> Expr:
    """Return the value; of the larger of that and the register itself only the other one."""
    match node.value:
        case Binary("max", register, operand) if register == node.register:
            return operand
        case _:
            return node.value


def _is_kept(node: Assign) -> bool:
    """Tell whether a register stays as it is if it is larger."""
    return _operand(node) is not node.value


def _is_set_together(row: _Row, width: int, placing: Placing) -> bool:
    """Tell whether whole blocks are set to the same value at a time."""
    return all(len(numbers) % width == 0 for _, numbers in row.groups) and all(
        _is_block(group[numbers[i] : numbers[i + width - 1] + 1], width, placing)
        for group, numbers in row.groups
        for i in range(0, len(numbers), width)
    )


def _is_block(nodes: Group, width: int, placing: Placing) -> bool:
    """Tell whether what `nodes` set of the row of the first one is one block, to one value."""
    mine = [node for node in nodes if node.register.name == nodes[0].register.name]
    places = [placing(node.register.index) for node in mine]
    values = {
        (place.block, _operand(node), _is_kept(node))
        for place, node in zip(places, mine, strict=True)
    }
    numbers = {place.number for place in places}
    return (
        len(values) == 1
        and len(numbers) == width
        and None not in numbers
        and reads(_operand(mine[0]), mine[0].register.index).isdisjoint(
            node.register.name for node in nodes
        )
    )


def _is_read_together(row: _Row, width: int, placing: Placing) -> bool:
    """Tell whether who waits for one of a block waits for all."""
    for waits in row.waits:
        blocks: defaultdict[tuple[str, int, Expr], set[int | None]] = defaultdict(set)
        for wait in waits:
            assert wait.threshold.register is not None
            block, number = placing(wait.threshold.register.index)
            blocks[wait.counter, wait.threshold.offset, block].add(number)
        if any(None in numbers or len(numbers) < width for numbers in blocks.values()):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Merged:
    """A row whose blocks are one register each."""

    register: Register
    placing: Placing
    is_set_together: bool


class _Merging:
    """Rewrites one engine program with shorter rows."""

    def __init__(self, rows: Mapping[str, _Merged]) -> None:
        self._rows = rows

    def rule(self, node: SyncNode) -> Iterator[SyncNode]:
        """Yield what takes the place of a node."""
        row = self._rows.get(node.register.name) if isinstance(node, Assign) else None
        if row is None:
            yield _with_distinct_waits(with_values(node, self._rename))
            return
        assert isinstance(node, Assign)
        block, number = row.placing(node.register.index)
        register = RegisterRef(node.register.name, block)
        if not row.is_set_together:
            yield Assign(register, Binary("max", register, _operand(node)), node.at)
        elif number == 0:
            yield Assign(register, mapped(node.value, self._rename), node.at)

    def _rename(self, expr: Expr) -> Expr | None:
        if isinstance(expr, RegisterRef) and expr.name in self._rows:
            return RegisterRef(expr.name, self._rows[expr.name].placing(expr.index).block)
        return None


def _with_distinct_waits(node: SyncNode) -> SyncNode:
    match node:
        case Exec() | Waits() | Load():
            distinct = {(wait.counter, wait.threshold): wait for wait in node.waits}
            is_same = len(distinct) == len(node.waits)
            return node if is_same else replace(node, waits=tuple(distinct.values()))
        case SyncLoop() | SyncWhile() | SyncIf() if node.load:
            load = _with_distinct_waits(node.load)
            return node if load is node.load else replace(node, load=load)
        case _:
            return node


def _widths(size: int) -> Iterator[int]:
    """Yield the divisors of a size but 1, the largest first."""
    return (width for width in range(size, 1, -1) if size % width == 0)


def _placing(width: int, last: Mapping[str, int]) -> Placing:
    @cache
    def placing(index: Expr) -> Place:
        return place(index, width, last)

    return placing


def _merged(
    register: Register, row: _Row, last: Mapping[str, int], has_barriers: bool
) -> _Merged | None:
    """Return a row with blocks as wide as one of the two rules allows, if any."""
    for width in _widths(register.size):
        placing = _placing(width, last)
        is_set_together = _is_set_together(row, width, placing)
        if is_set_together or (not has_barriers and _is_read_together(row, width, placing)):
            shorter = Register(register.name, register.size // width)
            return _Merged(shorter, placing, is_set_together)
    return None


def _of_engine(engine: EngineProgram) -> EngineProgram:
    rows = _rows(engine)
    if not rows:
        return engine
    last = last_iterations(engine)
    has_barriers = any(isinstance(node, Barrier) for node in walk_sync(engine.body))
    merged = {
        register.name: found
        for register in engine.registers
        if register.name in rows
        and (found := _merged(register, rows[register.name], last, has_barriers))
    }
    if not merged:
        return engine
    registers = tuple(merged[r.name].register if r.name in merged else r for r in engine.registers)
    body = rewritten(engine.body, _Merging(merged).rule)
    return replace(engine, body=body, registers=registers)


@dataclass(frozen=True, slots=True)
class MergeSlots:
    """Keep one of the captures of slots that are always written, or waited for, together."""

    name: str = "merge-slots"
    description: str = "keep one capture of slots that are always written or read together"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with shorter rows. Never refuses a program."""
        with deep_nests():
            return replace(sync, engines=tuple(map(_of_engine, sync.engines)))


PASS = MergeSlots()
