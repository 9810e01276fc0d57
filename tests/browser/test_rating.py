"""The rating page, used by people with mice, keyboards and bad connections."""

from __future__ import annotations

from collections import Counter
from typing import Any

from playwright.sync_api import Page, Route, expect

from standout import Problem
from standout.study import Study
from tests.browser.conftest import PIXEL, NewPage, Site, Watch, memory, serve
from tests.patience import until
from tests.pictures.files import png

ARMS = [f"caption {number}" for number in range(8)]
ITEMS = {arm: {"text": f"“This is {arm}.”"} for arm in ARMS}
YES_NO = [
    {"label": "Not funny", "value": 0, "key": "n"},
    {"label": "Funny", "value": 1, "key": "f"},
]
COIN = Problem(noise="bernoulli", k=2)


def rewards(study: Study) -> list[tuple[str, float, str]]:
    """Arm, reward and worker of all that was told."""
    history = study.history()
    columns = (history[key].tolist() for key in ("arm", "reward", "worker", "status"))
    return [row[:3] for row in zip(*columns, strict=True) if row[3] != "out"]


def item(page: Page) -> str:
    return page.locator(".item").inner_text()


def settle(page: Page) -> None:
    """Wait until the item can be answered: at once, an answer may be meant for the last one."""
    expect(page.locator(".answer").first).to_be_enabled()
    page.wait_for_timeout(300)


def answer_by(page: Page, how: Any) -> None:
    """Answer, and wait for the next item."""
    settle(page)
    before = page.locator("#progress").inner_text()
    how()
    expect(page.locator("#progress")).not_to_have_text(before)


def test_consent_then_mouse_and_keyboard(site: Site, page: Page) -> None:
    settings = {"question": "Is it funny?", "buttons": YES_NO, "consent": "We keep\nyour answers."}
    study = site.new_study("captions", ARMS, COIN, items=ITEMS, page=settings)
    page.goto("/rate/captions")
    expect(page.locator("#card")).to_contain_text("your answers.")
    page.get_by_role("button", name="I do not agree").click()
    expect(page.locator("#card")).to_contain_text("nothing about you was stored")
    assert page.context.cookies() == []
    assert study.status().pending == 0
    page.get_by_role("button", name="Read it again").click()
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("heading", name="Is it funny?")).to_be_visible()
    assert all(cookie["httpOnly"] for cookie in page.context.cookies())
    seen = [item(page)]
    answer_by(page, lambda: page.get_by_role("button", name="Funny", exact=True).click())
    seen.append(item(page))
    answer_by(page, lambda: page.keyboard.press("n"))
    answer_by(page, lambda: page.keyboard.press("F"))
    expect(page.locator("#progress")).to_have_text("3 answers given")
    told = rewards(study)
    assert [value for _, value, _ in told] == [1, 0, 1]
    assert [ITEMS[arm]["text"] for arm, _, _ in told[:2]] == seen
    (who,) = {worker for _, _, worker in told}
    assert who.startswith("owner:local:")
    page.reload()
    expect(page.locator("#progress")).to_have_text("3 answers given")
    expect(page.locator(".item")).to_be_visible()  # Consent is asked once.
    study.close()


def test_twice_is_once(site: Site, new_page: NewPage) -> None:
    study = site.new_study("twice", ARMS, COIN, items=ITEMS, page={"buttons": YES_NO})
    page = new_page()
    page.goto("/rate/twice")
    settle(page)
    first = item(page)
    page.reload()
    expect(page.locator(".item")).to_have_text(first)
    settle(page)
    page.get_by_role("button", name="Not funny").dblclick()
    expect(page.locator("#progress")).to_have_text("1 answer given")
    page.wait_for_timeout(700)
    assert len(rewards(study)) == 1
    # A second window has the same item; what it answers late counts no second time.
    settle(page)
    second = item(page)
    other = new_page(context=page.context)
    other.goto("/rate/twice")
    settle(other)
    assert item(other) == second
    answer_by(page, lambda: page.keyboard.press("f"))
    other.keyboard.press("n")
    expect(other.locator(".item")).not_to_have_text(second)
    assert [value for _, value, _ in rewards(study)] == [0, 1]
    # Away and back: the item is the one that is still to be answered.
    third = item(page)
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".item")).to_have_text(third)
    # Another rater gets another item.
    stranger = new_page()
    stranger.goto("/rate/twice")
    settle(stranger)
    assert item(stranger) != third
    status = study.status()
    assert status.pending - status.expired == 2  # What raters hold; the rest waits for the next.
    study.close()


