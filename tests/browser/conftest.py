"""A real browser and a real server, one of each for all tests here."""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from standout.study import Study
from tests.patience import HANGS
from tests.service.live import serving

WAIT = 1000 * HANGS
"""Milliseconds until something that should happen is missed."""
expect.set_options(timeout=WAIT)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture."""


def find_chromium() -> str | None:
    """Debian's Chromium; Playwright's own is not downloaded."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; where CI=true it must be there."""
    program = find_chromium()
    if program is None:
        message = "NO CHROMIUM: the pages are not tested; scripts/install-system.sh installs it"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    # All pages and their drawing in few processes: what keeps sites apart is for nothing here.
    options = ["--renderer-process-limit=1", "--in-process-gpu"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=options)
        yield started
        started.close()


@dataclass
class Site:
    """A server that runs, and the place of its studies."""

    url: str
    place: str
    names: set[str] = field(default_factory=set)

    def new_study(self, name: str, *args: Any, **options: Any) -> Study:
        """A study on this server, under a name that no other test uses."""
        assert name not in self.names
        self.names.add(name)
        return Study.create(self.place, *args, name=name, **options)

    def open(self, name: str) -> Study:
        """A study that a page made."""
        return Study.open(self.place, name)


@contextmanager
def serve(folder: Path, **settings: Any) -> Iterator[Site]:
    """A server in a thread of this process."""
    place = str(folder / "studies.db")
    with serving(place, **settings) as url:
        yield Site(url, place)


@contextmanager
def memory() -> Iterator[Path]:
    """A folder in memory where there is one."""
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder, prefix="standout-test-") as made:
        yield Path(made)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """An open server, as on one's own machine."""
    with memory() as folder, serve(folder) as running:
        yield running


@pytest.fixture(scope="session")
def guarded() -> Iterator[Site]:
    """A server that asks for tokens."""
    with memory() as folder, serve(folder, require_token=True) as running:
        yield running


class Watch:
    """What a page did that it must not do."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.complaints: list[str] = []
        self.expected: list[str] = []

    def expect(self, part: str) -> None:
        """Let the console say this."""
        self.expected.append(part)

    def complain(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.complaints.append(text)

    def attach(self, page: Page) -> None:
        page.on(
            "console", lambda said: said.type in ("error", "warning") and self.complain(said.text)
        )
        page.on("pageerror", lambda error: self.complain(f"uncaught: {error}"))
        page.on(
            "dialog", lambda dialog: (self.complain(f"dialog: {dialog.message}"), dialog.dismiss())
        )
        page.on("request", self._see)

    def _see(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.complain(f"request to {request.url}")


NewPage = Callable[..., Page]


@pytest.fixture
def watch() -> Watch:
    return Watch("")


@pytest.fixture
def new_page(browser: Browser, site: Site, watch: Watch) -> Iterator[NewPage]:
    """Make pages; each has cookies of its own unless given a context. All are watched."""
    contexts: list[BrowserContext] = []

    def make(
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        at: Site | None = None,
        context: BrowserContext | None = None,
    ) -> Page:
        here = at or site
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                base_url=here.url,
            )
            context.set_default_timeout(WAIT)
            contexts.append(context)
        page = context.new_page()
        watch.url = here.url
        watch.attach(page)
        return page

    yield make
    for context in contexts:
        context.close()
    assert watch.complaints == []


@pytest.fixture
def page(new_page: NewPage) -> Page:
    """A page as on a progress."""
    return new_page()
