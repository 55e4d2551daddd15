"""The proof folder without Lean: what `scripts/proof` relies on, what the documents say of it."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from headway.certify.verify import Walk

ROOT = Path(__file__).parents[2]
PROOF = ROOT / "proof"

sys.path.insert(0, str(PROOF))
writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder belongs to Lean
audit = importlib.import_module("checker.audit")
cases = importlib.import_module("checker.cases")
lean = importlib.import_module("checker.lean")
modules = importlib.import_module("checker.modules")
seconds = importlib.import_module("checker.seconds")
tie = importlib.import_module("checker.tie")
sys.dont_write_bytecode = writes

FILES = modules.module_files()
TEXTS = {name: path.read_text() for name, path in FILES.items()}
THEOREMS = (ROOT / "docs/theorems.md").read_text()


def test_every_module_comes_after_its_imports():
    order = modules.in_order(FILES)
    assert sorted(order) == sorted(FILES)
    for name in order:
        assert all(
            order.index(needed) < order.index(name) for needed in modules.imports(TEXTS[name])
        )


def test_a_change_of_a_module_changes_all_that_import_it_and_no_other():
    order = modules.in_order(FILES)
    before = modules.fingerprints(TEXTS, order)
    after = modules.fingerprints({**TEXTS, "Headway.Engine": TEXTS["Headway.Engine"] + "\n"}, order)
    changed = {name for name in order if before[name] != after[name]}
    importers = {name for name in order if "Headway.Engine" in modules.closure(name, TEXTS)}
    assert changed == importers | {"Headway.Engine"}


@pytest.mark.parametrize("word", ["sorry", "axiom", "native_decide", "unsafe"])
def test_a_proof_without_proof_is_refused(word: str):
    with pytest.raises(lean.Failed, match=word):
        modules.forbidden("Headway.Spec", f"theorem t : 1 = 2 := by {word}")


def test_comments_may_say_what_they_like():
    modules.forbidden("Headway.Spec", "/- no sorry -/ theorem t : 1 = 1 := rfl -- nor axiom")
    for name, text in TEXTS.items():
        modules.forbidden(name, text)


def test_every_file_forbids_implicit_variables_and_says_what_it_is_about():
    for name, text in TEXTS.items():
        assert "set_option autoImplicit false" in text, name
        assert "\n/-!\n# " in text, name


def test_each_control_changes_exactly_one_place():
    for entry in json.loads((PROOF / "Headway/Test/mutations.json").read_text()):
        assert TEXTS[entry["module"]].count(entry["old"]) == 1, entry["name"]
        assert entry["old"] != entry["new"], entry["name"]
        assert is_declared(entry["shown"]), entry["name"]  # what goes wrong, with numbers


def test_the_audit_asks_for_every_theorem():
    _, theorems = audit.audit_source(TEXTS, modules.in_order(FILES), audit.PLANTED)
    written = sum(
        len(re.findall(r"^(?:@\[simp\] )?theorem ", text, re.M)) for text in TEXTS.values()
    )
    assert len(theorems) == written + 2  # and the two planted ones


def test_the_document_names_theorems_that_are_there():
    rows = re.findall(r"^\| .+ \| (`.+`) \| (`.+`) \|$", THEOREMS, re.M)
    assert len(rows) > 30
    for names, files in rows:
        texts = "".join(TEXTS[f"Headway.{file}"] for file in re.findall(r"`(\w+)`", files))
        for name in re.findall(r"`([\w.]+)`", names):
            assert re.search(rf"theorem {re.escape(name)}\b", texts), (name, files)


def test_every_name_of_the_document_is_in_the_development():
    """Words in code marks that look like Lean names, wherever they are."""
    everything = "".join(TEXTS.values())
    for name in re.findall(r"`([a-z]\w*_[\w]+)`", THEOREMS):
        assert re.search(rf"\b{name}\b", everything) or name == "is_kept", name


def test_the_table_of_names_has_names_that_are_there_on_both_sides():
    section = (ROOT / "docs/model.md").read_text().split("## Names: Python and Lean")[1]
    rows = re.findall(r"^\| .+ \| (`.+?) \| (`.+) \|$", section, re.M)
    assert len(rows) > 30
    for left, right in rows:
        for name in re.findall(r"`([\w.]+\.\w+)`", left):
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(f"headway.{module}"), attribute), name
        for name in re.findall(r"`([\w.]+)`", right):
            assert is_declared(name), name


def test_each_rule_of_a_certificate_is_a_method_and_a_lemma():
    text = (ROOT / "docs/certificates.md").read_text()
    table = text.split("| rule | what it says | Lean |\n")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[1:]]
    written = [name for left, _, _ in rows for name in re.findall(r"`(\w+)`", left)]
    docs = {name: method.__doc__ for name, method in vars(Walk).items() if callable(method)}
    methods = [name for name, doc in docs.items() if (doc or "").startswith("Rule: ")]
    assert sorted(written) == sorted(methods)
    for _, _, right in rows:
        for name in re.findall(r"`([\w.]+)`", right):
            assert is_declared(name), name


def test_the_official_build_has_the_same_files_and_options():
    lake = tomllib.loads((PROOF / "lakefile.toml").read_text())
    assert set(lake) == {"name", "version", "defaultTargets", "leanOptions", "lean_lib"}
    (library,) = lake["lean_lib"]
    assert set(library) == {"name", "globs"}
    assert lake["defaultTargets"] == [library["name"]]
    (below,) = [
        glob.removesuffix(".+") for glob in library["globs"]
    ]  # all modules below, not itself
    lean_files = {path.relative_to(PROOF) for path in PROOF.rglob("*.lean")}
    assert lean_files == {path.relative_to(PROOF) for path in (PROOF / below).rglob("*.lean")}
    assert lean_files == {path.relative_to(PROOF) for path in FILES.values()}
    assert not (PROOF / f"{below}.lean").exists()
    options = {flag.removeprefix("-D").replace("=true", "=True") for flag in lean.FLAGS}
    assert options == {
        f"{name}={value}".replace("=False", "=false") for name, value in flat(lake["leanOptions"])
    }
    assert re.fullmatch(
        r"leanprover/lean4:v\d+\.\d+\.\d+\n", (PROOF / "lean-toolchain").read_text()
    )


def flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the options of nested tables by their whole names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(cast("dict[str, Any]", value), f"{before}{name}.")
        else:
            yield before + name, value


def is_declared(name: str) -> bool:
    """Tell whether the development has a declaration, a field or a constructor of this name."""
    parent, _, last = name.rpartition(".")
    everything = "".join(TEXTS.values())
    word = r"(?:def|theorem|structure|inductive|abbrev)"
    if re.search(rf"^{word} {re.escape(name)}(?![\w.])", everything, re.M):
        return True
    if not parent:
        return False
    body = re.search(
        rf"^(?:structure|inductive) {re.escape(parent)}\b(.*?)(?=\n\n|\nderiving)",
        everything,
        re.M | re.S,
    )
    return bool(body and re.search(rf"^  (?:\| )?{last}\b", body.group(1), re.M))


def test_random_programs_can_be_written_for_lean():
    made = list(cases.random_cases(20, 0))
    assert len({case.program for case in made}) == 20
    for case in made:
        assert case.statements().count("by decide +kernel") == 2
        assert all(number >= 0 for number in map(int, case.line().split()))
        assert case.answer().count(";") == 2 * len(case.engines)
    assert sum(len(case.placements) for case in made) > 20


def test_what_is_run_has_every_definition_and_no_theorem():
    text = TEXTS[tie.INTERPRETER_MODULE]
    run = tie.definitions(text)
    assert "theorem" not in run
    assert run.count("\ndef ") == text.count("\ndef ")


def test_a_placement_that_runs_other_instances_is_left_out():
    text = """program @p {
  engine A
  engine B
  buffer n
  buffer b
  input k
  loop i k load c reads(n) { A p writes(b) }
  B q reads(b)
}"""
    program = cases.parse(text, "p")
    case = cases.lean_case("p", program, {"k": 2})
    assert "scoreboard" not in case.placements, "engine B loads the trip count only to count"


def test_all_examples_and_pitfalls_can_be_written_for_lean():
    names = [case.name for case in cases.example_cases(ROOT / "tests/data")]
    for number in range(1, 18):
        assert any(name.startswith(f"c{number:02}-") for name in names)
    for number in range(1, 11):
        assert any(name.startswith(f"e{number:02}-") for name in names)


def test_the_table_of_seconds_has_every_module_and_its_theorems():
    rows = dict(re.findall(r"^\| `([\w.]+)` \| \d+ \| (\d+) \| \d+ \|$", THEOREMS, re.M))
    assert set(rows) == {name.removeprefix("Headway.") for name in FILES}
    for name, count in rows.items():
        assert int(count) == len(seconds.theorem_names(TEXTS[f"Headway.{name}"])), name
