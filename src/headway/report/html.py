"""Join the page from its parts: one file that needs no network.

The scripts of `page/` are plain modules. They are joined in the order of `MODULES`, without their
imports and exports; the library that draws comes from `vendor/`, with its licence.
"""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files

from headway.report.collect import Collected
from headway.report.describe import describe
from headway.report.pack import Pack

MODULES = (
    "data",
    "model",
    "format",
    "palette",
    "bins",
    "strip",
    "paint",
    "semaphores",
    "panel",
    "counters",
    "search",
    "details",
    "tables",
    "view",
    "main",
)
LIBRARY = "uplot-1.6.32"

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|let|class) )", re.MULTILINE)


def page(collected: Collected) -> str:
    """Return the report as one HTML file."""
    pack = Pack()
    header = json.dumps(describe(collected, pack), separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "title": html.escape(f"{collected.program} on {collected.target}"),
        "licence": _vendor("LICENSE").replace("--", "- -"),
        "library_style": _vendor("uPlot.min.css"),
        "style": _read("page", "style.css"),
        "library": _inline(_vendor("uPlot.iife.min.js")),
        "header": header,
        "columns": pack.text(),
        "script": _inline(script()),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("page", "page.html"))


def script() -> str:
    """Return the joined scripts."""
    return "\n".join(plain(_read("page", f"{name}.js")) for name in MODULES)


def plain(module: str) -> str:
    """Return a module as a part of a script: without imports, its exports as plain definitions."""
    return _EXPORT.sub("", _IMPORT.sub("", module))


def _inline(text: str) -> str:
    """Return text that does not end the element that it lies in."""
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")


def _vendor(name: str) -> str:
    return _read("vendor", LIBRARY, name)


def _read(*path: str) -> str:
    return files("headway.report").joinpath(*path).read_text(encoding="utf-8")