BAD_LINE = """
const real = window.fetch;
window.sent = [];
window.fetch = async (path, options) => {
  if (!String(path).endsWith("/answer")) return real(path, options);
  window.sent.push(options.body);
  if (window.sent.length === 1) throw new TypeError("it never arrives");
  if (window.sent.length === 2) {
    await real(path, options);
    throw new TypeError("it arrives, and the answer to it gets lost");
  }
  while (!window.mended) await new Promise((done) => setTimeout(done, 20));
  return real(path, options);
};
"""


def test_an_answer_survives_a_bad_connection(site: Site, page: Page) -> None:
    study = site.new_study("bad line", ARMS, COIN)
    page.add_init_script(BAD_LINE)
    page.goto("/rate/bad%20line")
    settle(page)
    page.keyboard.press("y")
    expect(page.locator("#notice")).to_contain_text("Connection lost, retrying")
    until(lambda: page.evaluate("window.sent.length") == 3, "not sent again")
    page.keyboard.press("n")  # While one is being sent, nothing else is.
    page.evaluate("window.mended = true")
    expect(page.locator("#notice")).to_be_empty()
    sent = page.evaluate("window.sent")
    assert len(sent) == 3
    assert len(set(sent)) == 1
    assert len(rewards(study)) == 1
    answer_by(page, lambda: page.keyboard.press("n"))
    assert [value for _, value, _ in rewards(study)] == [1, 0]
    study.close()


def test_scales_and_numbers(site: Site, page: Page) -> None:
    seven = {"scale": {"min": 1, "max": 7, "step": 1, "low_label": "bad", "high_label": "good"}}
    points = site.new_study("seven", ARMS, Problem(noise="bounded:1,7", k=2), page=seven)
    page.goto("/rate/seven")
    expect(page.locator(".item")).to_have_text(ARMS[0])
    expect(page.locator(".ends")).to_contain_text("good")
    answer_by(page, lambda: page.keyboard.press("6"))
    answer_by(page, lambda: page.get_by_role("button", name="2").click())
    assert [value for _, value, _ in rewards(points)] == [6, 2]
    fine = {"scale": {"min": 0, "max": 100, "step": 1}}
    slider = site.new_study("hundred", ARMS, Problem(noise="bounded:0,100", k=2), page=fine)
    page.goto("/rate/hundred")
    expect(page.get_by_role("button", name="Answer")).to_be_disabled()
    page.wait_for_timeout(300)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    answer_by(page, lambda: page.keyboard.press("Enter"))
    assert [value for _, value, _ in rewards(slider)] == [52]
    number = site.new_study("number", ARMS, Problem(noise="gaussian:2", k=2))
    page.goto("/rate/number")
    page.wait_for_timeout(300)
    page.get_by_label("Your answer").fill("-1.5")
    answer_by(page, lambda: page.keyboard.press("Enter"))
    assert [value for _, value, _ in rewards(number)] == [-1.5]
    for study in (points, slider, number):
        study.close()


