"""Every number of every target says where it comes from."""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
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


def test_copies_keep_their_source() -> None:
    target: Target = pickle.loads(pickle.dumps(targets.load("trn1")))
    assert target == targets.load("trn1")
    assert target.dma.bandwidth.source.startswith("NKI DMA bandwidth guide")
    assert target.registers.source.startswith("NKI language guide")
