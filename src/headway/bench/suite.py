"""Compare the strategies on every kernel and target of the suite; write the figures down.

`python -m headway.bench.suite` writes `results/suite.json` and `docs/results.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway import kernels
from headway.bench import calibration
from headway.compiler import Comparison, compare

TARGETS = ("trn1", "trn2", "trn3")
VARIANTS: dict[str, tuple[dict[str, int], ...]] = {
    "calibration-loop": ({"tiles": 1}, {"tiles": 4}),
    "sync-chain": ({"engines": 3}, {"engines": 3, "buffers": 4}),
}

INTRODUCTION = """\
# Results

Simulated latencies of the kernels of the suite; `make bench` writes this page. Speed-ups are over
`barrier`, the fewest barriers that we know how to place; `ideal` is a machine whose synchronization
costs nothing. Costs of instructions, transfers and barriers are those of the target's model.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One kernel on one target."""

    kernel: str
    target: str
    params: dict[str, int]
    comparison: Comparison

    @property
    def title(self) -> str:
        """What was run, in words."""
        params = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.kernel} on {self.target}" + (f" ({params})" if params else "")

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            **self.comparison.to_json(),
            "kernel": self.kernel,
            "target": self.target,
            "params": self.params,
        }


def runs() -> Iterator[Run]:
    """Run the suite."""
    for name in kernels.names():
        kernel = kernels.load(name)
        for params in VARIANTS.get(name, ({},)):
            for target in TARGETS:
                comparison = compare(kernel.program(**params), kernel.inputs, target)
                yield Run(name, target, params, comparison)


def main() -> None:
    """Write both files below the current folder, and print the tables."""
    pages = [INTRODUCTION, f"## Published times\n\n```\n{calibration.table()}\n```\n"]
    done: list[Run] = []
    for run in runs():
        print(f"{run.comparison}\n")
        done.append(run)
        pages.append(f"## {run.title}\n\n```\n{run.comparison}\n```\n")
    Path("results").mkdir(exist_ok=True)
    Path("docs").mkdir(exist_ok=True)
    Path("results/suite.json").write_text(json.dumps([r.to_json() for r in done], indent=2) + "\n")
    Path("docs/results.md").write_text("\n".join(pages))


if __name__ == "__main__":
    main()
