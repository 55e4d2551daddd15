"""The documentation site: every page loads, every link leads somewhere, search finds."""

import fcntl
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from conftest import Opened

ROOT = Path(__file__).parents[2]
MACHINERY = ("genindex.html", "search.html", "py-modindex.html")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it; once for all processes that test it."""
    shared = tmp_path_factory.getbasetemp()
    if "popen-gw" in shared.name:
        shared = shared.parent
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            done = subprocess.run(
                [ROOT / "scripts/docs", folder], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "built").touch()
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served; a search fetches what it found, which files cannot."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def documents(site: Path) -> list[str]:
    """The pages that somebody wrote, and two of source files."""
    names = [str(path.relative_to(site)) for path in sorted(site.rglob("*.html"))]
    own = [name for name in names if not name.startswith(("source/", "_", *MACHINERY))]
    return [*own, "source/proof.html", "source/examples/race.hwy.html"]


def test_every_link_leads_to_a_page_and_a_place_on_it(site: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    places = {path: set(re.findall(r'\sid="([^"]+)"', text)) for path, text in texts.items()}
    dead: list[str] = []
    for path, text in texts.items():
        for link in re.findall(r'\s(?:href|src)="([^"]+)"', text):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            known = target in places
            if not target.exists() or (
                url.fragment and known and unquote(url.fragment) not in places[target]
            ):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert not dead
    assert len(texts) > 20


def test_every_page_loads_and_its_pictures_show(opened: "Opened", site: Path) -> None:
    for name in documents(site):
        page = opened.open(site / name)
        assert page.locator("h1").first.inner_text()
        widths = page.locator("article img").evaluate_all("all => all.map(i => i.naturalWidth)")
        assert all(widths), name


def test_search_finds_a_page_by_a_word(opened: "Opened", address: str) -> None:
    page = opened.open(f"{address}/index.html")
    page.locator("input[name=q]").first.fill("semaphores")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=semaphores*")
    page.locator("#search-results li a", has_text="Limits").first.wait_for()


def test_a_program_shows_in_its_colours(opened: "Opened", site: Path) -> None:
    page = opened.open(site / "language.html")
    assert page.locator(".highlight-hwy .k", has_text="loop").count() > 5


def test_a_narrow_page_does_not_scroll_sideways(opened: "Opened", site: Path) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 800})
    wide = [
        name
        for name in documents(site)
        if opened.open(site / name).evaluate("document.documentElement.scrollWidth") > 390
    ]
    assert wide == []
