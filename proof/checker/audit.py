"""The axioms of every theorem: only those of Lean's logic; a planted axiom and a planted sorry must be found."""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from pathlib import Path

from checker.lean import CACHE, LEAN_PACKAGE, Failed, lean
from checker.modules import in_order, module_body, without_comments

# What collectAxioms may report. The library's own theorems appear by name, because this build ships them without their proofs.
ALLOWED_AXIOMS = {"propext", "Classical.choice", "Quot.sound"}

AUDIT = r"""
namespace Audit
open Lean

@[noinline] def say (s : String) : CoreM Unit := liftM (m := IO) (IO.println s)

def text : Name → String
  | .anonymous => ""
  | .str .anonymous s => s
  | .str p s => text p ++ "." ++ s
  | .num p _ => text p ++ ".#"

def each (names : Array Name) (i : Nat) : Nat → CoreM Unit
  | 0 => pure ()
  | n + 1 => do
    if h : i < names.size then say ("=== " ++ text names[i])
    each names (i + 1) n

def theorem? (n : Name) : CoreM Unit := do
  let names ← collectAxioms n
  say ("== " ++ text n)
  each names 0 names.size
end Audit
"""

PLANTED = """
namespace Headway
axiom planted (a b : Nat) : a = b
theorem uses_planted_axiom : (1 : Nat) = 2 := planted 1 2
theorem uses_planted_sorry : (1 : Nat) = 2 := by sorry
end Headway
"""


def audit_source(texts: dict[str, str], order: list[str], planted: str) -> tuple[str, list[str]]:
    """All modules in one file, without the module system: only then are the proofs of all of them at hand."""
    bodies: list[str] = []
    for name in order:
        bodies.append(f"noncomputable section\n{module_body(texts[name])}\nend\n")
    whole = "".join(bodies) + planted
    theorems: list[str] = []
    space: list[str] = []
    for line in without_comments(whole).splitlines():
        if opened := re.match(r"namespace (\S+)", line):
            space.append(opened.group(1))
        elif space and re.match(rf"end {re.escape(space[-1])}\s*$", line):
            space.pop()
        elif named := re.match(r"(?:@\[[^\]]*\] )?(?:private |protected )?theorem (\S+)", line):
            theorems.append(".".join([*space, named.group(1)]))
    calls = "\n".join(f"#eval Audit.theorem? ``{name}" for name in theorems)
    return f"import Lean.Util.CollectAxioms\nimport Lean.CoreM\n{whole}{AUDIT}{calls}\n", theorems


def axioms_of(source: str) -> dict[str, set[str]]:
    with tempfile.TemporaryDirectory(prefix="headway-lean-") as temporary:
        Path(temporary, "Audit.lean").write_text(source)
        # The planted sorry is a warning, and here it must not stop the file.
        code, output, _ = lean(["-DwarningAsError=false", "Audit.lean"], Path(temporary))
    if code:
        raise Failed(f"the audit file does not check:\n{output}")
    found: dict[str, set[str]] = {}
    name = ""
    for line in output.replace(
        "_private.Audit.#.", ""
    ).splitlines():  # this build makes every name private to its file
        if line.startswith("=== "):
            found[name].add(line[4:])
        elif line.startswith("== "):
            name = line[3:]
            found[name] = set()
    return found


def is_allowed(axiom: str, own: set[str]) -> bool:
    """The three axioms of Lean's logic, and constants of the core library; nothing of ours, no sorry, no compiled evaluation."""
    if axiom in ALLOWED_AXIOMS:
        return True
    return not (
        axiom in own or "Headway" in axiom or re.search(r"sorry|ofReduce|trustCompiler", axiom)
    )


def audit(files: dict[str, Path]) -> bool:
    order = in_order(files)
    texts = {name: files[name].read_text() for name in order}
    started = time.monotonic()
    source, theorems = audit_source(texts, order, PLANTED)
    stamp = CACHE / "audits" / hashlib.sha256((source + LEAN_PACKAGE).encode()).hexdigest()[:32]
    if stamp.exists():
        print(f"{'axioms of every theorem':34} ok      unchanged: {stamp.read_text()}")
        return True
    found = axioms_of(source)
    bad = {
        name: sorted(axiom for axiom in axioms if not is_allowed(axiom, set(theorems)))
        for name, axioms in found.items()
    }
    planted = {
        name: axioms for name, axioms in bad.items() if name.startswith("Headway.uses_planted")
    }
    ours = {name: axioms for name, axioms in bad.items() if axioms and name not in planted}
    missing = [name for name in theorems if name not in found]
    caught = planted == {
        "Headway.uses_planted_axiom": ["Headway.planted"],
        "Headway.uses_planted_sorry": ["sorryAx"],
    }
    ok = caught and not ours and not missing
    summary = f"{len(found) - len(planted)} theorems, planted axiom and sorry {'found' if caught else f'NOT found: {planted}'}"
    print(
        f"{'axioms of every theorem':34} {'ok' if ok else 'FAILED':7} {time.monotonic() - started:.0f} s: {summary}",
        flush=True,
    )
    for name, axioms in ours.items():
        print(f"  {name} uses {', '.join(axioms)}")
    if missing:
        print(f"  not reported: {', '.join(missing)}")
    if ok:
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(summary)
    return ok
