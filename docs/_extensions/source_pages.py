"""Make pages of the source files that documents link to, so that the links work in the site too.

A document names a file as a reader of the repository finds it: `[text](../src/headway/errors.py)`.
Each such file, and each folder, gets a page below `source/`. A link to nothing is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
FOLDER = "source"
LOGGER = logging.getLogger(__name__)


class SourceLinks(SphinxTransform):
    """Turn links out of the folder of documents into links to pages of source files."""

    default_priority = 5  # before Sphinx collects downloads

    def apply(self, **kwargs: Any) -> None:
        """Replace the links of one document."""
        here = Path(self.env.doc2path(self.env.docname)).parent
        for link in list(self.document.findall(_is_link)):
            target = (here / link["reftarget"].partition("#")[0]).resolve()
            if not target.is_relative_to(ROOT) or target.is_relative_to(ROOT / "docs"):
                continue
            if not target.exists():
                LOGGER.warning("no file %s", link["reftarget"], location=link)
                continue
            name = target.relative_to(ROOT).as_posix()
            _linked(self.app).add(name)
            up = "../" * self.env.docname.count("/")
            page = nodes.reference("", "", internal=True, refuri=f"{up}{FOLDER}/{name}.html")
            page.extend(link.children)
            link.replace_self(page)


def _is_link(node: nodes.Node) -> bool:
    return isinstance(node, download_reference | pending_xref) and node.get(
        "reftarget", ""
    ).startswith("../")


def _linked(app: Sphinx) -> set[str]:
    if not hasattr(app.env, "headway_sources"):
        app.env.headway_sources = set()  # type: ignore[attr-defined]
    return app.env.headway_sources  # type: ignore[attr-defined]


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for each file and folder that is linked, and for what such a folder holds."""
    todo, done = sorted(_linked(app)), set[str]()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        path = ROOT / name
        if path.is_dir():
            inside = sorted(_shown(path))
            todo += [f"{name}/{entry}" for entry in inside]
            body = "".join(
                f'<li><a href="{escape(path.name)}/{escape(e)}.html">{escape(e)}</a></li>'
                for e in inside
            )
            body = f"<ul>{body}</ul>"
        else:
            body = _highlighted(path)
        title = escape(name)
        yield f"{FOLDER}/{name}", {"title": title, "body": f"<h1>{title}</h1>{body}"}, "page.html"


def _shown(folder: Path) -> Iterator[str]:
    for entry in folder.iterdir():
        if not entry.name.startswith((".", "__pycache__")):
            yield entry.name


def _highlighted(path: Path) -> str:
    text = path.read_bytes().decode("utf-8", errors="replace")
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(text, lexer, HtmlFormatter(linenos="inline", lineanchors="L"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.add_transform(SourceLinks)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