def test_every_step_of_a_scale_is_there(site: Site, page: Page) -> None:
    """Sixths: seven buttons, the last of them the top; and a slider that reaches its end."""
    problem = Problem(noise="bounded:0,1", k=2)
    sixths = {"scale": {"min": 0, "max": 1, "steps": 6, "low_label": "no", "high_label": "yes"}}
    points = site.new_study("sixths", ARMS, problem, page=sixths)
    page.goto("/rate/sixths")
    settle(page)
    shown = page.locator(".points button > span").all_text_contents()
    assert shown == ["0", "0.17", "0.33", "0.5", "0.67", "0.83", "1"]
    answer_by(page, page.locator(".points button").last.click)
    answer_by(page, page.locator(".points button").nth(1).click)
    assert [value for _, value, _ in rewards(points)] == [1.0, 1 / 6]
    many = {"scale": {"min": 0, "max": 1, "steps": 49}}
    slider = site.new_study("forty-nine", ARMS, problem, page=many)
    page.goto("/rate/forty-nine")
    page.wait_for_timeout(300)
    page.get_by_role("slider").press("End")
    expect(page.locator("output")).to_have_text("1.000")
    answer_by(page, lambda: page.keyboard.press("Enter"))
    assert [value for _, value, _ in rewards(slider)] == [1.0]
    for study in (points, slider):
        study.close()


def test_skipped_items_do_not_come_back(site: Site, page: Page) -> None:
    study = site.new_study("skipping", ARMS[:3], COIN, budget=6)
    page.goto("/rate/skipping")
    settle(page)
    skipped = item(page)
    page.get_by_role("button", name="Skip").click()
    expect(page.locator(".item")).not_to_have_text(skipped)
    for _ in range(2):
        assert item(page) != skipped
        answer_by(page, lambda: page.keyboard.press("y"))
    (failure,) = study.failures()
    assert (failure.arm, failure.reason) == (skipped, "skipped")
    for _ in range(10):
        if page.locator(".item").count() == 0:
            break
        assert item(page) != skipped
        answer_by(page, lambda: page.keyboard.press("y"))
    expect(page.locator("h1")).to_have_text("Only items that you skipped are left")
    page.get_by_role("button", name="Show them again").click()
    expect(page.locator(".item")).to_have_text(skipped)
    study.close()


def test_the_end(site: Site, new_page: NewPage) -> None:
    study = site.new_study("short", ARMS[:3], COIN, budget=3, page={"end": "The cake is at noon."})
    page, other = new_page(), new_page()
    page.goto("/rate/short")
    settle(page)
    page.get_by_role("button", name="Stop for now").click()
    expect(page.locator("h1")).to_have_text("Thank you")
    page.get_by_role("button", name="Continue rating").click()
    settle(page)
    study.ask(2)
    other.goto("/rate/short")
    expect(other.locator("h1")).to_have_text("Nothing to rate at the moment")
    page.keyboard.press("y")
    expect(page.locator("h1")).to_have_text("Nothing to rate at the moment")
    study.tell_many([(ticket.ticket, 1.0) for ticket in study.pending()])
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")  # Back to it.
    expect(page.locator("h1")).to_have_text("Thank you")
    expect(page.locator("#card")).to_contain_text("The cake is at noon.")
    expect(page.locator("#card")).to_contain_text("You gave 1 answer.")
    assert study.status().pulls == 3
    study.close()


