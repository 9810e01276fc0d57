"""The dashboard, used as people use it."""

from __future__ import annotations

import json
import re
import threading
import urllib.request
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from standout import Problem
from standout.core.kinds import Verdict
from standout.pictures import marks
from standout.pictures.arms import picture_of_view
from standout.pictures.scale import MOST_TICKS, ticks
from standout.study import Study
from standout.study.view import view
from tests.browser.conftest import NewPage, Site, Watch, memory, serve
from tests.pictures.files import png

ARMS = [f"bag {number}" for number in range(1, 13)]
MEANS = dict(zip(ARMS, [0.1 * number for number in range(11)] + [9.0], strict=True))


def reward(arm: str, rng: np.random.Generator) -> float:
    return float(rng.normal(MEANS[arm], 0.05))


def answer(study: Study, most: int = 10_000) -> None:
    """Measure until the study stops, or so many pulls."""
    rng = np.random.default_rng(0)
    while most > 0 and (tickets := study.ask(min(most, 6))):
        study.tell_many([(ticket, reward(ticket.arm, rng)) for ticket in tickets])
        most -= len(tickets)


@pytest.fixture(scope="module")
def many(site: Site) -> Iterator[Study]:
    """A study of 400 arms, both sides asked, that has some of every verdict."""
    rng = np.random.default_rng(1)
    means = rng.normal(0, 1, 400)
    means[:2], means[2] = 30, -30
    arms = [f"sensor {number:03d}" for number in range(400)]
    study = site.new_study("sensors", arms, Problem(noise="gaussian:0.3", k=3, side="both"))
    index = {arm: place for place, arm in enumerate(arms)}
    while len(study.status().normal) < 50:
        tickets = study.ask(2000)
        study.tell_many([(t, rng.normal(means[index[t.arm]], 0.3)) for t in tickets])
    yield study
    study.close()


def test_create_a_study_and_watch_it_finish(site: Site, page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name").fill("from the page")
    file = {
        "name": "arms.csv",
        "mimeType": "text/csv",
        "buffer": ("arm\n" + "\n".join(ARMS)).encode(),
    }
    page.get_by_label("or from a file").set_input_files(files=[file])  # type: ignore[list-item]
    page.get_by_label("One measurement is").select_option("gaussian")
    page.get_by_label("Standard deviation").fill("0.2")
    page.get_by_label("k", exact=True).fill("2")
    page.get_by_role("button", name="Create the study").click()
    page.wait_for_url("**/study/from%20the%20page")
    expect(page.locator("#answer")).to_have_text("Nothing has been measured yet.")
    expect(page.locator("#connection")).to_have_text("live")
    study = site.open("from the page")
    worker = threading.Thread(target=answer, args=(study,))
    worker.start()
    expect(page.locator("#state")).to_have_text("stopped: decided")
    worker.join()
    expect(page.locator("#answer")).to_have_text("1 of 12 arms stands out: bag 12.")
    expect(page.locator("#rows [role=option]")).to_have_count(12)
    assert page.locator("#rows .row.outlier").count() == 1
    expect(page.locator("#threshold-picture .band")).to_be_visible()
    check_intervals(page, study)
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_role("heading", level=1)).to_have_text("from the page")
    with opened.value.expect_download() as report:
        opened.value.get_by_role("link", name="Download this report").click()
    text = report.value.path().read_text(encoding="utf-8")
    assert report.value.suggested_filename == "from the page.html"
    assert "bag 12" in text
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as data:
        page.get_by_role("link", name="Rewards as CSV").click()
    assert len(data.value.path().read_text().splitlines()) == 1 + study.status().pulls
    study.close()


