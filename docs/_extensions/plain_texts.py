"""Read texts as they are written here: docstrings with programs in them, and named places.

A docstring shows a program as an indented block; a document names a place with `<a id="name"></a>`,
so that it is found in the repository as well as in the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

PLACE = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)


def with_blocks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a docstring, indented ones marked as a block of code."""
    inside = False
    before = ""
    for line in lines:
        is_indented = line.startswith("    ")
        if is_indented and not inside and not before.strip():
            yield from (".. code-block:: hwy", "")
            inside = True
        elif line.strip() and not is_indented:
            inside = False
        yield line
        before = line


def docstring(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]):
    """Mark the blocks of one docstring."""
    lines[:] = with_blocks(lines)


def source(app: Sphinx, name: str, texts: list[str]) -> None:
    """Turn named places into what MyST calls a target."""
    texts[0] = PLACE.sub(r"(\1)=", texts[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.connect("autodoc-process-docstring", docstring)
    app.connect("source-read", source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
