"""Build C with the compiler of the system, run it, and read what it found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from headway.errors import Diagnostic, InvalidInput, InvalidProgram
from headway.native.emit import Emitted

COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-std=c11", "-pthread", "-Wall", "-Wextra")
SANITIZERS = {"thread": ("-O1", "-g", "-fsanitize=thread", "-DPRECISE=1")}
QUICK, FAST = ("-O0",), ("-O1",)
"""To build quickly, and to run fast."""

DEADLOCK, TRAP = 3, 4
"""Exit codes of runtime.c."""

TIMEOUT = 600.0
"""Seconds after which a run that neither ends nor deadlocks is stopped."""

_RACE = "WARNING: ThreadSanitizer: data race"


@dataclass(frozen=True, slots=True)
class Found:
    """What a run found: the cells of each program, data races, and engines that stand still."""

    memories: tuple[tuple[int, ...], ...]
    races: int
    report: str
    deadlock: tuple[str, ...] = ()


def source(programs: Iterable[Emitted]) -> str:
    """Return one C file that runs programs one after the other; argument 1 is a seed."""
    runtime = files("headway.native").joinpath("runtime.c").read_text(encoding="utf-8")
    parts = [runtime]
    calls: list[str] = []
    for program in programs:
        parts.append(program.text)
        calls.append(f"  run_program(&{program.name}, seed);")
    main = [
        "int main(int count, char **arguments) {",
        "  uint32_t seed = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 1;",
        *calls,
        "  return 0;",
        "}",
    ]
    return "\n".join([*parts, *main]) + "\n"


def run(
    text: str, sanitize: str | None = None, seed: int = 1, flags: Sequence[str] = FAST
) -> Found:
    """Build and run a C file. Raise InvalidInput if there is no compiler or it fails."""
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        program = Path(folder, "program")
        _compile(text, program, SANITIZERS[sanitize] if sanitize else flags)
        return _execute(program, seed)


def _compile(text: str, program: Path, flags: Sequence[str]) -> None:
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise InvalidInput(
            Diagnostic("there is no C compiler", help="install gcc, or put cc on the PATH")
        )
    code = program.with_suffix(".c")
    code.write_text(text, encoding="utf-8")
    command = [compiler, *FLAGS, *flags, str(code), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        first = next(iter(done.stderr.splitlines()), "no message")
        raise InvalidInput(Diagnostic(f"{Path(compiler).name} failed: {first}"))


def _execute(program: Path, seed: int) -> Found:
    options = "halt_on_error=0:exitcode=0:report_thread_leaks=0:history_size=7"
    environment = {**os.environ, "TSAN_OPTIONS": options}
    try:
        done = subprocess.run(
            [str(program), str(seed)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise InvalidProgram(f"still running after {TIMEOUT:.0f} s") from None
    if done.returncode == TRAP:
        raise InvalidInput(f"the program stopped: {_rest(done.stdout, 'trap')[0]}")
    if done.returncode not in (0, DEADLOCK):
        last = [*done.stderr.splitlines(), f"exit code {done.returncode}"][0]
        raise InvalidInput(f"the program failed: {last}")
    races = done.stderr.count(_RACE)
    return Found(_memories(done.stdout), races, done.stderr, _rest(done.stdout, "deadlock"))


def _rest(text: str, word: str) -> tuple[str, ...]:
    """Return what follows a word at the beginning of lines."""
    return tuple(re.findall(rf"^{word} (.*)$", text, re.MULTILINE))


def _memories(text: str) -> tuple[tuple[int, ...], ...]:
    parts = re.split(r"^program .*\n", text, flags=re.MULTILINE)[1:]
    return tuple(tuple(int(line, 16) for line in part.split()) for part in parts)
