"""Every number of every target says where it comes from."""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from headway import targets
from headway.targets import Count, Figure, Target


def numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from numbers(part, f"{path}.{key}")
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from numbers(part, f"{path}.{index}")
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), f"{path}.{field.name}")


@pytest.mark.parametrize("name", targets.names())
def test_every_number_has_a_source(name: str) -> None:
    found = list(numbers(targets.load(name), name))
    assert len(found) > 20
    assert [path for path, number in found if not getattr(number, "source", "")] == []


@pytest.mark.parametrize("name", targets.names())
def test_sources_are_public_or_assumed(name: str) -> None:
    for path, number in numbers(targets.load(name), name):
        assert isinstance(number, Figure | Count), path
        assert ".md" not in number.source, path
        assert "/" not in number.source.replace("B/ns", "").replace("13N/3", ""), path


@pytest.mark.parametrize("name", targets.names())
def test_target_is_called_like_its_file(name: str) -> None:
    assert targets.load(name).name == name


@pytest.mark.parametrize("name", targets.names())
def test_operations_run_on_engines_that_the_target_has(name: str) -> None:
    target = targets.load(name)
    known = {engine.name for engine in target.engines}
    for operation in target.operations.values():
        assert set(operation.engines) <= known


def row(name: str) -> str:
    """Return the row of a number in the table of docs/timing.md."""
    found = [
        next(n for path, n in numbers(targets.load(target), target) if path.split(".")[-1] == name)
        for target in ("trn1", "trn2", "trn3")
    ]
    shown = f"{name}, bytes per ns" if name == "bandwidth" else name
    return f"| {shown} | {' | '.join(f'{n:g}' for n in found)} | {found[1].source} |"


IN_DOCUMENT = """
    bandwidth dispatch setup notify interval
    hop wait issue register branch loop refetch flag load
    rendezvous reset
""".split()


@pytest.mark.parametrize("name", IN_DOCUMENT)
def test_document_has_the_numbers_of_the_targets(name: str) -> None:
    document = Path(__file__).parents[2] / "docs" / "timing.md"
    assert row(name) in document.read_text(encoding="utf-8").splitlines()


def test_copies_keep_their_source() -> None:
    target: Target = pickle.loads(pickle.dumps(targets.load("trn1")))
    assert target == targets.load("trn1")
    assert target.dma.bandwidth.source.startswith("NKI DMA bandwidth guide")
    assert target.registers.source.startswith("NKI language guide")
