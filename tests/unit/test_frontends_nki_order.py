"""Nothing that a kernel orders gets lost: packaged kernels and random ones.

The comparison is by brute force and shares no code with the conversion. Two recorded operations
that touch a common element of the same tile, one of them writing, have to touch a common cell of
the program; and no two tiles that are needed at the same time share a slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from random_kernels import Writer

from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.packaged import KERNELS, PackagedKernel
from headway.frontends.nki.record import DeviceLoop, Op, Operand, PythonLoop, Storage, TraceNode
from headway.ir import parse, to_text, verify
from headway.ir.program import Program
from headway.spec.instances import Instance, instances

MOST_OPERATIONS = 400
DOCUMENT = Path(__file__).parents[2] / "docs" / "nki.md"


def recorded_operations(body: list[TraceNode]) -> Iterator[Op]:
    for node in body:
        if isinstance(node, Op):
            yield node
        elif isinstance(node, PythonLoop):
            for turn in node.iterations:
                yield from recorded_operations(turn)
        else:
            assert isinstance(node, DeviceLoop)
            raise AssertionError("the packaged kernels have no device loops")


def overlap(one: Operand, other: Operand) -> bool:
    if one.storage is not other.storage:
        return False
    if one.root != other.root:
        return True
    return all(a < d and c < b for (a, b), (c, d) in zip(one.box, other.box, strict=True))


def touched(op: Op) -> list[tuple[Operand, bool]]:
    return [(o, False) for o in op.reads] + [(o, True) for o in op.writes]


def conflicts(operations: list[Op]) -> Iterator[tuple[int, int]]:
    """Pairs of operations that have to stay in order."""
    uses: dict[Storage, list[tuple[int, Operand, bool]]] = defaultdict(list)
    for number, op in enumerate(operations):
        for operand, is_write in touched(op):
            uses[operand.storage].append((number, operand, is_write))
    for listed in uses.values():
        for (i, one, w1), (j, other, w2) in combinations(listed, 2):
            if i != j and (w1 or w2) and overlap(one, other):
                yield i, j


def share_a_cell(one: Instance, other: Instance) -> bool:
    written, again = set(one.writes), set(other.writes)
    return bool(written & again or written & set(other.reads) or set(one.reads) & again)


def check_order(trace: Trace, program: Program) -> None:
    operations = list(recorded_operations(trace.recorded))
    executed = list(instances(program, {}))
    assert len(operations) == len(executed)
    for i, j in conflicts(operations):
        assert share_a_cell(executed[i], executed[j]), (executed[i], executed[j])


def check_slots(trace: Trace, program: Program) -> None:
    operations = list(recorded_operations(trace.recorded))
    life: dict[Storage, tuple[int, int]] = {}
    home: dict[tuple[str, int], dict[Storage, None]] = defaultdict(dict)
    for number, (op, instance) in enumerate(zip(operations, instances(program, {}), strict=True)):
        for operand, _ in touched(op):
            first, _ = life.get(operand.storage, (number, number))
            life[operand.storage] = first, number
        for cell in instance.writes:
            (target,) = op.writes
            home[cell.buffer, cell.slot][target.storage] = None
    for tiles in home.values():
        for one, other in combinations(tiles, 2):
            assert life[one][1] < life[other][0] or life[other][1] < life[one][0], (one, other)


def check(trace: Trace) -> None:
    program = trace.program()
    verify(program)
    assert to_text(parse(to_text(program), "traced")) == to_text(program)
    if trace.recorded_operations <= MOST_OPERATIONS:
        check_order(trace, program)
        check_slots(trace, program)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.title)
def test_a_packaged_kernel_goes_all_the_way(kernel: PackagedKernel) -> None:
    if not kernel.is_installed():
        pytest.skip(f"{kernel.package} is not installed")
    trace = kernel.record()
    check(trace)
    counts = f"{trace.recorded_operations} | {trace.rolled_operations} |"
    assert f"| {kernel.package} | `{kernel.name}` | {counts} " in DOCUMENT.read_text()


def test_the_comparison_notices_a_lost_access() -> None:
    kernel = next(k for k in KERNELS if k.name == "matmul_kernel")
    if not kernel.is_installed():
        pytest.skip(f"{kernel.package} is not installed")
    trace = kernel.record()
    program = trace.program()
    text = to_text(program).replace("reads(c_sbuf[(m * 2 + n) % 4])", "reads(psum)")
    assert text != to_text(program)
    with pytest.raises(AssertionError):
        check_order(trace, parse(text, "broken"))


# ---- random kernels


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(40))
def test_a_random_kernel_keeps_its_order(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("\n".join([*Writer(seed).lines, ""]))
    x = ArgSpec.parse("float32[64,12]")
    check(record(path, "kernel", {"x": x}))
