"""Every page in every state, looked at by axe, in light and dark, on a desk and on a phone."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from standout import Problem, Study
from standout.report.page import render_report
from tests.browser.axe import violations
from tests.browser.conftest import PIXEL, NewPage, Site, Watch, memory, serve
from tests.browser.test_dashboard import ARMS, answer
from tests.browser.test_rating import press

LOOKS = [(1280, "light"), (390, "dark")]
ITEMS = {arm: {"text": f"The {arm}"} for arm in ARMS}
PICTURE = "data:image/png;base64," + base64.b64encode(PIXEL).decode()
SEEN = {arm: {"text": f"The {arm}", "image": PICTURE} for arm in ARMS}
DONE = {"completion": {"after": 2, "code": "C7", "url": "https://panel.example/done"}}
SCALE = {"min": 0, "max": 1, "steps": 50, "low_label": "none", "high_label": "all"}


@pytest.fixture(scope="module", autouse=True)
def studies(site: Site) -> Iterator[dict[str, Study]]:
    """One study per state."""
    wide = Problem(noise="gaussian:5", k=2)
    made = {
        "axe empty": site.new_study("axe empty", ARMS, wide),
        "axe running": site.new_study("axe running", ARMS, wide, items=ITEMS, budget=90),
        "axe decided": site.new_study("axe decided", ARMS, Problem(noise="gaussian:0.05", k=2)),
        "axe many": site.new_study("axe many", [f"arm {i}" for i in range(300)], wide),
        "axe same": site.new_study("axe same", ARMS[:5], Problem(noise="gaussian:1", k=2)),
    }
    answer(made["axe running"], 60)
    made["axe running"].note("the freezer was warm", worker="ada")
    made["axe running"].pause("bag 2", "out of stock")
    answer(made["axe decided"])
    rng = np.random.default_rng(0)
    many = made["axe many"]
    many.tell_many([(arm, float(rng.normal())) for arm in many.arms for _ in range(4)])
    same = made["axe same"]
    pairs = [(arm, value) for value in rng.normal(0, 1, 300) for arm in same.arms]
    same.fail(same.ask(1)[0], "dropped")
    same.pause("bag 2", "out of stock")
    same.tell_many(pairs)
    for name, page in (
        ("axe asks", {"question": "Is it ripe?", "consent": "We keep your answers.", **DONE}),
        ("axe slides", {"question": "How ripe?", "scale": SCALE}),
    ):
        noise = "bernoulli" if name == "axe asks" else "bounded:0,1"
        problem = Problem(noise=noise, k=2)
        site.new_study(name, ARMS, problem, items=SEEN, page=page).close()
    yield made
    for study in made.values():
        study.close()


def check(page: Page, state: str = "") -> None:
    # What the bar at the top happens to cover when a page is scrolled is no target.
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    # Colours that fade in are judged when they are there; a wheel that turns for ever has no end.
    page.evaluate(
        """() => Promise.allSettled(document.getAnimations().filter(
            (one) => Number.isFinite(one.effect.getComputedTiming().endTime)
        ).map((one) => one.finished))"""
    )
    assert (state, violations(page)) == (state, [])


def opened(page: Page, name: str) -> None:
    page.goto(f"/study/{name}")
    expect(page.locator("#connection")).to_have_text("live")


Journey = Iterator[str]
"""The states of a page, one after the other."""


def dashboards(page: Page) -> Journey:
    for state in ("empty", "decided", "same", "many"):
        opened(page, f"axe%20{state}")
        yield state
    page.get_by_role("combobox", name="Find an arm").fill("arm 1")
    yield "search"
    page.get_by_role("combobox", name="Find an arm").press("Escape")
    page.get_by_role("button", name="Table").click()
    page.locator("#table button.link").nth(1).click()
    yield "table"


def running(page: Page) -> Journey:
    opened(page, "axe%20running")
    expect(page.locator("#likely-arms li").first).to_be_visible()
    expect(page.locator("#endings")).to_be_visible()
    yield "running, with its history"
    for button in ("Stop the study", "Tolerance", "Add a note"):
        page.get_by_role("button", name=button, exact=True).click()
        yield button
        page.keyboard.press("Escape")
    page.locator("#rows [role=option]").nth(1).click()
    expect(page.locator("#chosen-picture .mean-line")).to_be_visible()
    page.get_by_text("Newest rewards").click()
    yield "arm"
    for name in ("Void the reward", "Pause"):
        page.locator("#chosen").get_by_role("button", name=name).first.click()
        yield name
        page.keyboard.press("Escape")


def lists(page: Page) -> Journey:
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    for part in page.locator("#create details").all():
        part.locator("summary").click()
    yield "studies, and a new one"
    page.goto("/compare?study=axe%20running&study=axe%20decided")
    expect(page.locator("#found")).to_be_visible()
    yield "compared"
    page.goto("/compare?study=axe%20running&study=axe%20many")
    expect(page.locator("#found")).to_contain_text("none is in both")
    yield "nothing to compare"


def rating(page: Page) -> Journey:
    page.goto("/rate/axe%20slides?pilot")
    expect(page.get_by_role("slider")).to_be_visible()
    yield "pilot, slider"
    page.goto("/rate/axe%20asks")
    expect(page.get_by_role("button", name="I agree")).to_be_visible()
    yield "consent"
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Enlarge the picture").click()
    yield "enlarged"
    page.keyboard.press("Escape")
    yield "item"
    press(page, "Yes")
    page.get_by_role("button", name="Change my last answer").click()
    expect(page.locator("#card")).to_contain_text("You answered “Yes”")
    yield "change"
    press(page, "No")
    press(page, "Yes")
    expect(page.get_by_role("heading", name="You are done")).to_be_visible()
    yield "done"
    page.get_by_role("button", name="Continue rating").click()
    page.get_by_role("button", name="Stop for now").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    yield "left"


@pytest.mark.parametrize("journey", [dashboards, running, lists, rating])
def test_axe_finds_nothing(new_page: NewPage, journey: Callable[[Page], Journey]) -> None:
    for width, scheme in LOOKS:
        page = new_page(width=width, scheme=scheme)
        for state in journey(page):
            check(page, state)
        page.close()


def test_axe_finds_nothing_with_tokens(new_page: NewPage, monkeypatch: pytest.MonkeyPatch) -> None:
    # A link to this machine has no code: no phone could follow it.
    monkeypatch.setattr("standout.study.token_links.is_loopback", lambda host: False)
    with memory() as folder, serve(folder) as here:
        here.new_study("shared", ARMS, Problem(noise="bernoulli")).close()
        page = new_page(at=here)
        page.goto("/study/shared")
        for number, scheme in enumerate(("light", "dark")):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.get_by_role("button", name="New token").click()
            check(page, "new token")
            page.get_by_role("button", name="Make it").click()
            expect(page.get_by_role("img", name="QR code")).to_be_visible()
            check(page, "the token, once")
            page.get_by_role("button", name="Done").click()
            expect(page.locator("#tokens tbody tr")).to_have_count(number + 1)
        page.get_by_role("button", name="Revoke").last.click()
        check(page, "revoke it?")
        page.get_by_role("button", name="Revoke it").click()
        expect(page.locator("#changes li")).to_have_count(3)
        check(page, "its history")
        page.close()


def test_axe_finds_nothing_in_errors(new_page: NewPage, guarded: Site, watch: Watch) -> None:
    watch.expect("status of 40")
    for scheme in ("light", "dark"):
        page = new_page(scheme=scheme)
        for address in ("/study/nothing", "/rate/nothing", "/nothing"):
            page.goto(address)
            expect(
                page.get_by_role("heading", level=2).or_(page.get_by_role("heading", level=1)).first
            ).to_be_visible()
            check(page)
        page = new_page(scheme=scheme, at=guarded)
        page.goto("/")
        expect(page.get_by_role("dialog")).to_be_visible()
        check(page)


@pytest.mark.parametrize(
    "name", ["axe empty", "axe running", "axe decided", "axe same", "axe many"]
)
def test_axe_finds_nothing_in_a_report(
    new_page: NewPage, studies: dict[str, Study], name: str, watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_report(studies[name]), encoding="utf-8")
    for scheme in ("light", "dark"):
        page = new_page(scheme=scheme)
        watch.url = path.as_uri()
        page.goto(path.as_uri())
        check(page)


@pytest.mark.parametrize("place", ["/", "/study/axe%20running", "/rate/axe%20asks"])
def test_nothing_moves_for_who_wants_that(new_page: NewPage, place: str) -> None:
    page = new_page()
    page.emulate_media(reduced_motion="reduce")
    page.goto(place)
    if place.startswith("/rate"):
        page.get_by_role("button", name="I agree").click()
        expect(page.get_by_role("button", name="Yes")).to_be_visible()
    # Also what turns while one waits, which may be over already.
    moving = """() => {
        document.body.insertAdjacentHTML("beforeend", "<p class=loading>Wait</p>");
        return document.getAnimations().length;
    }"""
    assert page.evaluate(moving) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(moving) > 0
