"""Pages in a real browser: Chromium without a window, as the system installed it.

On a machine without Chromium these tests are skipped; with HEADWAY_BROWSER=required, as in CI, they
fail.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OWN = ("file:", "data:", "blob:", "http://127.0.0.1:")
"""Addresses that need no network."""

PATIENCE = 60_000
"""Milliseconds until something on a page has to have happened; other tests run beside it."""


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator["BrowserContext"]:
    """A browser with a new profile."""
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None or sync_playwright is None:
        missing = "Chromium" if sync_playwright else "the package playwright"
        if os.environ.get("HEADWAY_BROWSER") == "required":
            pytest.fail(f"{missing} is not installed, and HEADWAY_BROWSER=required")
        pytest.skip(f"{missing} is not installed: pages are not tried in a browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=chromium,
            args=FLAGS,
            chromium_sandbox=False,
            viewport={"width": 1280, "height": 900},
        )
        started.set_default_timeout(PATIENCE)
        yield started
        started.close()


@dataclass
class Opened:
    """A page that is watched: `complaints` of its console, and `requests` to other machines."""

    page: "Page"
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("request", self._request)

    def _console(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _request(self, request: "Request") -> None:
        if not request.url.startswith(OWN):
            self.requests.append(request.url)

    def open(self, place: Path | str) -> "Page":
        """Open a file or an address of this machine, and wait until it has loaded."""
        url = place if isinstance(place, str) else place.resolve().as_uri()
        self.page.goto(url, wait_until="load")
        return self.page


@pytest.fixture
def opened(context: "BrowserContext") -> Iterator[Opened]:
    """A new page. It must complain of nothing, and ask nobody for anything."""
    watched = Opened(context.new_page())
    yield watched
    watched.page.close()
    assert watched.complaints == []
    assert watched.requests == []


try:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, sync_playwright
except ImportError:  # the extra `browser` does not fit every machine
    sync_playwright = None
