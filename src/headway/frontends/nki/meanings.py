"""What the instructions of a program compute: views and numbers as functions of their iterations.

In a trace a loop is named by its level; here an instruction's loops are counted from the outermost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from headway.frontends.nki import literals
from headway.frontends.nki.affine import Number, Sym, const_of, terms_of
from headway.frontends.nki.literals import Array
from headway.frontends.nki.record import Storage
from headway.frontends.nki.reroll import RolledOp
from headway.frontends.nki.slots import Home, located, whole
from headway.values import accumulators, generators
from headway.values import program as values
from headway.values.program import Linear, Meaning, Memory, Values, View


class Placed(NamedTuple):
    """An instruction with its operation, the levels of the loops around it, and who runs it."""

    name: str
    node: RolledOp
    levels: tuple[int, ...]
    engine: str


def values_of(
    placed: Sequence[Placed],
    homes: Mapping[int, Home],
    arguments: Mapping[str, Storage],
    results: Sequence[Storage],
) -> Values:
    """Return what a program computes. An argument that is never used has no memory."""
    meanings = {p.name: _Instruction(p, homes).meaning() for p in placed}
    return Values(
        meanings,
        _memories(homes.values()) | _accumulators(meanings.values()) | _random_states(placed),
        {name: homes[s.site].memory()[0] for name, s in arguments.items() if s.site in homes},
        tuple(
            homes[s.site].view("", whole(s), lambda value: Linear(const_of(value)))
            for s in results
            if s.site in homes
        ),
        frozenset(name for name, s in arguments.items() if s.site not in homes),
    )


def _memories(homes: Iterable[Home]) -> dict[str, Memory]:
    """Return the memories by name.

    Several homes may share one: the first, which is the widest, describes it, and it has the
    partitions of the tallest.
    """
    found: dict[str, Memory] = {}
    for home in homes:
        name, memory = home.memory()
        first = found.setdefault(name, memory)
        if memory.shape and memory.shape[0] > first.shape[0]:
            found[name] = replace(first, shape=(memory.shape[0], *first.shape[1:]))
    return found


def _accumulators(meanings: Iterable[Meaning]) -> dict[str, Memory]:
    """Return what engines keep, of those that some instruction uses."""
    used = {m.operation: None for m in meanings if accumulators.ROLE in m.writes}
    return dict(accumulators.memory(accumulators.ENGINES[operation]) for operation in used)


def _random_states(placed: Iterable[Placed]) -> dict[str, Memory]:
    """Return the states of random numbers, of engines that make some."""
    made = {p.engine for p in placed if p.node.kind.means.operation in generators.OPERATIONS}
    return dict(generators.memory(engine) for engine in sorted(made))


class _Instruction:
    def __init__(self, placed: Placed, homes: Mapping[int, Home]) -> None:
        self._node = placed.node
        self._engine = placed.engine
        self._homes = homes
        self._position = {level: n for n, level in enumerate(placed.levels)}

    def meaning(self) -> Meaning:
        kind = self._node.kind
        means = kind.means
        words = dict(means.settings)
        reason = "" if means.operation else words.pop("reason", "")
        views = dict(self._views(means.roles)) if means.operation else {}
        names = means.roles[: kind.reads]
        reads = {role: view for role, view in views.items() if role in names}
        writes = {role: view for role, view in views.items() if role not in names}
        engine = accumulators.ENGINES.get(means.operation)
        if engine == "scalar" and "reduce_cmd" not in words and "reduce_res" not in writes:
            engine = None
        if engine:
            kept = accumulators.view(engine, writes["dst"], self._row("dst"))
            reads[accumulators.ROLE] = writes[accumulators.ROLE] = kept
        if means.operation in generators.OPERATIONS:
            self._add_random_state(means.operation, reads, writes)
        return Meaning(
            means.operation,
            reads,
            writes,
            {
                name: self._literal(literal)
                for name, literal in zip(means.literals, self._node.literals, strict=True)
            },
            words,
            kind.at,
            reason,
        )

    def _add_random_state(
        self, operation: str, reads: dict[str, View], writes: dict[str, View]
    ) -> None:
        """Let it read the state of its lanes, and write it unless it only copies it."""
        role = "dst" if "dst" in writes else "src_seeds"
        lanes = None if operation == "random_seed" else {**reads, **writes}[role]
        kept = generators.view(self._engine, lanes, self._row(role))
        reads[generators.ROLE] = kept
        if operation != "random_state_to":
            writes[generators.ROLE] = kept

    def _row(self, role: str) -> int:
        """Return the bytes in each partition of the memory that an operand lies in."""
        operand = self._node.kind.means.roles.index(role)
        home = self._homes[self._node.origin.operands[operand].storage.site]
        return home.memory()[1].row

    def _views(self, roles: Sequence[str]) -> Iterator[tuple[str, View]]:
        for role, access in zip(roles, located(self._node), strict=True):
            home = self._homes[access.operand.storage.site]
            yield role, home.view(role, access, self._linear)

    def _linear(self, value: Number) -> Linear:
        factors = [0] * len(self._position)
        for level, factor in terms_of(value):
            factors[self._position[level]] = factor
        return Linear(const_of(value), tuple(factors))

    def _literal(self, literal: Any) -> Any:
        match literal:
            case literals.PerTurn():
                position = self._position[literal.level]
                return values.PerIteration(position, tuple(map(self._literal, literal.values)))
            case literals.NotFirst():
                return values.NotFirst(tuple(self._position[level] for level in literal.levels))
            case Sym():
                return self._linear(literal)
            case Array():
                return literal.values
            case _:
                return literal