def check_intervals(page: Page, study: Study) -> None:
    """What the page has drawn are the stopping rule's own intervals."""
    page.get_by_role("button", name="Table").click()
    seen = view(study)
    shown = {
        row.locator("th bdi").inner_text(): row.locator("td").all_inner_texts()
        for row in page.locator("#table tbody tr").all()
    }
    near = 0.05 * float(np.median(seen.upper - seen.lower))
    for place, arm in enumerate(seen.names):
        verdict, mean, *ends, pulls, _ = shown[arm]
        assert verdict.strip() == Verdict(seen.verdict[place]).name.lower()
        assert float(mean.replace("−", "-")) == pytest.approx(seen.estimate[place], abs=near)
        lower, upper = (float(end.replace("−", "-")) for end in ends)
        assert lower == pytest.approx(seen.lower[place], abs=near)
        assert upper == pytest.approx(seen.upper[place], abs=near)
        assert int(pulls.replace(",", "")) == seen.pulls[place]
    page.get_by_role("button", name="Picture").click()


def test_find_an_arm_among_many(many: Study, page: Page) -> None:
    page.goto("/study/sensors")
    rows = page.locator("#rows")
    expect(rows.locator("[role=option]").first).to_be_visible()
    assert rows.locator("[role=option]").count() < 60
    assert rows.locator("rect.band[visibility=visible]").count() >= 30
    search = page.get_by_role("combobox", name="Find an arm")
    search.fill("sensor 30")
    expect(page.locator("#matches [role=option]")).to_have_count(8)
    search.press("ArrowDown")
    search.press("Enter")
    expect(page.locator("#chosen")).to_contain_text("sensor 301")
    expect(rows.locator(".row.active")).to_be_in_viewport()
    rows.press("ArrowDown")
    before = page.locator("#chosen h3").inner_text()
    rows.press("End")
    expect(page.locator("#chosen h3")).not_to_have_text(before)
    expect(page.locator("#chosen")).to_contain_text("sensor 002")
    expect(page.locator("#chosen")).to_contain_text("low outlier")
    overview = page.locator("#overview")
    overview.press("Home")
    assert re.match(r"sensor 00[01], high outlier", overview.get_attribute("aria-valuetext") or "")
    overview.hover(position={"x": 54, "y": 20})
    expect(page.locator("#tip")).to_contain_text("outlier")
    page.get_by_role("button", name="Outliers").click()
    expect(rows.locator("[role=option]")).to_have_count(3)
    page.get_by_role("button", name="All").click()
    page.get_by_label("Order", exact=True).select_option("name")
    expect(rows.locator(".arm").first).to_have_text("sensor 000")
    page.get_by_role("button", name="Table").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Page 2 of 8")).to_be_visible()
    expect(page.locator("#table tbody tr").first).to_contain_text("sensor 050")


def column(page: Page, number: int) -> list[str]:
    return page.locator(f"#table tbody tr td:nth-of-type({number})").all_inner_texts()


def test_the_table_sorts_by_any_column(many: Study, page: Page) -> None:
    page.goto("/study/sensors")
    page.get_by_role("button", name="Table").click()
    for number, title in enumerate(["Mean", "Lower end", "Upper end", "Pulls"], start=2):
        head = page.get_by_role("columnheader", name=title)
        for direction, sign in (("descending", -1), ("ascending", 1)):
            button = head.get_by_role("button")
            # By the mean it is sorted from the start.
            if head.get_attribute("aria-sort") != direction:
                button.press("Enter")
            expect(head).to_have_attribute("aria-sort", direction)
            texts = column(page, number)
            values = [sign * float(one.replace("−", "-").replace(",", "")) for one in texts]
            assert values == sorted(values)
            # One number of digits in a column, and no minus before a zero.
            assert len({len(one.partition(".")[2]) for one in texts}) == 1
            assert not any(re.fullmatch(r"−0(\.0*)?", one) for one in texts)
    page.get_by_role("columnheader", name="Verdict").get_by_role("button").click()
    assert {one.strip() for one in column(page, 1)[:3]} == {"high outlier", "low outlier"}
    head = page.get_by_role("columnheader", name="Arm", exact=True)
    head.get_by_role("button").click()
    expect(page.locator("#table tbody th").first).to_have_text("sensor 000")
    expect(page.get_by_label("Order", exact=True)).to_have_value("name")


