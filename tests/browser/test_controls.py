"""What an owner changes on the page: confirmed, kept with a reason, shown in the history."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page, expect

from standout import Problem
from tests.browser.conftest import NewPage, Site, Watch, memory, serve
from tests.browser.test_dashboard import ARMS, answer


def confirm(page: Page, button: str, **fields: str) -> None:
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        dialog.get_by_label(label.replace("_", " ")).fill(text)
    dialog.get_by_role("button", name=button).click()
    expect(dialog).to_have_count(0)


def test_stop_budget_tolerance_and_void(site: Site, page: Page) -> None:
    study = site.new_study("steered", ARMS, Problem(noise="gaussian:5", k=2))
    answer(study, 60)
    page.goto("/study/steered")
    page.get_by_role("button", name="Budget").click()
    # Cancelled, nothing happens.
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Budget")).to_be_focused()
    page.get_by_role("button", name="Budget").click()
    confirm(page, "Change it", Pulls_in_all="500", Why="money")
    expect(page.locator("#figures")).to_contain_text("of 500")
    page.get_by_role("button", name="Tolerance", exact=True).click()
    confirm(page, "Change it", Tolerance="0.25", Why="near enough")
    expect(page.locator("#question")).to_contain_text("Within 0.25 of the threshold")
    page.locator("#rows [role=option]").first.click()
    arm = page.locator("#chosen-name").inner_text()
    page.get_by_text("Newest rewards").click()
    before = page.locator("#chosen-latest tbody tr").count()
    page.get_by_role("button", name="Void the reward").first.click()
    confirm(page, "Take it back", Why="misread")
    expect(page.locator("#chosen-latest")).to_contain_text("not counted")
    expect(page.locator("#figures")).to_contain_text("Pulls59")
    assert page.locator("#chosen-latest tbody tr").count() == before
    page.locator("#chosen-pause").click()
    confirm(page, "Pause", Why="out of stock")
    expect(page.locator("#failures")).to_contain_text("out of stock")
    page.locator("#chosen-pause").click()
    confirm(page, "Resume", Why="there again")
    expect(page.locator("#failures")).not_to_contain_text("out of stock")
    page.get_by_role("button", name="Stop the study").click()
    confirm(page, "Stop it", Why="lunch")
    expect(page.locator("#state")).to_contain_text("stopped")
    page.locator("#change-stop").click()
    confirm(page, "Continue", Why="back")
    expect(page.locator("#state")).to_have_text("measuring")
    page.get_by_role("button", name="Add a note").click()
    confirm(page, "Add it", Note="the freezer was warm <b>")
    expect(page.locator("#changes")).to_contain_text("the freezer was warm <b>")
    changes = page.locator("#changes")
    for reason in ("money", "near enough", "misread", "out of stock", "there again", "lunch"):
        expect(changes).to_contain_text(reason)
    for words in (f"paused {arm}", f"resumed {arm}", "owner:local: back"):
        expect(changes).to_contain_text(words)
    assert study.verify().is_ok
    study.close()


def test_a_ticket_is_released(site: Site, page: Page) -> None:
    study = site.new_study("released", ARMS, Problem(noise="gaussian:5", k=2))
    first, _ = study.ask(2, worker="bench 3", lease=3600)
    page.goto("/study/released")
    page.get_by_text("Handed out").click()
    out = page.locator("#out")
    expect(out.locator("tbody tr")).to_have_count(2)
    expect(out).to_contain_text("bench 3")
    page.get_by_role("button", name=f"Release ticket {first.id}").click()
    confirm(page, "Release it")
    expect(out).to_contain_text("free again")
    assert study.status().expired == 1
    assert study.ask(worker="bench 4").arm == first.arm  # type: ignore[union-attr]
    study.close()


def test_what_is_refused_is_said(site: Site, page: Page, watch: Watch) -> None:
    study = site.new_study("refused", ARMS, Problem(noise="gaussian:5", k=2))
    answer(study, 60)
    watch.expect("status of 422")
    page.goto("/study/refused")
    page.get_by_role("button", name="Budget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Pulls in all").fill("10")
    dialog.get_by_label("Why").fill("less")
    dialog.get_by_role("button", name="Change it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("less than the 60 pulls")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    study.close()


def test_tokens_are_made_and_revoked(new_page: NewPage) -> None:
    with memory() as folder, serve(folder) as here:
        here.new_study("shared", ARMS, Problem(noise="bernoulli")).close()
        page = new_page(at=here)
        page.goto("/study/shared")
        page.get_by_role("button", name="New token").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Label").fill("me")
        dialog.get_by_role("button", name="Make it").click()
        # Not for this machine's own address, which no phone could follow.
        expect(dialog.get_by_role("img", name="QR code")).to_have_count(0)
        dialog.get_by_role("button", name="Done").click()
        expect(page.locator("#tokens tbody tr")).to_have_count(1)
        # This browser has signed in with it; now a rater's.
        page.get_by_role("button", name="New token").click()
        dialog.get_by_label("Label").fill("office")
        dialog.get_by_role("button", name="Make it").click()
        link = dialog.get_by_role("textbox", name="Link").input_value()
        assert link.startswith(f"{here.url}/rate/shared#token=standout_")
        dialog.get_by_role("button", name="Done").click()
        rater = new_page(at=here)
        rater.goto(link)
        expect(rater.get_by_role("button", name="Yes")).to_be_visible()
        page.get_by_role("button", name="Revoke the rater’s token office").click()
        confirm(page, "Revoke it")
        expect(page.locator("#tokens")).to_contain_text("revoked")
        history = page.locator("#changes li")
        expect(history).to_have_count(3)
        expect(history.nth(0)).to_contain_text("revoked the rater’s token for this study: office")
        expect(history.nth(0)).to_contain_text("me (owner)")
        expect(history.nth(2)).to_contain_text("made an owner’s token for every study: me")
        for one in (page, rater):
            one.close()


def test_studies_side_by_side(site: Site, page: Page, watch: Watch) -> None:
    watch.expect("status of 404")
    problem = Problem(noise="gaussian:0.05", k=2)
    items = {"bag 3": {"text": "<i>From the hill"}}
    one = site.new_study("compared one", [*ARMS, "<b>only"], problem, items=items)
    two = site.new_study("compared two", ARMS, problem)
    rng = np.random.default_rng(0)
    for study, odd in ((one, "bag 12"), (two, "bag 3")):
        while tickets := study.ask(6):
            means = {arm: 0.1 * i for i, arm in enumerate(study.arms)} | {"bag 12": 1.1, odd: 9.0}
            study.tell_many([(t, float(rng.normal(means[t.arm], 0.05))) for t in tickets])
    page.goto("/compare")
    page.get_by_label("Study 1").select_option("compared one")
    page.get_by_label("Study 2").select_option("compared two")
    page.get_by_role("button", name="Compare").click()
    found = page.locator("#found")
    expect(found).to_contain_text("12 arms in both; compared one has 1 other arm.")
    expect(found).to_contain_text("certainly not in another: bag 3, bag 12.")
    expect(found).to_contain_text("with probability at least 90 %")
    first = page.locator("#found-table tbody tr").first
    expect(first).to_contain_text("verdicts differ")
    expect(first).to_contain_text("<i>From the hill")
    expect(first.locator("svg.picture .line")).to_have_count(2)
    two.copy("compared three")
    page.reload()
    page.get_by_role("button", name="Add another").click()
    page.get_by_label("Study 3").select_option("compared three")
    page.get_by_role("button", name="Compare").click()
    expect(found).to_contain_text("12 arms in all 3")
    expect(found).to_contain_text("with probability at least 85 %")
    expect(first.locator("svg.picture .line")).to_have_count(3)
    page.goto("/compare?study=nothing&study=compared%20two")
    expect(page.locator("#problem")).to_contain_text("This did not work")
    one.close()
    two.close()
