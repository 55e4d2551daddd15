"""Atoms: which parts of a slot accesses share."""

from __future__ import annotations

import pytest
from effort import effort

from headway.ir import parse
from headway.ir.atoms import MAX_CELLS, Atoms, static_box
from headway.ir.program import Access, Buffer, Engine, Instr, Program


def atoms(body: str) -> tuple[Atoms, dict[str, Access]]:
    """Return the atoms of a program, and the first read of each instruction."""
    program = parse(f"program @t {{ {body} }}")
    firsts = {node.name: node.reads[0] for node in program.body if isinstance(node, Instr)}
    return Atoms(program), firsts


def shared(found: Atoms, a: Access, b: Access) -> bool:
    return bool(set(found.of(a)) & set(found.of(b)))


def test_buffer_without_regions_is_one_atom():
    found, read = atoms("buffer b slots 2 A p reads(b[1])")
    assert list(found.of(read["p"])) == [0]
    assert found.count("b") == 1
    assert found.is_exact(read["p"])


def test_intervals_are_cut_at_each_others_borders():
    body = "buffer b shape(8) A p reads(b[0][0:4]) A q reads(b[0][2:8]) A r reads(b[0][4:8])"
    found, read = atoms(body)
    assert shared(found, read["p"], read["q"])
    assert shared(found, read["q"], read["r"])
    assert not shared(found, read["p"], read["r"])
    assert found.count("b") == 3
    assert all(map(found.is_exact, read.values()))


def test_boxes_that_overlap_in_one_dimension_only_are_apart():
    body = "buffer b shape(4, 8) A p reads(b[0][0:2, 0:8]) A q reads(b[0][2:4, 0:8])"
    found, read = atoms(body)
    assert not shared(found, read["p"], read["q"])


def test_corner_that_two_boxes_share_is_found():
    body = "buffer b shape(4, 8) A p reads(b[0][0:3, 0:5]) A q reads(b[0][2:4, 4:8])"
    found, read = atoms(body)
    assert shared(found, read["p"], read["q"])


def test_whole_slot_touches_every_atom():
    found, read = atoms("buffer b shape(8) A p reads(b[0][0:4]) A q reads(b[0][4:8]) A r reads(b)")
    assert set(found.of(read["r"])) == set(found.of(read["p"])) | set(found.of(read["q"]))
    assert found.is_exact(read["r"])


def test_part_of_a_slot_that_no_box_names_belongs_to_the_whole_slot():
    found, read = atoms("buffer b shape(8) A p reads(b[0][0:4]) A r reads(b)")
    assert shared(found, read["p"], read["r"])


def test_run_time_region_touches_every_atom_and_says_so():
    body = (
        "input n buffer b shape(8) A p reads(b[0][0:4]) A q reads(b[0][4:8]) A r reads(b[0][n:8])"
    )
    found, read = atoms(body)
    assert static_box(read["r"]) is None
    assert shared(found, read["p"], read["r"])
    assert not found.is_exact(read["r"])


def test_buffers_have_atoms_of_their_own():
    body = "buffer b shape(8) buffer c A p reads(b[0][0:4]) A q reads(b[0][4:8]) A r reads(c)"
    found, read = atoms(body)
    assert found.count("b") == 2
    assert found.count("c") == 1
    assert list(found.of(read["r"])) == [0]


def grid(side: int) -> tuple[Atoms, list[Access]]:
    """Return `side` boxes whose borders cut each dimension of a square into as many pieces."""
    boxes = [Access("b", 0, ((i, i + 1), (i, i + 1))) for i in range(side)]
    instr = Instr("x", "A", None, tuple(boxes))
    buffer = Buffer("b", 1, (side, side))
    return Atoms(Program("t", (instr,), (), (Engine("A"),), (), (buffer,))), boxes


def test_buffer_with_too_many_pieces_is_cut_in_one_dimension_and_says_so():
    found, boxes = grid(1 + int(MAX_CELLS**0.5))
    assert not any(map(found.is_exact, boxes))
    assert not shared(found, boxes[0], boxes[1])
    exact, boxes = grid(int(MAX_CELLS**0.5) - 1)
    assert all(map(exact.is_exact, boxes))


@pytest.mark.thorough
def test_effort_to_cut_boxes_grows_with_their_number():
    def cutting(boxes: int) -> int:
        def cut() -> None:
            found, placed = grid(boxes)
            assert sum(len(found.of(box)) for box in placed) == boxes

        return effort(cut)

    assert cutting(8_000) < 1.2 * 8 * cutting(1_000)