def test_an_arm_opens_beside_the_others(many: Study, page: Page) -> None:
    page.goto("/study/sensors")
    rows = page.locator("#rows [role=option]")
    rows.nth(1).click()
    sheet = page.get_by_role("region", name="sensor 001").or_(
        page.get_by_role("region", name="sensor 000")
    )
    expect(sheet).to_be_in_viewport()
    box, frame = sheet.bounding_box(), page.locator("#frame").bounding_box()
    assert box is not None
    assert frame is not None
    assert frame["x"] + frame["width"] <= box["x"] + 1
    expect(sheet.locator("#chosen-picture .mean-line")).to_be_visible()
    expect(sheet).to_contain_text("Measured by 1 worker")
    sheet.get_by_text("Newest rewards").click()
    expect(sheet.locator("#chosen-latest tbody tr").first).to_be_visible()
    sheet.get_by_text("The same as a table").click()
    expect(sheet.locator("#chosen-moments tbody tr").first).to_be_visible()
    # By keyboard: Enter goes into it, Escape closes it and leads back.
    page.locator("#rows").press("ArrowDown")
    page.locator("#rows").press("Enter")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#chosen")).to_be_hidden()
    expect(page.locator("#rows")).to_be_focused()


def test_an_arm_opens_below_its_row_on_a_phone(many: Study, new_page: NewPage) -> None:
    page = new_page(width=390, height=844)
    page.goto("/study/sensors")
    rows = page.locator("#rows [role=option]")
    rows.nth(2).click()
    expect(page.locator("#chosen-picture .mean-line")).to_be_visible()
    above, sheet, below = (
        one.bounding_box() for one in (rows.nth(2), page.locator("#chosen"), rows.nth(3))
    )
    assert above is not None
    assert sheet is not None
    assert below is not None
    assert above["y"] + above["height"] == pytest.approx(sheet["y"], abs=2)
    assert sheet["y"] + sheet["height"] == pytest.approx(below["y"], abs=2)
    no_sideways(page)
    page.get_by_role("button", name="Table").click()
    page.locator("#table button.link").nth(1).click()
    row = page.locator("#table tbody tr").nth(2)
    expect(row.locator("#chosen")).to_be_visible()
    no_sideways(page)


def test_items_are_seen_wherever_an_arm_is(new_page: NewPage) -> None:
    with memory() as folder:
        (folder / "bag.png").write_bytes(png())
        with serve(folder, files=str(folder)) as here:
            items = {arm: {"text": f"The {arm} <b>"} for arm in ARMS}
            items["bag 12"]["image"] = "/files/bag.png"
            study = here.new_study("bags", ARMS, Problem(noise="gaussian:0.05", k=2), items=items)
            answer(study)
            page = new_page(at=here)
            page.goto("/study/bags")
            expect(page.locator("#answer")).to_have_text(
                "1 of 12 arms stands out: bag 12  (“The bag 12 <b>”)."
            )
            row = page.locator("#rows [role=option]").first
            expect(row).to_contain_text("The bag 12 <b>")
            assert row.locator("img").evaluate(
                "async (one) => (await one.decode(), one.naturalWidth)"
            )
            row.click()
            expect(page.locator("#chosen-item")).to_contain_text("The bag 12 <b>")
            expect(page.locator("#chosen-item img")).to_be_visible()
            page.get_by_role("button", name="Table").click()
            expect(page.locator("#table tbody tr").first).to_contain_text("The bag 12 <b>")
            # Pictures that an owner chooses become arms.
            page.goto("/")
            page.get_by_role("button", name="New study").click()
            page.get_by_label("or from pictures").set_input_files(
                files=[
                    {"name": f"tree {i}.png", "mimeType": "image/png", "buffer": png((i, 9, 9))}
                    for i in range(3)
                ]
            )
            arms = page.get_by_label("Arms", exact=True)
            expect(arms).to_have_value(re.compile(r'"tree 2","/files/tree%202\.png"'))
            page.get_by_label("Name").fill("trees")
            page.get_by_role("button", name="Create the study").click()
            page.wait_for_url("**/study/trees")
            expect(page.locator("#rows img.thumb")).to_have_count(3)
            page.close()  # Before its server: it would complain.
            study.close()


