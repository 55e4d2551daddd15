"""Random kernels compute the same with any number of buffers, and on engines at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernel_files import results
from random_kernels import Writer

from headway.compiler import synchronize
from headway.execution import run
from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.memory import AUTOMATIC, Buffers
from headway.ir import to_text

MOST_OPERATIONS = 400


def traced(seed: int, folder: Path) -> Trace:
    """Trace a random kernel that returns the tensor it works on."""
    path = folder / "kernels.py"
    path.write_text("\n".join([*Writer(seed).lines, "    return h", ""]))
    return record(path, "kernel", {"x": ArgSpec.parse("float32[64,12]")})


@pytest.mark.parametrize("seed", range(20))
def test_values_do_not_depend_on_buffers_or_on_the_order(seed: int, tmp_path: Path) -> None:
    trace = traced(seed, tmp_path)
    choices: tuple[Buffers, ...] = (1, 2, 4, AUTOMATIC)
    wanted = None
    for buffers in choices:
        found = trace.traced(buffers=buffers)
        (got,) = results(found)
        wanted = got if wanted is None else wanted
        np.testing.assert_array_equal(got, wanted, err_msg=to_text(found.program))
        if buffers in (1, AUTOMATIC) and trace.recorded_operations <= MOST_OPERATIONS:
            outcome = run(found, synchronize(found.program), {}, orders=1, seed=seed)
            assert outcome.is_equal, to_text(found.program)
