import importlib.metadata
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from headway.errors import InvalidInput
from headway.registry import Registry, unknown

PLUGINS = {
    "double_buffer.py": 'PLUGIN = "double"\n',
    "typed.py": 'PLUGIN: str = "typed"\n',
    "helper.py": 'raise AssertionError("imported")  # mentions PLUGIN, has none\n',
    "broken.py": 'raise AssertionError("imported")\nPLUGIN = 1\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    package = f"plugins_of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    for name, text in PLUGINS.items():
        (tmp_path / package / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return Registry("plug-in", package, "PLUGIN")


def provide(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    def entry_points(group: str) -> list[EntryPoint]:
        return [EntryPoint(name, value, group)]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_names_are_the_files_that_assign_the_object_and_none_is_imported(
    folder: Registry[str],
) -> None:
    assert folder.names() == ("broken", "double-buffer", "typed")


def test_load_returns_the_object_of_the_file(folder: Registry[str]) -> None:
    assert folder.load("double-buffer") == "double"
    assert folder.load("typed") == "typed"


def test_unknown_name_is_answered_with_the_closest_and_all(folder: Registry[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        folder.load("double_bufer")
    assert str(caught.value) == (
        "error: unknown plug-in 'double_bufer'\n"
        "  help: did you mean 'double-buffer'? known: broken, double-buffer, typed"
    )


def test_unknown_name_without_a_close_one_lists_all(folder: Registry[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        folder.load("zzz")
    assert str(caught.value) == (
        "error: unknown plug-in 'zzz'\n  help: known: broken, double-buffer, typed"
    )


def test_unknown_name_where_there_is_none_at_all_says_so() -> None:
    assert unknown("run-time input", "n", ()).help == "known: none"


def test_other_distributions_add_plug_ins_by_entry_point(
    folder: Registry[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(monkeypatch, "outside", "string:digits")
    assert "outside" in folder.names()
    assert folder.load("outside") == "0123456789"


def test_an_entry_point_never_replaces_a_file(
    folder: Registry[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(monkeypatch, "typed", "string:digits")
    assert folder.load("typed") == "typed"


def test_a_broken_entry_point_is_one_clear_error(
    folder: Registry[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    provide(monkeypatch, "outside", "no_such_module:thing")
    with pytest.raises(InvalidInput) as caught:
        folder.load("outside")
    assert str(caught.value) == (
        "error: plug-in 'outside' cannot be loaded from 'no_such_module:thing': "
        "No module named 'no_such_module'\n"
        "  help: repair or remove the package that registers it"
    )


def test_the_folder_is_read_once(folder: Registry[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        pytest.fail("it is read again")

    names = folder.names()
    monkeypatch.setattr(Path, "read_text", refuse)
    assert folder.names() == names
    assert folder.load("typed") == "typed"
