"""Pages of a service that asks for tokens."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from standout import Problem
from standout.service.security.auth import FRESH
from tests.browser.conftest import PIXEL, NewPage, Site, Watch
from tests.service.conftest import new_token

ARMS = ["ash", "elm", "fir", "oak"]


def known_token(site: Site, role: str, study: str | None = None) -> str:
    """A token that the running server has heard of."""
    made = new_token(site.place, role, study)
    time.sleep(FRESH)
    return made


def test_signing_in_and_out(guarded: Site, new_page: NewPage, watch: Watch) -> None:
    study = guarded.new_study("trees", ARMS, Problem(noise="bernoulli", k=2))
    owner = new_token(guarded.place, "owner")
    viewer = known_token(guarded, "viewer", "trees")
    watch.expect("status of 401")
    page = new_page(at=guarded)
    page.goto("/study/trees")
    page.get_by_label("Token").fill("standout_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("Token").fill(viewer)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("h1 bdi")).to_have_text("trees")
    expect(page.locator("#connection")).to_have_text("live")
    page.goto("/")
    expect(page.get_by_role("link", name="trees")).to_be_visible()
    expect(page.get_by_role("button", name="New study")).to_be_hidden()
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto(f"/#token={owner}")
    expect(page.get_by_role("button", name="New study")).to_be_visible()
    assert "#" not in page.url
    study.close()


def test_pictures_also_by_a_link_from_elsewhere(
    guarded: Site, new_page: NewPage, watch: Watch
) -> None:
    items = {arm: {"image": f"https://pictures.example/{arm}.png"} for arm in ARMS}
    study = guarded.new_study("photos", ARMS, Problem(noise="bernoulli", k=2), items=items)
    rater = known_token(guarded, "rater", "photos")
    for part in ("request to http://localhost", "request to https://pictures.example"):
        watch.expect(part)
    page = new_page(at=guarded)
    page.route("https://pictures.example/**", lambda route: route.fulfill(body=PIXEL))
    page.goto(f"/rate/photos#token={rater}")
    expect(page.locator(".item img")).to_be_visible()
    # From another site the browser comes without its cookies, and so without a name.
    page.goto(guarded.url.replace("127.0.0.1", "localhost") + "/static/x/icon.svg")
    page.evaluate("(url) => { location.href = url; }", f"{guarded.url}/rate/photos")
    expect(page.locator(".item img")).to_be_visible()
    assert page.evaluate("() => document.querySelector('.item img').naturalWidth") == 1
    study.close()


def test_a_link_for_raters(guarded: Site, new_page: NewPage, watch: Watch) -> None:
    items = {arm: {"text": f"A {arm}."} for arm in ARMS}
    study = guarded.new_study("leaves", ARMS, Problem(noise="bernoulli", k=2), items=items)
    rater = known_token(guarded, "rater", "leaves")
    watch.expect("status of 401")
    watch.expect("status of 403")
    page = new_page(at=guarded)
    page.goto("/rate/leaves")
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto("about:blank")
    page.goto(f"/rate/leaves#token={rater}")
    expect(page.locator(".item")).to_contain_text("A ")
    assert "#" not in page.url
    page.wait_for_timeout(300)
    page.keyboard.press("y")
    expect(page.locator("#progress")).to_have_text("1 answer given")
    worker, *_ = study.history()["worker"].tolist()
    assert worker.startswith("rater:")
    # A rater sees nothing else.
    page.goto("/study/leaves")
    expect(page.get_by_text("This token does not open this study.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("link", name="To the rating page")).to_be_visible()
    study.close()
