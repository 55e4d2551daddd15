"""Every kernel of the packages gets all the way, and the document says so.

`make nki` writes the table again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.bench import nki
from headway.bench.nki import found, measure, table
from headway.bench.nki_references import REFERENCES
from headway.frontends.nki.packaged import KERNELS

DOCUMENT = Path(__file__).parents[2] / "docs" / "nki.md"
FOUND = list(found())


@pytest.mark.parametrize(("package", "path", "name"), FOUND, ids=lambda part: str(part))
def test_a_packaged_kernel_gets_all_the_way(package: str, path: Path, name: str) -> None:
    row = measure(package, path, name)
    assert not row.error
    assert row.verdict == "exact"
    assert row.values in ("equal", "close")
    cells = table([row]).splitlines()[-1].rpartition(" | ")[0]  # the speed-up may change
    assert f"{cells} | " in DOCUMENT.read_text(encoding="utf-8")


def test_all_kernels_that_have_arguments_are_found() -> None:
    if not all(kernel.is_installed() for kernel in KERNELS):
        pytest.skip("a package is not installed")
    assert {(package, name) for package, _, name in FOUND} == {(k.package, k.name) for k in KERNELS}


def test_a_wrong_reference_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found_here = [entry for entry in FOUND if entry[2] == "box_muller_kernel"]
    if not found_here:
        pytest.skip("trnrand is not installed")
    right = REFERENCES["box_muller_kernel"]
    wrong = replace(
        right, expected=lambda uniforms_ref: (np.flip(right.expected(uniforms_ref)[0]),)
    )
    monkeypatch.setattr(nki, "REFERENCES", {**REFERENCES, "box_muller_kernel": wrong})
    row = measure(*found_here[0])
    assert row.verdict == "exact"
    assert row.error.startswith("the values differ from the reference by ")
