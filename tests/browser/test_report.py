"""The report opened from a disk in a real browser: nothing fetched, nothing broken, prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from standout.report.page import render_report
from tests.report.studies import make, measure
from tests.report.test_page import HOSTILE

WIDTHS = {"phone": 320, "desktop": 1200}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One report with a line per arm and one with arms side by side, with awkward names."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for n_arms in (12, 90):
        arms = [*HOSTILE, *(f"arm {i}" for i in range(n_arms - len(HOSTILE)))]
        means = {arm: 0.1 * (i % 6) for i, arm in enumerate(arms)} | {HOSTILE[0]: 9.0}
        here = folder / str(n_arms)
        here.mkdir()
        with make(here, arms=arms, problem={"tolerance": 0.5}, budget=40 * n_arms) as study:
            text = render_report(measure(study, means, plate=100))
        found[str(n_arms)] = here / "report.html"
        found[str(n_arms)].write_text(text, encoding="utf-8")
    return found


def opened(browser: Browser, path: Path, width: int, scheme: str) -> tuple[Page, list[str]]:
    page = browser.new_page(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        java_script_enabled=False,
    )
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: noise.append(dialog.message))
    page.on("request", lambda request: noise.append(request.url))
    page.goto(path.as_uri())
    assert noise.pop(0) == path.as_uri()
    return page, noise


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("which", ["12", "90"])
def test_it_opens_offline_on_every_screen(
    browser: Browser, files: dict[str, Path], which: str, device: str, scheme: str
) -> None:
    page, noise = opened(browser, files[which], WIDTHS[device], scheme)
    try:
        assert page.title() == "main: which arms stand out?"
        answer = page.locator("#answer")
        assert answer.is_visible()
        assert "alert(1)" in answer.inner_text()
        # One of the two forms of each picture is shown, and nothing sticks out sideways.
        shown, hidden = ("narrow", "wide") if device == "phone" else ("wide", "narrow")
        assert page.locator(f"svg.{shown}").first.is_visible()
        assert not page.locator(f"svg.{hidden}").first.is_visible()
        body = page.locator("body").bounding_box()
        assert body is not None
        assert body["width"] <= WIDTHS[device]
        for part in ("header", "#answer", "#picture", "#meaning", "#checks"):
            box = page.locator(part).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= WIDTHS[device]
        assert page.locator("script, img, h1 + h1").count() == 0
        assert noise == []
    finally:
        page.close()


def test_dark_is_dark_and_paper_is_white(browser: Browser, files: dict[str, Path]) -> None:
    page = browser.new_page(color_scheme="dark")
    try:
        page.goto(files["12"].as_uri())
        colour = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(colour) == "rgb(18, 23, 30)"
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        pages = page.pdf(prefer_css_page_size=True)
        assert pages.startswith(b"%PDF")
        assert pages.count(b"/Type /Page\n") <= 6
    finally:
        page.close()
