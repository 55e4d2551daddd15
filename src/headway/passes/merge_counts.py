"""Make one register of registers that always hold the same.

In     engine programs whose registers count signals, or keep positions
Out    the same with fewer registers and fewer operations: a register to which the same is added in
       the same places as to another one is that one; then so is a row that is set to the same
Keeps  every instance waits for the same counters and thresholds
Cost   linear in the engine programs

    loop i n {                                     loop i n {
      mm waits a >= shadow.a + 1,                    mm waits a >= shadow.a + 1,
               b >= shadow.b + 1             ->               b >= shadow.a + 1
      shadow.a := shadow.a + 1                       shadow.a := shadow.a + 1
      shadow.b := shadow.b + 1                     }
    }

All registers are 0 at first. Between the two additions nothing may be read: they stand in one group
of assignments, and no other assignment of the group between them reads one of the two. The same
goes for rows of registers that are set together: `access.a.x[i % 2]` and `access.b.x[i % 2]` are
one where a and b signal as often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from headway.ir.expr import Binary, Expr
from headway.ir.walk import deep_nests
from headway.passes._mentions import reads
from headway.passes._rewrite import mapped, with_values
from headway.sync.program import (
    Assign,
    EngineProgram,
    RegisterRef,
    SyncNode,
    SyncProgram,
    sync_branches,
)
from headway.sync.rewrite import Body, rewritten
from headway.targets.target import Target

Group = list[Assign]
"""Assignments right behind each other."""

Sum = tuple[int, Expr]
"""What is added to a register: in which group, and how much."""


def assignment_groups(body: Body) -> Iterator[Group]:
    """Yield all groups, in a fixed order."""
    for is_assign, nodes in groupby(body, lambda node: isinstance(node, Assign)):
        if is_assign:
            yield [node for node in nodes if isinstance(node, Assign)]
        else:
            for node in nodes:
                for inside in sync_branches(node):
                    yield from assignment_groups(inside)


def _added(node: Assign) -> Expr | None:
    """Return what an assignment adds to its register, if that is all and no register tells it."""
    match node.value:
        case Binary("+", RegisterRef() as register, added) if register == node.register:
            return None if reads(added) else added
        case _:
            return None


def _sums(groups: list[Group], names: set[str]) -> dict[str, tuple[Sum, ...]]:
    """Return all that is added to each of the registers to which things are added only."""
    found: defaultdict[str, list[Sum]] = defaultdict(list)
    others: set[str] = set()
    for number, group in enumerate(groups):
        for node in group:
            name, added = node.register.name, _added(node)
            if added is None or name not in names:
                others.add(name)
            else:
                found[name].append((number, added))
    return {name: tuple(sums) for name, sums in found.items() if name not in others}


def _is_apart(groups: list[Group], a: str, b: str) -> bool:
    """Tell whether nothing reads one of two registers between the additions to both."""
    for group in groups:
        places = [n for n, node in enumerate(group) if node.register.name in (a, b)]
        if len(places) not in (0, 2):
            return False  # added to twice: it is not clear which belong together
        between = group[places[0] + 1 : places[1]] if places else []
        if any({a, b} & reads(node.value, node.register.index) for node in between):
            return False
    return True


def _equal(engine: EngineProgram) -> dict[str, str]:
    """Return the registers that can be another one, with that one."""
    groups = list(assignment_groups(engine.body))
    single = {register.name for register in engine.registers if register.size == 1}
    firsts: dict[tuple[Sum, ...], str] = {}
    equal: dict[str, str] = {}
    for name, sums in _sums(groups, single).items():
        first = firsts.setdefault(sums, name)
        if first != name and _is_apart(groups, first, name):
            equal[name] = first
    return equal


Setting = tuple[int, Expr, Expr]
"""How a register is set: in which group, which one of a row, and to what."""


def _alike(engine: EngineProgram) -> dict[str, str]:
    """Return the rows that are always set together with another one and to the same, with that."""
    groups = list(assignment_groups(engine.body))
    sizes = {register.name: register.size for register in engine.registers}
    found: defaultdict[str, list[Setting]] = defaultdict(list)
    for number, group in enumerate(groups):
        for node in group:
            found[node.register.name].append((number, node.register.index, node.value))
    firsts: dict[tuple[int, tuple[Setting, ...]], str] = {}
    alike: dict[str, str] = {}
    for name, settings in found.items():
        if any(name in reads(index, value) for _, index, value in settings):
            continue  # it counts
        first = firsts.setdefault((sizes[name], tuple(settings)), name)
        if first != name and _is_apart(groups, first, name) and _is_steady(groups, first, name):
            alike[name] = first
    return alike


def _is_steady(groups: list[Group], a: str, b: str) -> bool:
    """Tell whether nothing that two registers are set to changes from the one to the other."""
    for group in groups:
        places = [n for n, node in enumerate(group) if node.register.name in (a, b)]
        if places:
            first, last = places
            used = reads(group[last].value, group[last].register.index)
            if any(node.register.name in used for node in group[first:last]):
                return False
    return True


def _of_engine(engine: EngineProgram) -> EngineProgram:
    counted = _merged(engine, _equal(engine))
    return _merged(counted, _alike(counted))


def _merged(engine: EngineProgram, equal: dict[str, str]) -> EngineProgram:
    if not equal:
        return engine

    def rename(expr: Expr) -> Expr | None:
        if isinstance(expr, RegisterRef) and expr.name in equal:
            return RegisterRef(equal[expr.name], mapped(expr.index, rename))
        return None

    def rule(node: SyncNode) -> Iterator[SyncNode]:
        if not (isinstance(node, Assign) and node.register.name in equal):
            yield with_values(node, rename)

    registers = tuple(r for r in engine.registers if r.name not in equal)
    return replace(engine, body=rewritten(engine.body, rule), registers=registers)


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """Keep one of several registers that always hold the same."""

    name: str = "merge-counts"
    description: str = "keep one of several registers that always hold the same"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with fewer registers. Never refuses a program."""
        with deep_nests():
            return replace(sync, engines=tuple(map(_of_engine, sync.engines)))


PASS = MergeCounts()
