"""Properties of the definitions that everything else is judged by, and of the random programs."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.check.generate import MAX_DEPTH, Shape, generate
from headway.cli.fuzz import synchronized
from headway.errors import UnsupportedByTarget
from headway.ir import parse, to_text, verify
from headway.ir.atoms import Atoms
from headway.ir.program import Access, Buffer, Engine, If, Instr, Loop, Program, Takes, While
from headway.ir.walk import branches, walk
from headway.spec import dependences, instances, is_ordered, required
from headway.strategies import names
from headway.sync import parse_sync
from headway.sync import to_text as sync_to_text

pytestmark = pytest.mark.property

SEEDS = range(200)
SHAPES = (Shape(), Shape(control_in_memory=True))


@pytest.mark.parametrize("shape", SHAPES, ids=("", "control-in-memory"))
def test_required_is_the_highest_position_among_the_dependences(shape: Shape):
    for seed in SEEDS:
        program, inputs = generate(seed, shape)[1:]
        highest: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        for before, after, _, _ in dependences(instances(program, inputs)):
            if not is_ordered(program, before.counter, after.engine, after.counter):
                positions = highest[after.counter, after.position]
                positions[before.counter] = max(positions[before.counter], before.position)
        for instance, needed in required(program, inputs):
            assert needed == highest[instance.counter, instance.position], (
                f"seed {seed}: {instance}"
            )


@pytest.mark.parametrize("shape", SHAPES, ids=("", "control-in-memory"))
def test_random_programs_survive_text(shape: Shape):
    for seed in SEEDS:
        program = generate(seed, shape).program
        verify(program)
        text = to_text(program)
        assert parse(text) == program, f"seed {seed}"
        assert to_text(parse(text)) == text


@pytest.mark.parametrize("shape", SHAPES, ids=("", "control-in-memory"))
@pytest.mark.parametrize("name", names())
def test_synchronized_random_programs_survive_text(name: str, shape: Shape):
    for seed in range(40):
        try:
            synced = synchronized(name, generate(seed, shape).program)
        except UnsupportedByTarget:
            continue
        text = sync_to_text(synced)
        assert parse_sync(text) == synced, f"seed {seed}"
        assert sync_to_text(parse_sync(text)) == text


def test_random_programs_have_everything_that_is_hard():
    seen: Counter[str] = Counter()
    for seed in range(300):
        case = generate(seed)
        program = case.program
        nodes = list(walk(program.body))
        counted = Counter(type(node) for node in nodes)
        seen["while"] += counted[While] > 0
        seen["if"] += counted[If] > 0
        seen["deepest"] += depth(program.body) == MAX_DEPTH
        seen["queue"] += any(isinstance(node, Instr) and node.queue for node in nodes)
        seen["pipelined"] += any(engine.pipelined for engine in program.engines)
        seen["rotating"] += any("%" in str(a.slot) for n in instrs(nodes) for a in n.reads)
        seen["overlap"] += any(a.box for n in instrs(nodes) for a in n.reads)
        run = {instance.node.name for instance in instances(program, case.inputs)}
        seen["not run"] += any(node.name not in run for node in instrs(nodes))
    assert {feature: count for feature, count in seen.items() if count < 60} == {}


def instrs(nodes):
    return [node for node in nodes if isinstance(node, Instr)]


def depth(body) -> int:
    inside = (branch for node in body for branch in branches(node))
    deepest = max(map(depth, inside), default=0)
    return deepest + any(isinstance(node, Loop | While | If) for node in body)


def interval(extent: int):
    return st.tuples(st.integers(0, extent - 1), st.integers(1, extent)).filter(
        lambda i: i[0] < i[1]
    )


def boxes(dimensions: int):
    return st.lists(st.tuples(*[interval(9)] * dimensions), min_size=1, max_size=8)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 3).flatmap(boxes))
def test_accesses_share_an_atom_exactly_if_their_boxes_overlap(found):
    accesses = [Access("b", 0, box) for box in found]
    instr = Instr("x", "A", None, tuple(accesses), (), Takes(1, 1))
    buffer = Buffer("b", 1, (9,) * len(found[0]))
    atoms = Atoms(Program("p", (instr,), (), (Engine("A"),), (), (buffer,)))
    for left, a in zip(accesses, found, strict=True):
        assert atoms.is_exact(left)
        for right, b in zip(accesses, found, strict=True):
            shared = bool(set(atoms.of(left)) & set(atoms.of(right)))
            overlap = all(max(p[0], q[0]) < min(p[1], q[1]) for p, q in zip(a, b, strict=True))
            assert shared == overlap
