"""The proof folder without Lean: what `scripts/proof` relies on, what the documents say of it."""

from __future__ import annotations

import json
import re
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PROOF = ROOT / "proof"


def load(name: str, path: Path) -> ModuleType:
    loader = SourceFileLoader(name, str(path))
    spec = spec_from_loader(name, loader)
    assert spec
    module = module_from_spec(spec)
    sys.modules[name] = module
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


script = load("headway_proof_script", ROOT / "scripts/proof")
tie = load("headway_proof_tie", PROOF / "tie.py")
FILES = script.module_files()
TEXTS = {name: path.read_text() for name, path in FILES.items()}


def test_every_module_comes_after_its_imports():
    order = script.in_order(FILES)
    assert sorted(order) == sorted(FILES)
    for name in order:
        assert all(
            order.index(needed) < order.index(name) for needed in script.imports(TEXTS[name])
        )


def test_a_change_of_a_module_changes_all_that_import_it_and_no_other():
    order = script.in_order(FILES)
    before = script.fingerprints(TEXTS, order)
    after = script.fingerprints({**TEXTS, "Headway.Engine": TEXTS["Headway.Engine"] + "\n"}, order)
    changed = {name for name in order if before[name] != after[name]}
    importers = {name for name in order if "Headway.Engine" in script.closure(name, TEXTS)}
    assert changed == importers | {"Headway.Engine"}


@pytest.mark.parametrize("word", ["sorry", "axiom", "native_decide", "unsafe"])
def test_a_proof_without_proof_is_refused(word: str):
    with pytest.raises(script.Failed, match=word):
        script.forbidden("Headway.Spec", f"theorem t : 1 = 2 := by {word}")


def test_comments_may_say_what_they_like():
    script.forbidden("Headway.Spec", "/- no sorry -/ theorem t : 1 = 1 := rfl -- nor axiom")
    for name, text in TEXTS.items():
        script.forbidden(name, text)


def test_every_file_forbids_implicit_variables_and_says_what_it_is_about():
    for name, text in TEXTS.items():
        assert "set_option autoImplicit false" in text, name
        assert "\n/-!\n# " in text, name


def test_each_control_changes_exactly_one_place():
    for entry in json.loads((PROOF / "Headway/Test/mutations.json").read_text()):
        assert TEXTS[entry["module"]].count(entry["old"]) == 1, entry["name"]
        assert entry["old"] != entry["new"], entry["name"]


def test_the_audit_asks_for_every_theorem():
    _, theorems = script.audit_source(TEXTS, script.in_order(FILES), script.PLANTED)
    written = sum(
        len(re.findall(r"^(?:@\[simp\] )?theorem ", text, re.M)) for text in TEXTS.values()
    )
    assert len(theorems) == written + 2  # and the two planted ones


def test_the_document_names_theorems_that_are_there():
    rows = re.findall(
        r"^\| .+ \| (`.+`) \| `(\w+)` \|$", (ROOT / "docs/theorems.md").read_text(), re.M
    )
    assert len(rows) > 15
    for names, file in rows:
        for name in re.findall(r"`([\w.]+)`", names):
            assert re.search(rf"theorem {re.escape(name)}\b", TEXTS[f"Headway.{file}"]), (
                name,
                file,
            )


def test_random_programs_can_be_written_in_lean():
    cases = list(tie.random_cases(50, 0))
    assert len({case.program for case in cases}) == 50
    assert all(case.statements().count("by decide +kernel") == 2 for case in cases)


def test_all_examples_and_pitfalls_can_be_written_in_lean():
    names = [case.name for case in tie.example_cases(ROOT / "tests/data")]
    for number in range(1, 18):
        assert any(name.startswith(f"c{number:02}-") for name in names)
    for number in range(1, 11):
        assert any(name.startswith(f"e{number:02}-") for name in names)
