"""Compiled loops are compiled once: whoever comes next loads them, without numba."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from headway.code import loops

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

SOURCE = """
from __future__ import annotations

def total(m: Longs, deep: Ints, n: int) -> int:
    found = FIRST
    for k in range(n):
        found += m[k] * deep[k]
    return found

FIRST = 0
"""
STARTED = """
import sys
from headway import check, simulate
from headway.sync import parse_sync
text = "sync @p strategy manual target generic { program @p { A x takes(1) } engine A { exec x } }"
synced = parse_sync(text)
simulate(synced, {}, implementation="compiled")
check(synced, {}, "compiled")
print("numba" in sys.modules)
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "totals.py"
    path.write_text(SOURCE)
    return path


def called() -> int:
    """Call the loop as a new process does."""
    loops.fingerprint.cache_clear()
    sys.modules.pop("totals", None)
    importlib.invalidate_caches()
    return loops.Loop("totals", "total")(np.arange(4), np.full(4, 10, np.int32), 3)


def refuse(*_: object) -> loops.Object:
    raise AssertionError("it is compiled again")


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.o") if path.is_file()]


@pytest.mark.thorough
def test_a_loop_is_compiled_once_and_again_when_its_source_changes(
    source: Path, monkeypatch: pytest.MonkeyPatch
):
    assert called() == 30
    with monkeypatch.context() as patched:
        patched.setattr(loops, "_compiled", refuse)
        assert called() == 30
    source.write_text(SOURCE.replace("FIRST = 0", "FIRST = 7"))
    assert called() == 37


@pytest.mark.thorough
def test_a_damaged_object_is_compiled_again(source: Path):
    assert called() == 30
    (path,) = kept(source.parent)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:40], whole[:-9] + b"\0" * 9):
        path.write_bytes(damaged)
        assert called() == 30
        assert loops.Object.from_bytes(path.read_bytes()) is not None


@pytest.mark.thorough
def test_an_object_goes_to_the_cache_of_the_user_if_its_folder_cannot_be_written(source: Path):
    source.with_name("__pycache__").write_text("no folder")
    assert called() == 30
    (path,) = kept(source.parent)
    assert path.parent == source.parent / "cache" / "headway"


@pytest.mark.thorough
def test_arguments_are_those_that_it_was_compiled_for(source: Path):
    loop = loops.Loop("totals", "total")
    longs, ints = np.arange(4), np.arange(4, dtype=np.int32)
    assert loop(longs, ints, 4) == 14
    for wrong in ((ints, ints, 4), (longs, longs, 4), (longs[::2], ints, 2), (longs, ints, ints)):
        with pytest.raises(TypeError):
            loop(*wrong)
    with pytest.raises(TypeError, match="total takes 3 arguments, not 2"):
        loop(longs, ints)


@pytest.mark.thorough
def test_neither_simulator_nor_judge_imports_numba_when_both_are_compiled():
    found = [
        subprocess.run([sys.executable, "-c", STARTED], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert found[-1].stdout == "False\n"


def test_what_is_written_is_read_and_nothing_else():
    written = loops.Object("origin", "symbol", ("Longs", "int"), b"code\n\0 with everything")
    data = written.to_bytes()
    assert loops.Object.from_bytes(data) == written
    assert [loops.Object.from_bytes(data[:end]) for end in range(len(data))] == [None] * len(data)
