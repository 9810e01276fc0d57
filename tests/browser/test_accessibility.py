"""Every page in every state, looked at by axe, in light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from standout import Problem, Study
from standout.report.page import render_report
from tests.browser.axe import violations
from tests.browser.conftest import NewPage, Site, Watch
from tests.browser.test_dashboard import ARMS, answer

LOOKS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
ITEMS = {arm: {"text": f"The {arm}"} for arm in ARMS}
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
        ("axe asks", {"question": "Is it ripe?", "consent": "We keep your answers."}),
        ("axe slides", {"question": "How ripe?", "scale": SCALE}),
    ):
        noise = "bernoulli" if name == "axe asks" else "bounded:0,1"
        problem = Problem(noise=noise, k=2)
        site.new_study(name, ARMS, problem, items=ITEMS, page=page).close()
    yield made
    for study in made.values():
        study.close()


def check(page: Page) -> None:
    page.wait_for_timeout(250)  # Colours that fade in are judged when they are there.
    assert violations(page) == []


def opened(page: Page, name: str) -> None:
    page.goto(f"/study/{name}")
    expect(page.locator("#connection")).to_have_text("live")


def open_arm(page: Page) -> None:
    opened(page, "axe running")
    page.locator("#rows [role=option]").nth(1).click()
    expect(page.locator("#chosen-picture .mean-line")).to_be_visible()
    page.get_by_text("Newest rewards").click()


def open_table(page: Page) -> None:
    opened(page, "axe many")
    page.get_by_role("button", name="Table").click()
    page.locator("#table button.link").nth(1).click()


def open_search(page: Page) -> None:
    opened(page, "axe many")
    page.get_by_role("combobox", name="Find an arm").fill("arm 1")


def open_dialog(page: Page) -> None:
    opened(page, "axe running")
    page.get_by_role("button", name="Tolerance", exact=True).click()


def open_form(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    for part in page.locator("#create details").all():
        part.locator("summary").click()


def open_item(page: Page) -> None:
    page.goto("/rate/axe%20asks")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("button", name="Yes")).to_be_visible()


def open_slider(page: Page) -> None:
    page.goto("/rate/axe%20slides")
    expect(page.get_by_role("slider")).to_be_visible()


def open_consent(page: Page) -> None:
    page.goto("/rate/axe%20asks")
    expect(page.get_by_role("button", name="I agree")).to_be_visible()


def open_report(page: Page) -> None:
    page.goto("/api/v1/studies/axe%20running/report")


STATES: dict[str, Callable[[Page], None]] = {
    "empty": lambda page: opened(page, "axe%20empty"),
    "running": lambda page: opened(page, "axe%20running"),
    "decided": lambda page: opened(page, "axe%20decided"),
    "undecidable": lambda page: opened(page, "axe%20same"),
    "many": lambda page: opened(page, "axe%20many"),
    "arm": open_arm,
    "table": open_table,
    "search": open_search,
    "dialog": open_dialog,
    "studies": open_form,
    "compare": lambda page: page.goto("/compare?one=axe%20running&two=axe%20decided"),
    "consent": open_consent,
    "item": open_item,
    "slider": open_slider,
}


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing(new_page: NewPage, state: str) -> None:
    # All four of the page that most people see; two that differ in both of the others.
    for width, scheme in LOOKS if state == "running" else LOOKS[::3]:
        page = new_page(width=width, scheme=scheme)
        STATES[state](page)
        check(page)
        page.close()


def test_axe_finds_nothing_in_errors(new_page: NewPage, guarded: Site, watch: Watch) -> None:
    watch.expect("status of 40")
    for scheme in ("light", "dark"):
        page = new_page(scheme=scheme)
        for address in ("/study/nothing", "/rate/nothing"):
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


def test_nothing_moves_for_who_wants_that(new_page: NewPage) -> None:
    page = new_page()
    page.emulate_media(reduced_motion="reduce")
    open_item(page)
    longest = page.evaluate(
        """() => Math.max(0, ...document.getAnimations().map(
            (one) => one.effect.getComputedTiming().duration))"""
    )
    assert longest < 1
