"""The scenarios T1-T28 and H1-H5: what they require, by the definition and by their formulas.

The verdicts are compared in tests/acceptance/test_scenarios.py; this is what they rest on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from effort import effort
from expectations import Positions, cases

from headway.bench import scenarios
from headway.bench.shapes import shape
from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import synchronize
from headway.errors import InvalidInput
from headway.ir import parse
from headway.ir.expr import Binary, Inputs
from headway.ir.program import Access, Buffer, If, Instr, Node, Program
from headway.ir.walk import walk
from headway.sim import simulate
from headway.spec import required
from headway.strategies import load
from headway.sync import parse_any
from headway.sync.expand import expand
from headway.sync.program import SyncLoop, SyncProgram, walk_sync
from headway.targets import bind
from headway.targets.generic import TARGET
from headway.targets.limits import limited

FOLDER = Path(__file__).parents[1] / "data" / "scenarios"
FILES = sorted(FOLDER.glob("*.hwy"))
SEQUENTIAL = [path for path in FILES if "." not in path.stem]
BY_HAND = [path for path in FILES if "." in path.stem and "one-token" not in path.stem]
TABLE = scenarios.read(FOLDER)


def named(path: Path) -> str:
    return path.stem


def needs(program: Program, inputs: Inputs) -> dict[str, list[Positions]]:
    found: defaultdict[str, list[Positions]] = defaultdict(list)
    for instance, needed in required(bind(program, TARGET), inputs):
        found[instance.node.name].append(needed)
    return dict(found)


def waits(synced: SyncProgram, inputs: Inputs) -> list[tuple[str, int]]:
    """Return the counters and thresholds of all executed waits."""
    events = (event for events in expand(synced, inputs).values() for event in events)
    return [(wait.counter, wait.threshold) for event in events for wait in event.waits]


def test_every_scenario_is_there() -> None:
    ids = [f"T{k}" for k in range(1, 29)] + [f"H{k}" for k in range(1, 6)]
    assert [scenario.id for scenario in TABLE] == ids
    assert all(scenario.rows for scenario in TABLE)


def test_every_file_is_judged() -> None:
    judged = {row.program for scenario in TABLE for row in scenario.rows}
    assert {path.name for path in FILES} - judged == set()


@pytest.mark.parametrize("path", SEQUENTIAL, ids=named)
def test_definition_requires_what_was_derived_by_hand(path: Path) -> None:
    text = path.read_text()
    program = parse(text, path.name)
    found = cases(text, program)
    assert found
    for case in found:
        listed = needs(program, case.inputs)
        assert {name: list_ for name, list_ in listed.items() if any(list_)} == case.expected


@pytest.mark.parametrize("path", BY_HAND, ids=named)
def test_variant_is_of_the_same_program(path: Path) -> None:
    synced = parse_any(path.read_text(), path.name)
    base = FOLDER / f"{path.stem.partition('.')[0]}.hwy"
    assert isinstance(synced, SyncProgram)
    assert synced.program == bind(parse(base.read_text(), base.name), TARGET)


@pytest.mark.parametrize("slots", [1, 2, 3, 8, 9, 64])
def test_write_into_a_ring_requires_the_read_of_as_many_iterations_ago(slots: int) -> None:  # T5
    found = needs(shape("rotation", slots=slots), {"n": 70})
    assert found["fill"] == [{"vector": i - slots + 1} if i >= slots else {} for i in range(70)]
    assert found["use"] == [{"scalar": i + 1} for i in range(70)]


@pytest.mark.parametrize("width", [7, 8, 9, 12, 30, 300])
def test_fan_out_takes_one_counter_and_as_many_thresholds_as_reads(width: int) -> None:  # T9
    program = shape("fan-out", width=width)
    found = needs(program, {"n": 0})
    assert [found[f"use{k}"] for k in range(width)] == [[{"scalar": k + 1}] for k in range(width)]
    executed = waits(synchronize(program, TARGET, "counted"), {"n": 0})
    assert executed == [("scalar", k + 1) for k in range(width)]


def test_engine_that_has_nothing_in_a_loop_counts_without_walking_it() -> None:  # T17
    path = FOLDER / "t17-asymmetric-loops.hwy"
    synced = synchronize(parse(path.read_text(), path.name), TARGET, "counted")
    walked = [n.iteration for n in walk_sync(synced.engine("C").body) if isinstance(n, SyncLoop)]
    assert "j" not in walked
    assert sorted(waits(synced, {"n": 3, "m": 4})) == [("A", 3), ("B", 12)]


def moved(node: Node, names: dict[str, str], slots: dict[str, int], by: int) -> Node:
    """Rename buffers, and shift the slots of each by the same number."""

    def access(old: Access) -> Access:
        slot = Binary("%", Binary("+", old.slot, by), slots[old.buffer])
        return replace(old, buffer=names[old.buffer], slot=slot if by else old.slot)

    if isinstance(node, Instr):
        return replace(
            node,
            reads=tuple(map(access, node.reads)),
            writes=tuple(map(access, node.writes)),
        )
    if isinstance(node, If):
        then, orelse = (
            tuple(moved(inner, names, slots, by) for inner in body)
            for body in (node.then, node.orelse)
        )
        return replace(node, then=then, orelse=orelse)
    return replace(node, body=tuple(moved(inner, names, slots, by) for inner in node.body))


@pytest.mark.thorough
@pytest.mark.parametrize("by", [0, 1])
def test_other_names_and_slots_leave_the_synchronization_as_it_is(by: int) -> None:  # T25
    for seed in range(8):
        case = generate(seed, Shape(instructions=10, instances=100))
        program = case.program
        ordered = sorted(buffer.name for buffer in program.buffers)
        names = dict(zip(ordered, (f"other{name}" for name in reversed(ordered)), strict=True))
        slots = {buffer.name: buffer.slots for buffer in program.buffers}
        buffers: tuple[Buffer, ...] = tuple(
            replace(buffer, name=names[buffer.name]) for buffer in reversed(program.buffers)
        )
        body = tuple(moved(node, names, slots, by) for node in program.body)
        other = replace(program, buffers=buffers, body=body)
        assert any(isinstance(node, Instr) for node in walk(other.body))
        first, second = (synchronize(p, TARGET, "counted") for p in (program, other))
        verdicts = [check(synced, case.inputs) for synced in (first, second)]
        assert [verdict.verdict for verdict in verdicts] == ["exact", "exact"], f"seed {seed}"
        if not by:
            assert waits(first, case.inputs) == waits(second, case.inputs), f"seed {seed}"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["t06-two-slots-live", "t08-slot-of-inner-index", "t25-base"])
def test_fewer_registers_are_never_faster_and_never_early(name: str) -> None:  # T19
    path = FOLDER / f"{name}.hwy"
    program = parse(path.read_text(), path.name)
    inputs = {"n": 6, "m": 3, "k": [3, 1, 2]}
    latencies: list[float] = []
    for registers in range(6):
        synced = synchronize(program, limited(TARGET, {"registers": registers}), "counted")
        assert check(synced, inputs).verdict in ("exact", "late")
        assert max(sum(r.size for r in e.registers) for e in synced.engines) <= registers
        latencies.append(simulate(synced, inputs, TARGET).latency)
    assert latencies == sorted(latencies, reverse=True)
    assert latencies[0] > latencies[-1]


def work(name: str, **params: int) -> float:
    """Return how much work it is to synchronize a shape, for each one of its parameter."""
    program = bind(shape(name, **params), TARGET)
    (size,) = params.values()
    return effort(lambda: load("counted").synchronize(program, TARGET)) / size


@pytest.mark.thorough
def test_work_grows_with_the_size_and_no_faster() -> None:  # T27
    assert work("line", size=1600) < 1.02 * work("line", size=200)


@pytest.mark.thorough
def test_work_for_each_level_of_a_nest_grows_with_the_depth_at_most() -> None:  # T27
    assert work("nest", depth=12) < 3.2 * work("nest", depth=4)


def test_unknown_shapes_and_parameters_are_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown shape 'ring'"):
        shape("ring", slots=2)
    with pytest.raises(InvalidInput, match="shape 'nest' has the parameter 'depth'"):
        shape("nest", slots=2)
