"""Negative controls: changed definitions that a module must refuse."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import time
from pathlib import Path

from checker.lean import CACHE, ROOT, Failed
from checker.modules import closure, compile_module, fingerprints, in_order


def controls(files: dict[str, Path]) -> bool:
    """Each entry changes one definition; the module named in it must then be refused. `shown` names what goes wrong, with numbers."""
    order = in_order(files)
    texts = {name: files[name].read_text() for name in order}
    entries = json.loads((ROOT / "Headway/Test/mutations.json").read_text())

    def refused(entry: dict[str, str]) -> bool:
        target, old, new = entry["module"], entry["old"], entry["new"]
        if texts[target].count(old) != 1:
            raise Failed(
                f"control '{entry['name']}': the text to replace occurs {texts[target].count(old)} times in {target}, not once"
            )
        changed = {**texts, target: texts[target].replace(old, new)}
        change = {word: text for word, text in entry.items() if word != "shown"}
        key = json.dumps([fingerprints(changed, order)[entry["fails"]], change])
        stamp = CACHE / "controls" / hashlib.sha256(key.encode()).hexdigest()[:32]
        if stamp.exists():
            print(f"control: {entry['name']:60} refused unchanged", flush=True)
            return True
        started = time.monotonic()
        hashes = fingerprints(changed, order)
        output, name, ok = "", "", True
        for name in [*closure(entry["fails"], changed), entry["fails"]]:
            ok, _, output = compile_module(
                name,
                changed[name],
                [(other, hashes[other]) for other in closure(name, changed)],
                hashes[name],
            )
            if not ok:
                break
        found = not ok and name == entry["fails"] and "error" in output
        print(
            f"control: {entry['name']:60} {'refused' if found else 'NOT REFUSED by ' + entry['fails']} {time.monotonic() - started:.0f} s",
            flush=True,
        )
        if not found and output:
            print(output)
        if found:
            stamp.parent.mkdir(exist_ok=True)
            stamp.touch()
        return found

    with concurrent.futures.ThreadPoolExecutor(len(entries)) as pool:
        return all(list(pool.map(refused, entries)))