def test_pictures_only_from_their_hosts(site: Site, page: Page, watch: Watch) -> None:
    items = {
        arm: {"image": f"https://pictures.example/{number}.png", "html": "<b>bold</b><script>"}
        for number, arm in enumerate(ARMS)
    }
    study = site.new_study("pictures", ARMS, COIN, items=items)
    watch.expect("https://pictures.example/")
    asked: Counter[str] = Counter()

    def give(route: Route) -> None:
        asked[route.request.url] += 1
        route.fulfill(body=PIXEL, content_type="image/png")

    page.route("https://pictures.example/**", give)
    page.goto("/rate/pictures")
    expect(page.locator(".item img")).to_be_visible()
    assert page.evaluate("() => document.querySelector('.item img').naturalWidth") == 1
    assert sum(asked.values()) == 1
    expect(page.locator(".item pre")).to_have_text("<b>bold</b><script>")
    watch.expect("violates the following Content Security Policy")
    watch.expect("request to https://elsewhere.example")
    blocked = page.evaluate(
        """() => new Promise((done) => {
        document.addEventListener("securitypolicyviolation", (event) => done(event.blockedURI));
        new Image().src = "https://elsewhere.example/x.png"; })"""
    )
    assert "elsewhere.example" in blocked
    page.unroute("https://pictures.example/**")
    page.route("https://pictures.example/**", lambda route: route.abort())
    watch.expect("net::ERR_")
    settle(page)
    page.keyboard.press("y")
    expect(page.locator(".item")).to_contain_text("could not be loaded")
    page.wait_for_timeout(300)
    with page.expect_response("**/skip"):
        page.keyboard.press("s")
    assert [failure.reason for failure in study.failures()] == ["skipped: the picture did not load"]
    study.close()


def test_a_phone_shows_all_of_it(site: Site, new_page: NewPage) -> None:
    long = {arm: {"text": "word " * 80, "html": "x" * 400} for arm in ARMS}
    buttons = [{"label": f"a rather long answer {n}", "value": n} for n in range(5)]
    page_settings = {"question": "W" * 120, "buttons": buttons}
    study = site.new_study(
        "long", ARMS, Problem(noise="bounded:0,4", k=2), items=long, page=page_settings
    )
    page = new_page(width=360, height=640, scheme="dark")
    page.goto("/rate/long")
    settle(page)
    wide, room = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room
    answer_by(page, lambda: page.keyboard.press("5"))
    assert [value for _, value, _ in rewards(study)] == [4]
    study.close()


def test_change_enlarge_complete_and_pilot(new_page: NewPage) -> None:
    with memory() as folder:
        (folder / "one.png").write_bytes(png(size=600))
        with serve(folder, files=str(folder)) as here:
            settings = {
                "completion": {"after": 2, "url": "https://panel.example/done", "code": "C7"}
            }
            study = here.new_study(
                "panel", ARMS, Problem(noise="bernoulli", k=2), page=settings,
                items={arm: {"image": "/files/one.png"} for arm in ARMS},
            )  # fmt: skip
            page = new_page(at=here, width=360, height=740)
            page.goto("/rate/panel?pilot")
            expect(page.locator("#progress")).to_have_text("pilot: nothing counts")
            expect(page.get_by_role("heading", level=1)).to_have_text("What is your answer?")
            for _ in range(3):
                press(page, "Yes")
            assert study.pulse().seq == 0
            page.goto("/rate/panel")
            page.get_by_role("button", name="Enlarge the picture").click()
            dialog = page.get_by_role("dialog")
            expect(dialog.get_by_role("img")).to_be_visible()
            page.keyboard.press("y")  # Behind the dialog nothing is answered.
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
            assert study.status().pulls == 0
            press(page, "Yes")
            page.get_by_role("button", name="Change my last answer").click()
            expect(page.locator("#card")).to_contain_text("replaces it")
            press(page, "No")
            expect(page.locator("#undo")).to_have_count(0)
            expect(page.get_by_role("button", name="Skip")).to_be_visible()
            assert [value for _, value, _ in rewards(study)] == [1.0, 0.0]
            assert study.status().pulls == 1
            press(page, "Yes")
            expect(page.get_by_role("heading", level=1)).to_have_text("You are done")
            expect(page.locator("#card")).to_contain_text("C7")
            link = page.get_by_role("link", name="Complete and return")
            expect(link).to_have_attribute("href", "https://panel.example/done")
            page.get_by_role("button", name="Continue rating").click()
            expect(page.get_by_role("button", name="Yes")).to_be_visible()
            # The name of the page does not break on a phone.
            assert page.locator(".brand").evaluate("(one) => one.getClientRects().length") == 1
            assert page.locator(".brand").bounding_box()["height"] < 40  # type: ignore[index]
            page.close()
            study.close()