def numbers(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path)]


def test_the_page_draws_what_the_report_draws(many: Study, page: Page) -> None:
    page.goto("/study/sensors")
    rows = page.locator("#rows [role=option]")
    expect(rows.first).to_be_visible()
    seen = view(many)
    shown = picture_of_view(seen)
    first = page.locator("#rows .arm").all_inner_texts()
    assert first == [seen.names[i] for i in shown.order[: len(first)]]
    lows = [shown.is_low(int(i)) for i in shown.order[[0, -1]]]
    assert lows == [False, True]
    labels = page.locator("#axis text").all_text_contents()
    every = [label.replace("-", "−") for _, label in ticks(shown.low, shown.high, MOST_TICKS)]
    assert set(labels) <= set(every)
    module = page.locator("link[rel=modulepreload][href$='/verdicts.js']").get_attribute("href")
    for verdict, mark in marks.MARKS.items():
        for is_low in (False, True):
            drawn = page.evaluate(
                "async ([url, ...at]) => (await import(url)).markPath(...at)",
                [module, int(verdict), is_low, 20, 30, 10],
            )
            wanted = numbers(marks.outline(mark, is_low, 20, 30, 10))
            assert numbers(drawn) == pytest.approx(wanted, abs=0.06)
    for mark in marks.MARKS.values():
        colour = page.evaluate(
            "(name) => getComputedStyle(document.body).getPropertyValue(`--${name}`)", mark.name
        )
        assert colour == mark.colour.light


def test_live_where_events_do_not_come(site: Site, page: Page, watch: Watch) -> None:
    study = site.new_study("polled", ARMS, Problem(noise="gaussian:5", k=2))
    watch.expect("net::ERR_FAILED")
    page.route("**/events", lambda route: route.abort())
    page.goto("/study/polled")
    expect(page.locator("#connection")).to_have_text("live, every few seconds")
    answer(study, 60)
    page.evaluate("() => window.dispatchEvent(new Event('online'))")  # Not to wait for it.
    expect(page.locator("#figures")).to_contain_text("Pulls60")
    page.route("**/view*", lambda route: route.abort())
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    expect(page.locator("#connection")).to_have_text("connection lost, retrying")
    page.unroute("**/view*")
    page.unroute("**/events")
    expect(page.locator("#connection")).to_have_text("live")
    study.close()


def test_leaders_are_named_as_estimates(site: Site, page: Page) -> None:
    study = site.new_study("leaders", ARMS, Problem(noise="gaussian:5", k=2), until="errors=1e-9")
    answer(study, 60)
    page.goto("/study/leaders")
    expect(page.locator("#likely")).to_contain_text("Best guess")
    expect(page.locator("#provisional")).to_contain_text("estimates, not the certificate")
    expect(page.locator("#likely-arms li").first).to_contain_text("bag 12")
    expect(page.locator("#answer")).to_have_text(
        "None of the 12 arms stands out for certain yet; all are undecided."
    )
    page.locator("#sort").select_option("chance")
    expect(page.locator("#rows [role=option]").first).to_have_accessible_name(
        re.compile(r"^bag 12 ?, undecided ?, mean .*, estimated chance to stand out")
    )
    page.get_by_role("button", name="Table").click()
    expect(page.get_by_role("columnheader", name="Chance (estimate)")).to_be_visible()
    study.close()


