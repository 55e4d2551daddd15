"""The tie with the tool: what it computes, and what Lean computes from the proved definitions."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from checker.lean import CACHE, ROOT, lean
from checker.modules import closure, fingerprints, imports, in_order, module_body, place

if TYPE_CHECKING:
    from checker.cases import LeanCase

KERNEL_MODULE, INTERPRETER_MODULE = "Headway.Test.Tie", "Headway.Test.Evaluate"
TIE_BATCH = 1000
RUN_CASES = """
#eval Headway.Evaluate.file "cases.txt" 100000
"""


def tie(files: dict[str, Path]) -> bool:
    """Compare the tool with the development: the kernel takes the examples, the interpreter the examples and the random programs."""
    sys.path.insert(0, str(ROOT.parent / "src"))
    from checker import cases as translation

    count = int(os.environ.get("HEADWAY_TIE_PROGRAMS", "1000"))
    seed = int(os.environ.get("HEADWAY_TIE_SEED", "0"))
    examples = list(translation.example_cases(ROOT.parent / "tests/data"))
    kernel = translation.HEADER + "".join(case.statements() for case in examples)
    order = in_order(files)
    texts = {name: files[name].read_text() for name in order}
    steps: list[Callable[[], bool]] = [
        partial(agrees_in_kernel, "examples in the kernel", kernel, texts, order)
    ]
    for first in range(seed, seed + count, TIE_BATCH):
        size = min(TIE_BATCH, seed + count - first)
        cases = [*(examples if first == seed else ()), *translation.random_cases(size, first)]
        name = f"{'examples, ' if first == seed else ''}programs {first} to {first + size - 1}"
        steps.append(partial(agrees_in_interpreter, name, cases, texts, order))
    with concurrent.futures.ThreadPoolExecutor(len(steps)) as pool:
        done = [pool.submit(step) for step in steps]
    return all([each.result() for each in done])


def stamped(name: str, key: str, done: str, run: Callable[[], str]) -> bool:
    """Do a comparison unless it has been done; `run` returns the differences, or ""."""
    stamp = CACHE / "ties" / hashlib.sha256(key.encode()).hexdigest()[:32]
    if stamp.exists():
        print(f"tie: {name:38} ok      unchanged: {done}", flush=True)
        return True
    started = time.monotonic()
    wrong = run()
    print(
        f"tie: {name:38} {'FAILED' if wrong else 'ok':7} {time.monotonic() - started:.0f} s: {done}",
        flush=True,
    )
    if wrong:
        print(wrong, flush=True)
        return False
    stamp.parent.mkdir(exist_ok=True)
    stamp.touch()
    return True


def agrees_in_kernel(name: str, source: str, texts: dict[str, str], order: list[str]) -> bool:
    hashes = fingerprints(texts, order)

    def run() -> str:
        with tempfile.TemporaryDirectory(prefix="headway-lean-") as temporary:
            for other in [*closure(KERNEL_MODULE, texts), KERNEL_MODULE]:
                place(other, hashes[other], Path(temporary))
            Path(temporary, "Tie.lean").write_text(source)
            code, output, _ = lean(["Tie.lean"], Path(temporary))
        if not code:
            return ""
        lines = source.splitlines()
        wrong = {int(number) for number in re.findall(r"^Tie\.lean:(\d+):", output, re.MULTILINE)}
        cases = [
            next(line for line in reversed(lines[:number]) if line.startswith("--"))
            for number in sorted(wrong)[:10]
        ]
        return "\n".join(["  " + case for case in cases] + [output[:2000]])

    return stamped(name, hashes[KERNEL_MODULE] + source, f"{source.count('--')} cases", run)


def agrees_in_interpreter(
    name: str, cases: Sequence[LeanCase], texts: dict[str, str], order: list[str]
) -> bool:
    """Let Lean answer one line for each case. Its functions have to be in the file: this build imports no code from modules."""
    hashes = fingerprints(texts, order)
    header = "".join(f"import {needed}\n" for needed in imports(texts[INTERPRETER_MODULE]))
    source = f"{header}import Init.System.IO\n{definitions(texts[INTERPRETER_MODULE])}{RUN_CASES}"
    lines = "\n".join(case.line() for case in cases)
    expected = [case.answer() for case in cases]
    placements = sum(len(case.placements) for case in cases)

    def run() -> str:
        with tempfile.TemporaryDirectory(prefix="headway-lean-") as temporary:
            for other in closure(INTERPRETER_MODULE, texts):
                place(other, hashes[other], Path(temporary))
            Path(temporary, "Tie.lean").write_text(source)
            Path(temporary, "cases.txt").write_text(lines)
            code, output, _ = lean(["Tie.lean"], Path(temporary))
        answers = [line for line in output.splitlines() if line.startswith("==")]
        if code or len(answers) != len(cases):
            return f"  {len(answers)} answers to {len(cases)} cases\n{output[-2000:]}"
        wrong = [
            (case.name, mine, lean_)
            for case, mine, lean_ in zip(cases, expected, answers, strict=True)
            if mine != lean_
        ]
        return "\n".join(
            f"  {case}\n    tool {mine}\n    Lean {lean_}" for case, mine, lean_ in wrong[:10]
        )

    done = f"{len(cases)} cases, {placements} placements judged"
    imported = [hashes[other] for other in closure(INTERPRETER_MODULE, texts)]
    return stamped(name, "\n".join([*imported, source, lines, *expected]), done, run)


def definitions(text: str) -> str:
    """Return a module without its theorems, of which nothing is run."""
    blocks = re.split(r"\n(?=\n)", module_body(text))
    return "".join(
        block for block in blocks if not re.match(r"\s*(/--.*?-/\s*)?theorem ", block, re.DOTALL)
    )
