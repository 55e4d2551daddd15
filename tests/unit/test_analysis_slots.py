"""Do two slot expressions name the same slot?"""

from __future__ import annotations

import pytest

from headway.analysis.slots import Relation, relation
from headway.ir import parse
from headway.ir.expr import Expr
from headway.ir.program import Instr, Loop


def slot(text: str) -> Expr:
    loops = f"loop j 2 {{ loop i 2 {{ A p reads(b[{text}]) }} }}"
    program = parse(f"program @t {{ input n buffer b slots 99 {loops} }}")
    outer = program.body[0]
    assert isinstance(outer, Loop)
    inner = outer.body[0]
    assert isinstance(inner, Loop)
    instr = inner.body[0]
    assert isinstance(instr, Instr)
    return instr.reads[0].slot


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("0", "0", Relation.SAME),
        ("0", "1", Relation.APART),
        ("i", "i", Relation.SAME),
        ("i", "i + 1", Relation.APART),
        ("i % 2", "(i + 2) % 2", Relation.SAME),
        ("i % 2", "(i + 1) % 2", Relation.APART),
        ("(2 * i + 1) % 3", "(i + i + 1) % 3", Relation.SAME),
        ("(i + j) % 2", "(j + i) % 2", Relation.SAME),
        ("i % 2", "j % 2", Relation.UNKNOWN),
        ("i % 2", "i % 3", Relation.UNKNOWN),
        ("i % 2", "0", Relation.UNKNOWN),
        ("n % 2", "n % 2", Relation.SAME),
        ("n % 2", "(n + 1) % 2", Relation.UNKNOWN),
        ("i // 2", "i // 2", Relation.SAME),
        ("i // 2", "i // 2 + 1", Relation.UNKNOWN),
    ],
)
def test_slots_are_related(left: str, right: str, expected: Relation):
    assert relation(slot(left), slot(right)) is expected
    assert relation(slot(right), slot(left)) is expected