def test_a_threshold_has_no_end_that_no_mean_can_reach(site: Site, page: Page) -> None:
    study = site.new_study("shares", ARMS, Problem(noise="bernoulli"))
    study.tell_many([(arm, float((i + place) % 3 > 0)) for i, arm in enumerate(ARMS)
                     for place in range(90)])  # fmt: skip
    threshold = study.status().threshold
    assert 0 < threshold.lower < 1 < threshold.upper
    page.goto("/study/shares")
    expect(page.locator("#figures")).to_contain_text(f"Thresholdabove {threshold.lower:.1f}")
    study.close()


def test_failures_pauses_and_doubts(site: Site, page: Page) -> None:
    rng = np.random.default_rng(2)
    study = site.new_study("doubtful", ARMS[:5], Problem(noise="gaussian:1", k=2))
    ticket = study.ask(1, worker="lab 3")[0]
    study.fail(ticket, "dropped the plate", worker="lab 3")
    study.pause("bag 2", "out of stock")
    same = [(arm, value) for arm in ARMS[:5] for value in rng.normal(0, 1, 300)]
    study.tell_many([same[place] for place in rng.permutation(len(same))])
    page.goto("/study/doubtful")
    expect(page.locator("#note")).to_contain_text("This may never be decided")
    expect(page.locator("#failures")).to_contain_text("dropped the plate")
    expect(page.locator("#failures")).to_contain_text("out of stock")
    expect(page.locator("#next-words")).not_to_be_empty()
    expect(page.locator("#figures")).to_contain_text("Pulls left")
    # What the page says would end it does.
    page.locator("#endings button").first.click()
    page.get_by_label("Why").fill("near enough")
    page.get_by_role("button", name="Change it").click()
    expect(page.locator("#state")).to_have_text("stopped: decided")
    expect(page.locator("#provisional")).to_be_hidden()
    expect(page.locator("#changes")).to_contain_text("near enough")
    page.get_by_role("button", name="Table").click()
    expect(page.locator("#table")).to_contain_text("normal, paused")
    study.close()


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\u202eevil\u0007",
    "__proto__",
    "constructor",
    "w" * 1500,
    "{static} ${1+1} &amp; 'quoted\"",
]


def test_hostile_names_do_nothing(site: Site, page: Page) -> None:
    name = "<b onclick=alert(3)>#?&%"
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name").fill(name)
    quoted = ('"' + arm.replace('"', '""') + '"' for arm in HOSTILE)
    page.get_by_label("Arms", exact=True).fill("arm\n" + "\n".join(quoted))
    page.get_by_role("button", name="Create the study").click()
    page.wait_for_url("**/study/**")
    study = site.open(name)
    ticket = study.ask(1)[0]
    study.fail(ticket, "<script>alert(4)</script>", worker="<i>me</i>")
    study.pause("__proto__", "<u>no</u>")
    study.tell_many([(arm, float(i % 2)) for i, arm in enumerate(HOSTILE)])
    expect(page.locator("#failures")).to_contain_text("<script>alert(4)</script>")
    expect(page.locator("#failures")).to_contain_text("<u>no</u>")
    expect(page.locator("h1 bdi")).to_have_text(name)
    names = page.locator("#rows .arm").all_inner_texts()
    assert "<img src=x onerror=alert(1)>" in names
    assert "\ufffdevil\ufffd" in names
    page.get_by_role("button", name="Table").click()
    assert page.locator("main script, main img, main b, main i, main u").count() == 0
    page.goto("/")
    expect(page.get_by_role("link", name=name)).to_be_visible()
    page.get_by_role("link", name=name).click()
    expect(page.locator("h1 bdi")).to_have_text(name)
    study.close()


def test_what_is_wrong_with_a_new_study_is_said(page: Page, watch: Watch) -> None:
    watch.expect("status of 422")
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name").fill("wrong")
    page.get_by_label("Arms", exact=True).fill("arm\none\ntwo\none")
    page.get_by_role("button", name="Create the study").click()
    alert = page.locator("#create [role=alert]")
    expect(alert).to_contain_text("arms, line 4: arm 'one' is on line 2 already")
    page.get_by_label("Arms", exact=True).fill("one\ntwo")
    page.get_by_role("button", name="Create the study").click()
    expect(alert).to_contain_text("at least 3")


