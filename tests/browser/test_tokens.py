"""Pages of a service that asks for tokens."""

from __future__ import annotations

from playwright.sync_api import expect

from standout import Problem
from tests.browser.conftest import NewPage, Site, Watch
from tests.service.conftest import new_token

ARMS = ["ash", "elm", "fir", "oak"]


def test_signing_in_and_out(guarded: Site, new_page: NewPage, watch: Watch) -> None:
    study = guarded.new_study("trees", ARMS, Problem(noise="bernoulli", k=2))
    viewer = new_token(guarded.place, "viewer", "trees")
    owner = new_token(guarded.place, "owner")
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


def test_a_link_for_raters(guarded: Site, new_page: NewPage, watch: Watch) -> None:
    items = {arm: {"text": f"A {arm}."} for arm in ARMS}
    study = guarded.new_study("leaves", ARMS, Problem(noise="bernoulli", k=2), items=items)
    rater = new_token(guarded.place, "rater", "leaves")
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
    (worker,) = study.history()["worker"].tolist()
    assert worker.startswith("rater:")
    # A rater sees nothing else.
    page.goto("/study/leaves")
    expect(page.get_by_text("This token does not open this study.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("link", name="To the rating page")).to_be_visible()
    study.close()
