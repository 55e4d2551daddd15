"""Every NKI kernel of the packages, all the way: traced, synchronized, checked, simulated, run.

`python -m headway.bench.nki` writes `results/nki.json` and the table in `docs/nki.md`. Kernels are
found by looking at every file of the packages, so one that nobody has arguments for is a row too.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy

from headway.bench.nki_references import REFERENCES, Reference
from headway.check import check
from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.execution import Outcome, run
from headway.fitting import BASELINE
from headway.frontends import ArgSpec, kernels
from headway.frontends.nki.packaged import KERNELS, VERSIONS, PackagedKernel
from headway.sim import simulate
from headway.values import Traced
from headway.values.memory import array

np: Any = numpy

CLOSE = 1e-4
"""Values are close if no element differs by more than that fraction of the largest one."""

ORDERS = 1
TARGET = "trn2"
TABLE = re.compile(r"^\| package \| kernel \|.*?(?=^$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one kernel; `error` says why it did not get further."""

    package: str
    file: str
    kernel: str
    traced: bool = False
    verdict: str = ""
    values: str = "none"
    error: str = ""
    recorded: int = 0
    rolled: int = 0
    speedup: float = 0.0

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form, with what else was measured."""
        return {
            "package": self.package,
            "file": self.file,
            "kernel": self.kernel,
            "traced": self.traced,
            "verdict": self.verdict,
            "values": self.values,
            "error": self.error,
            "recorded": self.recorded,
            "rolled": self.rolled,
            "speedup": round(self.speedup, 3),
        }


def found() -> Iterator[tuple[str, Path, str]]:
    """Yield the package, file and name of every kernel in the installed packages."""
    for package in VERSIONS:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(folder).rglob("*.py")):
                if "nki.jit" in path.read_text(encoding="utf-8"):
                    yield from ((package, path, name) for name in _names(path))


def _names(path: Path) -> Iterable[str]:
    """Return the kernels that a file defines itself."""
    defined = set(re.findall(r"^\s*def (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return [name for name in kernels(path) if name in defined]


def measure(package: str, path: Path, name: str) -> Row:
    """Take a kernel as far as it goes."""
    file = f"{package}/{path.as_posix().rpartition(f'/{package}/')[2]}"
    row = Row(package, file, name)
    known = [k for k in KERNELS if k.package == package and k.name == name]
    if not known:
        return replace(row, error="no arguments are known for this kernel")
    reached = [row]
    try:
        reached += _steps(row, known[0])
    except HeadwayError as error:
        return replace(reached[-1], error=error.diagnostics[0].message)
    return reached[-1]


def _steps(row: Row, kernel: PackagedKernel) -> Iterator[Row]:
    trace = kernel.record()
    traced = trace.traced()
    row = replace(
        row, traced=True, recorded=trace.recorded_operations, rolled=trace.rolled_operations
    )
    yield row
    sync = synchronize(traced.program, TARGET, "counted")
    row = replace(row, verdict=check(sync, {}).verdict)
    yield row
    barrier = synchronize(traced.program, TARGET, BASELINE)
    row = replace(row, speedup=simulate(barrier, {}).latency / simulate(sync, {}).latency)
    yield row
    arguments = given(traced, REFERENCES.get(kernel.name))
    outcome = run(traced, sync, {}, arguments, orders=ORDERS)
    if not outcome.is_equal:
        yield replace(row, error=f"another order gives other values in {outcome.different[0]}")
        return
    yield replace(row, values=compared(traced, outcome, kernel, arguments))


# ---- values


def given(traced: Traced, reference: Reference | None) -> dict[str, Any]:
    """Return arrays for the tensor arguments: those of the energies in two orientations agree."""
    random = np.random.default_rng(1)
    arrays: dict[str, Any] = {}
    for name, memory in traced.values.arguments.items():
        spec = traced.values.memories[memory]
        if spec.dtype.startswith(("int", "uint")):
            arrays[name] = random.integers(0, 128, spec.shape)
        elif reference is not None and name in reference.ranges:
            arrays[name] = random.uniform(*reference.ranges[name], spec.shape)
        else:
            arrays[name] = random.standard_normal(spec.shape)
        arrays[name] = arrays[name].astype(spec.dtype)
    if "eps_vir_col" in arrays and "eps_vir_row" in arrays:
        arrays["eps_vir_row"] = arrays["eps_vir_col"].T.copy()
    return arrays


def compared(
    traced: Traced, outcome: Outcome, kernel: PackagedKernel, arguments: Mapping[str, Any]
) -> str:
    """Return equal, close, or none if there is nothing to compare. Raise HeadwayError."""
    reference = REFERENCES.get(kernel.name)
    if reference is None:
        return "none"
    plain = {n: ArgSpec.parse(text).value for n, text in kernel.args.items() if n not in arguments}
    exact = {n: a.astype(np.float64) if a.dtype.kind == "f" else a for n, a in arguments.items()}
    wanted = reference.expected(**exact, **plain)
    values = traced.values
    results = outcome.results or tuple(
        array(values, outcome.contents, values.arguments[name]) for name in reference.changes
    )
    return _closeness(results, wanted)


def _closeness(results: Sequence[Any], wanted: Sequence[Any]) -> str:
    pairs = list(zip(results, wanted, strict=True))
    if all(np.array_equal(got, want.astype(got.dtype)) for got, want in pairs):
        return "equal"
    for got, want in pairs:
        error, size = np.abs(got - want).max(), np.abs(want).max()
        if not error <= CLOSE * size:
            raise HeadwayError(f"the values differ from the reference by {error / size:.2g}")
    return "close"


# ---- the table


def table(rows: Iterable[Row]) -> str:
    """Return the table of the document."""
    lines = [
        "| package | kernel | recorded | rolled | verdict | values | vs barrier |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row.package, f"`{row.kernel}`", row.recorded, row.rolled, row.verdict, row.values]
        lines.append(f"| {' | '.join(map(str, cells))} | {row.speedup:.2f}x |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the files; return 1 if a kernel did not get all the way."""
    parser = ArgumentParser("headway.bench.nki", description=__doc__)
    parser.add_argument("--json", default="results/nki.json", metavar="FILE")
    parser.add_argument("--document", default="docs/nki.md", metavar="FILE")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for package, path, name in found():
        print(f"{package} {name} ...", file=sys.stderr)
        rows.append(measure(package, path, name))
    Path(options.json).parent.mkdir(parents=True, exist_ok=True)
    Path(options.json).write_text(json.dumps([row.to_json() for row in rows], indent=2) + "\n")
    document = Path(options.document)
    text, count = TABLE.subn(lambda _: table(rows), document.read_text(encoding="utf-8"))
    if rows and count == 1:
        document.write_text(text, encoding="utf-8")
    for row in rows:
        print(f"{row.package} {row.kernel}: {row.error or row.values}")
    failed = [row for row in rows if row.error]
    print(f"{len(rows)} kernels, {len(failed)} with errors", file=sys.stderr)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