@pytest.mark.parametrize("ordered", [True, False])
def test_the_order_of_counting_is_chosen(site: Site, page: Page, ordered: bool) -> None:
    name = f"ordered {ordered}"
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Arms", exact=True).fill("one\ntwo\nthree")
    page.get_by_text("More settings").click()
    choice = page.get_by_label("Count an arm’s rewards in the order of asking")
    expect(choice).to_be_checked()
    # What is given up is said where it is given up.
    expect(page.locator("label[for=new-ordered]")).to_contain_text("right only if the duration")
    choice.set_checked(ordered)
    page.get_by_role("button", name="Create the study").click()
    page.wait_for_url(f"**/study/{quote(name)}")
    study = site.open(name)
    assert study.ordered is ordered
    study.close()


def no_sideways(page: Page) -> None:
    wide, room = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room


def test_a_phone_never_scrolls_sideways(site: Site, many: Study, new_page: NewPage) -> None:
    page = new_page(width=360, height=740)
    page.goto("/study/sensors")
    expect(page.locator("#rows [role=option]").first).to_be_visible()
    no_sideways(page)
    page.locator("#rows [role=option]").first.click()
    expect(page.locator("#chosen")).to_be_visible()
    page.get_by_role("button", name="Table").click()
    no_sideways(page)
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    for part in page.locator("#create details").all():
        part.locator("summary").click()
    no_sideways(page)
    name = "<b onclick=alert(5)>#?&% on a phone"
    site.new_study(name, HOSTILE, Problem(noise="bernoulli")).close()
    page.goto(f"/study/{quote(name)}")
    expect(page.locator("#rows [role=option]").first).to_be_visible()
    no_sideways(page)


def brightness(page: Page) -> int:
    colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_light_and_dark(many: Study, new_page: NewPage) -> None:
    page = new_page(scheme="dark")
    page.goto("/study/sensors")
    assert brightness(page) < 150
    page.get_by_role("button", name="Use light colours").click()
    assert brightness(page) > 600
    page.reload()
    assert brightness(page) > 600
    page.get_by_role("button", name="Use dark colours").click()
    page.reload()
    assert brightness(page) < 150
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_a_keyboard_gets_everywhere(many: Study, page: Page) -> None:
    page.goto("/study/sensors")
    expect(page.locator("#rows [role=option]").first).to_be_visible()
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("() => document.activeElement.id || document.activeElement.className")
        )
    for wanted in (
        "skip-link",
        "theme",
        "report",
        "as-table",
        "search",
        "sort",
        "overview",
        "rows",
    ):
        assert wanted in seen, (wanted, seen)
    # Everything that can be reached has a name.
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, a, canvas, [tabindex='0']")]
        .filter((one) => one.checkVisibility() && !(one.textContent.trim() || one.labels?.length
          || one.ariaLabel || one.getAttribute("aria-labelledby")))
        .map((one) => one.outerHTML)"""
    )
    assert unnamed == []


def test_files_are_kept_and_pages_are_not(site: Site) -> None:
    with urllib.request.urlopen(f"{site.url}/study/x") as answer:
        text = answer.read().decode()
        assert "no-cache" in answer.headers["Cache-Control"]
        assert "'unsafe" not in answer.headers["Content-Security-Policy"]
    address = re.search(r'src="(/static/[^"]+/study\.js)"', text)
    assert address is not None
    with urllib.request.urlopen(site.url + address[1]) as answer:
        assert "immutable" in answer.headers["Cache-Control"]
    with urllib.request.urlopen(f"{site.url}/session") as answer:
        assert json.load(answer)["role"] == "owner"
