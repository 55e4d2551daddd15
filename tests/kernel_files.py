"""Kernels for tests: a body becomes a file, old or new style, and runs with values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from headway.execution import sequential
from headway.frontends import ArgSpec, Trace, record
from headway.ir.expr import Inputs
from headway.values import Traced, memory
from headway.values.memory import fresh

IMPORTS = {
    "new": "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n",
    "old": "from neuronxcc import nki\nimport neuronxcc.nki.isa as nisa\n"
    "import neuronxcc.nki.language as nl\n",
}


def written(folder: Path, body: str, arguments: str, style: str = "new") -> Path:
    """Write a file with one kernel of that body."""
    path = folder / "kernels.py"
    head = f"{IMPORTS[style]}import numpy as np\n\n\n@nki.jit\ndef kernel({arguments}):\n"
    path.write_text(head + indent(dedent(body).strip("\n"), "    ") + "\n")
    return path


def recorded(folder: Path, body: str, args: Mapping[str, str], style: str = "new") -> Trace:
    """Trace a kernel of that body."""
    path = written(folder, body, ", ".join(args), style)
    return record(path, "kernel", {name: ArgSpec.parse(text) for name, text in args.items()})


def results(
    traced: Traced, arguments: Mapping[str, Any] | None = None, inputs: Inputs | None = None
) -> tuple[Any, ...]:
    """Run a kernel in order and return what it returns."""
    contents = fresh(traced.values, arguments)
    sequential(traced, inputs or {}, contents)
    return memory.results(traced.values, contents)