def press(page: Page, answer: str) -> None:
    """Answer, but not so soon that it is taken for a double click."""
    button = (
        page.get_by_role("button", name=answer, exact=True)
        .or_(page.locator(".answer", has_text=answer))
        .first
    )
    expect(button).to_be_enabled()
    page.wait_for_timeout(300)
    button.click()
    page.wait_for_timeout(100)


def test_a_slider_shows_as_many_digits_as_its_steps(site: Site, page: Page) -> None:
    for number, (low, high, steps, last, before) in enumerate(
        [(0, 1, 20, "1.00", "0.95"), (0, 100, 20, "100", "95"), (0, 1, 30, "1.000", "0.967")]
    ):
        name = f"digits {number}"
        scale = {"min": low, "max": high, "steps": steps}
        problem = Problem(noise=f"bounded:{low},{high}", k=2)
        site.new_study(name, ARMS, problem, page={"scale": scale}).close()
        page.goto(f"/rate/{name}")
        slider = page.get_by_role("slider")
        slider.press("End")
        expect(page.locator("output")).to_have_text(last)
        slider.press("ArrowLeft")
        expect(page.locator("output")).to_have_text(before)


def test_a_campaign_on_phones(new_page: NewPage, watch: Watch) -> None:
    """An owner begins it, hands on a link; a rater whose connection comes and goes is done."""
    watch.expect("ERR_INTERNET_DISCONNECTED")
    watch.expect("status of 422")
    with memory() as folder, serve(folder, files=str(folder)) as here:
        owner = new_page(at=here, width=390, height=844)
        owner.goto("/")
        owner.get_by_role("button", name="New study").click()
        owner.get_by_label("Name").fill("drawings")
        pictures = [("ash.png", png()), ("elm.png", b"none"), ("oak.png", png(size=9))]
        pictures += [("fir.png", png(size=10))]
        owner.get_by_label("or from pictures").set_input_files(
            files=[{"name": n, "mimeType": "image/png", "buffer": b} for n, b in pictures]
        )
        form = owner.locator("#create")
        expect(form).to_contain_text("3 pictures sent")
        expect(form).to_contain_text("Not sent: elm.png ('elm.png' is no picture")
        owner.get_by_text("Rating page, if people").click()
        owner.get_by_label("Question").fill("Is it a tree?")
        owner.get_by_label("Complete after this many answers").fill("2")
        owner.get_by_label("or a completion code").fill("C7")
        owner.get_by_role("button", name="Create the study").click()
        owner.wait_for_url("**/study/drawings")
        links = []
        for _ in range(2):
            owner.get_by_role("button", name="New token").click()
            owner.get_by_role("button", name="Make it").click()
            links.append(owner.get_by_role("textbox", name="Link").input_value())
            owner.get_by_role("button", name="Done").click()
        rater = new_page(at=here, width=390, height=844)
        rater.goto(links[1])
        expect(rater.get_by_role("heading", name="Is it a tree?")).to_be_visible()
        expect(rater.locator(".item img")).to_be_visible()
        press(rater, "Yes")
        expect(rater.locator("#progress")).to_have_text("1 answer given")
        rater.context.set_offline(True)
        press(rater, "No")
        expect(rater.locator("#notice")).to_contain_text("Your answer is kept")
        rater.context.set_offline(False)
        expect(rater.get_by_role("heading", name="You are done")).to_be_visible()
        expect(rater.locator("#card")).to_contain_text("C7")
        expect(owner.locator("#figures")).to_contain_text("Pulls2")
        with here.open("drawings") as study:
            assert sorted(value for _, value, _ in rewards(study)) == [0.0, 1.0]
        for page in (owner, rater):
            wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0
            page.close()
