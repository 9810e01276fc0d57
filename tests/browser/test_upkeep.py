"""Past rewards, more arms, another name, a copy and the end of a study, all on its page."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from standout import Problem
from tests.browser.conftest import Site, Watch
from tests.browser.test_controls import confirm


def upload(page: Page, name: str, text: str) -> None:
    page.get_by_role("button", name="Past rewards", exact=True).click()
    content = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.get_by_role("dialog").get_by_label("Table").set_input_files(content)


def test_a_study_from_its_table_to_its_end(site: Site, page: Page, watch: Watch) -> None:
    watch.expect("422")
    arms = ["ash", "elm", "fir"]
    study = site.new_study("upkeep", arms, Problem(noise="bernoulli", k=2), room=5, axis="Ripe")
    page.goto("/study/upkeep")
    expect(page.locator("#axis-name")).to_have_text("Ripe")
    upload(page, "past.csv", "arm,value\nash,1\nelm,2\n")
    page.get_by_role("dialog").get_by_role("button", name="Add them").click()
    expect(page.get_by_role("alert")).to_contain_text("reward 2")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    for _ in range(2):  # The same table counts once.
        upload(page, "past.csv", "\ufeffarm,value\n" + "ash,1\nelm,0\nfir,0\n" * 3)
        confirm(page, "Add them")
    expect(page.locator("#figures")).to_contain_text("Pulls9")
    page.get_by_role("button", name="Add arms").click()
    expect(page.get_by_role("dialog")).to_contain_text("room for 2 more arms")
    page.get_by_role("dialog").get_by_label("Arms, one per line").fill("oak\n yew\n")
    page.get_by_role("dialog").get_by_label("Why?").fill("late")
    page.get_by_role("dialog").get_by_role("button", name="Add them").click()
    expect(page.locator("#rows")).to_contain_text("yew")
    expect(page.get_by_role("button", name="Add arms")).to_have_count(0)
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("dialog").get_by_label("New name").fill("kept up")
    page.get_by_role("dialog").get_by_role("button", name="Rename it").click()
    expect(page).to_have_url(re.compile("kept%20up$"))
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("dialog").get_by_label("Name of the copy").fill("again")
    page.get_by_role("dialog").get_by_role("button", name="Copy it").click()
    expect(page.locator("#name")).to_have_text("again")
    expect(page.locator("#figures")).to_contain_text("Pulls0")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_label("Its name once more").fill("agian")
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing was deleted")
    page.get_by_role("dialog").get_by_label("Its name once more").fill("again")
    page.get_by_role("dialog").get_by_role("button", name="Delete it").click()
    expect(page.locator("#studies")).to_contain_text("kept up")
    expect(page.locator("#studies")).not_to_contain_text("again")
    with site.open("kept up") as found:
        assert found.status().arms == 5
        assert found.changes()[-1].reason == "renamed from upkeep to kept up"
    study.close()


def test_begin_with_a_table(page: Page, tmp_path: Path) -> None:
    """A table alone is enough: its arms are the study's, and what is wrong with it is said."""
    table = tmp_path / "plate.csv"
    table.write_text("Well;Reading\nA1;0,5\nA1;0,6\nB2;0,4\nC3;3,5\n", encoding="utf-8")
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name", exact=True).fill("from a table")
    page.get_by_label("One measurement is").select_option("gaussian-unknown")
    page.get_by_text("Past rewards: begin with a table").click()
    page.get_by_label("Table, a CSV").set_input_files(table)
    page.get_by_label("Between fields").select_option(";")
    page.get_by_label("Decimal sign").select_option(",")
    page.get_by_label("Column of the arms").fill("Well")
    page.get_by_label("Column of the rewards").fill("Reading")
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator("#name")).to_have_text("from a table")
    expect(page.locator("#figures")).to_contain_text("Pulls4")


def test_a_table_that_is_too_large_is_not_sent(site: Site, page: Page, tmp_path: Path) -> None:
    site.new_study("too large", ["a", "b", "c"], Problem(noise="bernoulli")).close()
    large = tmp_path / "large.csv"
    large.write_text("arm,value\n" + "a,1\n" * 2_100_000, encoding="utf-8")
    page.goto("/study/too%20large")
    page.get_by_role("button", name="Past rewards", exact=True).click()
    page.get_by_role("dialog").get_by_label("Table").set_input_files(large)
    page.get_by_role("dialog").get_by_role("button", name="Add them").click()
    expect(page.get_by_role("alert")).to_contain_text("a page can send 8 MB")
