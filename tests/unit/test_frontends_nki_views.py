"""Views of tensors that the documentation names beside indexing."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.frontends import ArgSpec, record
from headway.frontends.nki.tensor import Tensor

X = ArgSpec.parse("float32[128,24]")


def seen(tmp_path: Path, expression: str) -> Tensor:
    """Return the view that an expression about a tile `t` makes."""
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.language as nl\n\nVIEWS = []\n\n\ndef kernel(x, views):\n"
        "    t = nl.load(x)\n    n = nl.load(x[:, 0:2])\n"
        f"    views.append({expression})\n"
    )
    views: list[Tensor] = []
    record(path, "kernel", {"x": X, "views": ArgSpec(value=views)})
    return views[0]


@pytest.mark.parametrize(
    ("expression", "shape", "strides"),
    [
        ("t.rearrange(('b', ('h', 'w')), ('b', 'w', 'h'), {'h': 4})", (128, 6, 4), (24, 1, 6)),
        ("t.rearrange(('b', ('h', 'w')), ('b', ('w', 'h')), {'h': 1})", (128, 24), (24, 1)),
        ("t.slice(1, 4, 20, 2)", (128, 8), (24, 2)),
        ("t.select(1, 3)", (128, 1), (24, 0)),
        ("t.reshape_dim(1, (4, -1))", (128, 4, 6), (24, 6, 1)),
        ("t.reshape_dim(1, (4, 6)).flatten_dims(1, 2)", (128, 24), (24, 1)),
        ("t.expand_dim(1)", (128, 1, 24), (24, 0, 1)),
        ("t.expand_dim(1).squeeze_dim(1)", (128, 24), (24, 1)),
        ("t[:, 0:1].broadcast(1, 7)", (128, 7), (24, 0)),
        ("t.reshape((128, 4, 6)).permute((0, 2, 1))", (128, 6, 4), (24, 1, 6)),
    ],
)
def test_a_view_has_this_shape_and_these_strides(
    expression: str, shape: tuple[int, ...], strides: tuple[int, ...], tmp_path: Path
) -> None:
    view = seen(tmp_path, expression)
    assert view.shape == shape
    assert view.strides == strides
    assert view.get_pattern() == [list(pair) for pair in zip(strides, shape, strict=True)]


def test_a_view_knows_whether_it_lies_side_by_side_and_what_says_where(tmp_path: Path) -> None:
    assert seen(tmp_path, "t").is_contiguous()
    assert seen(tmp_path, "t[:, 0:6]").is_contiguous()
    assert not seen(tmp_path, "t.slice(1, 0, 24, 2)").is_contiguous()
    assert not seen(tmp_path, "t").is_indirect()
    gathered = seen(tmp_path, "t.indirect(n)")
    assert gathered.is_indirect()
    assert gathered.shape == (128, 256)
    assert [operand.storage.name for operand in gathered.also] == ["n"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("t.rearrange(('b', ('h', 'w')), ('b', 'w', 'h'))", "rearrange of dimension ('h', 'w')"),
        ("t.rearrange(('b', 'h'), ('b', 'w'))", "rearrange from ('b', 'h') to ('b', 'w')"),
        ("t.broadcast(1, 4)", "broadcast of dimension 1 of shape (128, 24)"),
        ("t.squeeze_dim(1)", "squeeze of dimension 1 of shape (128, 24)"),
    ],
)
def test_a_view_that_cannot_be(expression: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError) as error:
        seen(tmp_path, expression)
    assert f"kernels.py:9:5: error: {message}" in str(error.value)
