"""Programs synchronized by hand: what the judge says of wrong ones, and that it is what helps.

tests/data/by-hand has wrong programs, each with the whole message (`.err`), and in `wrong.toml`
what its author has to replace. The right ones are those of examples/by-hand.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from headway.certify import certify
from headway.check import check
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.sync import parse_sync

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "by-hand"
WRONG = tomllib.loads((FOLDER / "wrong.toml").read_text(encoding="utf-8"))["wrong"]
RIGHT = {
    "accesses": "exact",
    "barriers": "late",
    "capture": "exact",
    "constant": "late",
    "phases": "exact",
    "shadow": "exact",
    "tokens": "exact",
}


of_wrong = pytest.mark.parametrize("row", WRONG, ids=[row["program"] for row in WRONG])


def text_of(row: dict[str, Any]) -> str:
    return (FOLDER / row["program"]).read_text(encoding="utf-8")


def test_every_file_is_in_the_table():
    assert {path.name for path in FOLDER.glob("*.hwy")} == {row["program"] for row in WRONG}
    assert {path.stem for path in FOLDER.glob("*.err")} == {
        path.stem for path in FOLDER.glob("*.hwy")
    }
    assert {path.stem for path in (ROOT / "examples" / "by-hand").glob("*.hwy")} == RIGHT.keys()


@of_wrong
def test_message_says_what_is_wrong(row: dict[str, Any]):
    verdict = check(parse_sync(text_of(row), row["program"]), row["inputs"])
    pinned = FOLDER / row["program"].replace(".hwy", ".err")
    assert f"{verdict}\n" == pinned.read_text(encoding="utf-8")


@of_wrong
def test_both_judges_say_it(row: dict[str, Any]):
    pytest.importorskip("numba")
    synced = parse_sync(text_of(row), row["program"])
    if synced.semaphores or any(instr.silent for instr in instructions(synced.program.body)):
        return  # semaphores that wrap and silent instructions are for the reference alone
    found = {str(check(synced, row["inputs"], judge)) for judge in ("reference", "compiled")}
    assert len(found) == 1


@of_wrong
def test_correction_makes_it_right(row: dict[str, Any]):
    text = text_of(row)
    for wrong, right in row["fix"]:
        assert text.count(wrong) == 1
        text = text.replace(wrong, right)
    assert check(parse_sync(text, row["program"]), row["inputs"]).verdict == row["then"]


@of_wrong
def test_wrong_program_is_not_proved(row: dict[str, Any]):
    found = check(parse_sync(text_of(row), row["program"]), row["inputs"])
    if found.verdict != "late":
        assert not certify(parse_sync(text_of(row), row["program"])).is_complete


@pytest.mark.parametrize("name", RIGHT)
def test_right_program_is_right(name: str):
    path = ROOT / "examples" / "by-hand" / f"{name}.hwy"
    synced = parse_sync(path.read_text(encoding="utf-8"), path.name)
    found = {check(synced, {"n": n}).verdict for n in range(2, 8)}
    assert found == {RIGHT[name]}
    assert {check(synced, {"n": n}).verdict for n in (0, 1)} == {"exact"}


def accesses(program: Program) -> list[object]:
    return [(i.engine, i.name, i.queue, i.reads, i.writes) for i in instructions(program.body)]


def test_right_programs_are_of_one_sequential_program():
    programs: dict[str, Program] = {}
    for name in RIGHT:
        path = ROOT / "examples" / "by-hand" / f"{name}.hwy"
        programs[name] = parse_sync(path.read_text(encoding="utf-8"), path.name).program
    bare = programs.pop("accesses")
    (declared,) = set(programs.values())
    assert accesses(bare) == accesses(declared)
    assert {i.cost for i in instructions(bare.body)} == {None}
