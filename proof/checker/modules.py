"""The modules of the development: in what order, which have changed, and checking them."""

from __future__ import annotations

import concurrent.futures
import hashlib
import re
import shutil
import tempfile
import threading
from pathlib import Path

from checker.lean import CACHE, FLAGS, LEAN_PACKAGE, ROOT, Failed, lean

IMPORT = re.compile(r"^(?:public )?import (\S+)$", re.MULTILINE)


def module_files() -> dict[str, Path]:
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in sorted(ROOT.rglob("*.lean"))
    }
    return {name: path for name, path in files.items() if name.startswith("Headway")}


def imports(text: str) -> list[str]:
    return [name for name in IMPORT.findall(text) if name.startswith("Headway")]


def in_order(files: dict[str, Path]) -> list[str]:
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise Failed(f"import cycle: {' -> '.join((*path, name))}")
        if name in order:
            return
        if name not in files:
            raise Failed(f"{path[-1]} imports {name}, which does not exist")
        for needed in imports(files[name].read_text()):
            visit(needed, (*path, name))
        order.append(name)

    for name in files:
        visit(name, ())
    return order


def fingerprints(texts: dict[str, str], order: list[str]) -> dict[str, str]:
    """One hash per module, of its text, of the hashes of its imports and of how Lean is run."""
    hashes: dict[str, str] = {}
    for name in order:
        parts = [
            LEAN_PACKAGE,
            *FLAGS,
            texts[name],
            *(hashes[needed] for needed in imports(texts[name])),
        ]
        hashes[name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return hashes


def place(name: str, fingerprint: str, folder: Path) -> None:
    """Put the compiled form of a module where Lean looks for it."""
    target = folder / Path(*name.split("."))
    target.parent.mkdir(parents=True, exist_ok=True)
    for stored in (CACHE / "objects" / fingerprint).glob("olean*"):
        goal = Path(f"{target}.{stored.name}")
        if not goal.exists():
            shutil.copy(stored, goal)


def compile_module(
    name: str, text: str, needed: list[tuple[str, str]], fingerprint: str
) -> tuple[bool, float, str]:
    """Check one module whose imports have been checked; keep its compiled form.

    Return (ok, seconds of the processor, messages).
    """
    store = CACHE / "objects" / fingerprint
    if (store / "seconds").exists():
        return True, 0.0, ""
    with tempfile.TemporaryDirectory(prefix="headway-lean-") as temporary:
        folder = Path(temporary)
        for other, hashed in needed:
            place(other, hashed, folder)
        source = folder / Path(*name.split(".")).with_suffix(".lean")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        relative = str(source.relative_to(folder))
        code, output, seconds = lean(
            ["-o", relative.removesuffix(".lean") + ".olean", relative], folder
        )
        if code == 0:
            partial = Path(tempfile.mkdtemp(prefix=fingerprint, dir=CACHE))
            for produced in source.parent.glob(f"{source.stem}.olean*"):
                shutil.copy(produced, partial / produced.name.removeprefix(f"{source.stem}."))
            (partial / "seconds").write_text(f"{seconds:.1f}")
            (CACHE / "objects").mkdir(exist_ok=True)
            try:
                partial.rename(store)
            except OSError:  # another run was faster
                shutil.rmtree(partial)
    return code == 0, seconds, output


def closure(name: str, texts: dict[str, str]) -> list[str]:
    found: list[str] = []
    for needed in imports(texts[name]):
        for other in (*closure(needed, texts), needed):
            if other not in found:
                found.append(other)
    return found


def check(files: dict[str, Path], wanted: list[str]) -> bool:
    """Check the wanted modules and what they import, each as soon as its imports are done."""
    order = in_order(files)
    texts = {name: files[name].read_text() for name in order}
    for name, text in texts.items():
        forbidden(name, text)
    hashes = fingerprints(texts, order)
    if wanted:
        order = [
            name
            for name in order
            if any(name == other or name in closure(other, texts) for other in wanted)
        ]
    done: dict[str, bool] = {}
    ready = threading.Condition()

    def work(name: str) -> None:
        needed = closure(name, texts)
        ok = False
        with ready:
            ready.wait_for(lambda: all(other in done for other in needed))
        try:
            if not all(done[other] for other in needed):
                print(f"{name:34} skipped: an import failed\n", end="", flush=True)
                return
            ok, seconds, output = compile_module(
                name, texts[name], [(other, hashes[other]) for other in needed], hashes[name]
            )
            spent = "unchanged" if ok and not seconds else f"{seconds:.0f} s"
            said = "" if ok else f"{output}\n"
            print(f"{name:34} {'ok' if ok else 'FAILED':7} {spent}\n{said}", end="", flush=True)
        finally:
            with ready:
                done[name] = ok
                ready.notify_all()

    with concurrent.futures.ThreadPoolExecutor(len(order)) as pool:
        list(pool.map(work, order))
    return all(done.values())


def without_comments(text: str) -> str:
    return re.sub(r"--.*", "", re.sub(r"/-.*?-/", "", text, flags=re.DOTALL))


def forbidden(name: str, text: str) -> None:
    found = re.search(
        r"\b(sorry|axiom|native_decide|unsafe|implemented_by|extern|opaque)\b",
        without_comments(text),
    )
    if found:
        raise Failed(f"{name} contains the word '{found.group()}', which a proof here must not use")


def module_body(text: str) -> str:
    """Return a module without the words of the module system."""
    body = re.sub(
        r"^(module|public section|end|(public )?import .*)$", "", text, flags=re.MULTILINE
    )
    return re.sub(r"^@\[expose\] public (noncomputable )?section$", "", body, flags=re.MULTILINE)
