"""Make docs/images/*.png: screenshots of the pages, of studies that are identical in each run.

Run it as: python tools/make_screenshots.py [NAME ...]
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from standout import Problem
from standout.study import Study
from tests.browser.conftest import Site, find_chromium, serve

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LARGEST = 200_000
"""Bytes of a picture."""
NINE_O_CLOCK = 1_773_652_800.0  # 16 March 2026, 9:20 UTC
CAPTIONS = [
    "My other car is also a horse.",
    "It said serves four, so I invited the office.",
    "He has been practising the silence all week.",
    "Congratulations, it is a spreadsheet.",
    "I asked for the window seat in the meeting.",
    "This is what happens when the cat does the budget.",
    "The plant is on leave.",
    "We were told to think outside the box; this is the box.",
    "Please hold, your call is important to the dog.",
    "It runs on coffee and apologies.",
    "That is not a bug, that is Gerald.",
    "Do not feed the interns.",
]


def clock(seconds: float = 0.01) -> Callable[[], float]:
    """A clock that advances by `seconds` with each reading."""
    now = [NINE_O_CLOCK]

    def tick() -> float:
        now[0] += seconds
        return now[0]

    return tick


def play(
    study: Study, means: dict[str, float], sigma: float, until: Callable[[Study], bool], batch: int
) -> None:
    """Answer with Gaussian rewards until the condition holds."""
    rng = np.random.default_rng(7)
    while not until(study) and (tickets := study.ask(batch, worker="lab 1")):
        study.tell_many([(t, rng.normal(means[t.arm], sigma)) for t in tickets], worker="lab 1")


def plate(site: Site) -> None:
    """24 wells; some stand out, some are still open."""
    rng = np.random.default_rng(4)
    wells = [f"{row}{column}" for row in "ABCD" for column in range(1, 7)]
    means = dict(zip(wells, rng.normal(10, 1, len(wells)).tolist(), strict=True))
    means |= {"B4": 27.0, "D1": 25.5, "A6": 16.2, "C2": 13.2}
    study = Study.create(
        site.place, wells, Problem(noise="gaussian:2", k=3), name="plate 7", clock=clock(),
        budget=50_000,
    )  # fmt: skip
    for ticket in study.ask(2, worker="lab 2"):
        study.fail(ticket, "no signal", worker="lab 2")
    play(study, means, 2.0, lambda study: len(study.status().outliers) >= 2, 48)
    study.pause("C5", "out of reagent")
    study.release([ticket.ticket for ticket in study.pending()])
    study.close()


def genes(site: Site) -> None:
    """Three thousand arms, both sides."""
    rng = np.random.default_rng(5)
    names = [f"gene {number:04d}" for number in range(3000)]
    means = dict(zip(names, rng.normal(0, 1, len(names)).tolist(), strict=True))
    for number in rng.choice(len(names), 30, replace=False).tolist():
        means[names[number]] = float(rng.choice([-1, 1]) * rng.uniform(6.5, 11))
    study = Study.create(
        site.place, names, Problem(noise="gaussian:0.5", k=3, side="both"), name="genes",
        clock=clock(),
    )  # fmt: skip
    play(study, means, 0.5, lambda study: len(study.status().normal) >= 1800, 6000)
    study.close()


def captions(site: Site) -> None:
    """A campaign in which people are the measurement."""
    names = [f"caption {number}" for number in range(1, len(CAPTIONS) + 1)]
    items = {name: {"text": f"“{text}”"} for name, text in zip(names, CAPTIONS, strict=True)}
    settings = {
        "question": "Is this caption funny?",
        "buttons": [
            {"label": "Not funny", "value": 0, "key": "n"},
            {"label": "Funny", "value": 1, "key": "f"},
        ],
        "consent": "We are looking for the funniest captions.\n\nYour answers are kept under a "
        "random number, without your name. You may stop at any time.",
    }
    Study.create(
        site.place, names, Problem(noise="bernoulli", k=2), name="captions", items=items,
        page=settings, clock=clock(),
    ).close()  # fmt: skip
    scale = {"min": 1, "max": 7, "step": 1, "low_label": "not at all", "high_label": "very"}
    Study.create(
        site.place, names, Problem(noise="bounded:1,7", k=2), name="captions, seven points",
        items=items, page={"question": "How funny is this caption?", "scale": scale}, clock=clock(),
    ).close()  # fmt: skip


def voted(site: Site) -> None:
    """The same campaign under way: seven people have answered for a while."""
    rng = np.random.default_rng(8)
    names = [f"caption {number}" for number in range(1, len(CAPTIONS) + 1)]
    items = {name: {"text": f"“{text}”"} for name, text in zip(names, CAPTIONS, strict=True)}
    means = {name: 0.12 + 0.03 * place for place, name in enumerate(names)}
    means |= {"caption 4": 0.97, "caption 11": 0.8}
    study = Study.create(
        site.place, names, Problem(noise="bernoulli", k=2, tolerance=0.05), items=items,
        name="captions, answered", clock=clock(2.0),
    )  # fmt: skip
    for turn in range(230):
        who = f"rater {turn % 7 + 1}"
        tickets = study.ask(20, worker=who)
        told = [(t, float(rng.random() < means[t.arm])) for t in tickets]
        study.tell_many(told, worker=who)
    study.close()


def finished(site: Site) -> None:
    """A study that has its answer."""
    hosts = [f"host-{number:02d}" for number in range(1, 17)]
    means = {host: 0.2 + 0.01 * place for place, host in enumerate(hosts)} | {"host-11": 0.9}
    study = Study.create(
        site.place, hosts, Problem(noise="gaussian:0.05", k=2), name="slow hosts", clock=clock()
    )
    play(study, means, 0.05, lambda study: study.status().stopped, 16)
    study.close()


def strains(site: Site) -> None:
    """A study that is decided, for its report."""
    rng = np.random.default_rng(3)
    names = [f"strain {number:02d}" for number in range(1, 25)]
    means = dict(zip(names, rng.permutation(np.linspace(8, 12, 24)).tolist(), strict=True))
    means |= {"strain 04": 21.5, "strain 23": 20.0, "strain 08": 18.6}
    study = Study.create(
        site.place, names, Problem(noise="gaussian:1", k=3), name="Yield of 24 strains",
        clock=clock(20.0),
    )  # fmt: skip
    play(study, means, 1.0, lambda study: study.status().stopped, 24)
    study.close()


def tasters(site: Site) -> None:
    """A study with a worker who differs from the others, for the checks of its report."""
    rng = np.random.default_rng(6)
    names = [f"dish {number}" for number in range(1, 13)]
    means = dict(zip(names, rng.uniform(4, 6, len(names)).tolist(), strict=True))
    study = Study.create(
        site.place, names, Problem(noise="bounded:0,10", k=3), name="dishes", clock=clock(),
        budget=12_000,
    )  # fmt: skip
    while tickets := study.ask(40):
        who = int(rng.integers(1, 11))
        leaning = -1.4 if who == 8 else 0.0
        told = [(t, np.clip(rng.normal(means[t.arm] + leaning, 1), 0, 10)) for t in tickets]
        study.tell_many([(t, float(value)) for t, value in told], worker=f"taster {who}")
    study.close()


def settled(page: Page, address: str) -> None:
    """Open a study's page, and wait until all of it is there."""
    page.goto(address)
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#figures")).not_to_contain_text("working it out")
    expect(page.locator("#likely")).not_to_have_text("Computing.")
    page.wait_for_timeout(600)


def take_dashboard(page: Page) -> None:
    settled(page, "/study/plate%207")


def take_arm(page: Page) -> None:
    settled(page, "/study/captions%2C%20answered")
    page.locator("#rows [role=option]").nth(1).click()
    expect(page.locator("#chosen-picture .mean-line")).to_be_visible()
    page.wait_for_timeout(300)


def take_compare(page: Page) -> None:
    page.goto("/compare?study=captions&study=captions%2C%20answered")
    expect(page.locator("#found")).to_be_visible()


def take_many(page: Page) -> None:
    settled(page, "/study/genes")
    if page.viewport_size and page.viewport_size["width"] > 500:
        page.locator("#overview").hover(position={"x": 56, "y": 40})
    page.wait_for_timeout(200)


def open_report(page: Page, name: str) -> None:
    """The report as it opens from a disk."""
    answer = page.request.get(
        f"/api/v1/studies/{quote(name)}/report?download=true", timeout=300_000
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_bytes(answer.body())
        page.goto(path.as_uri())


def take_report(page: Page) -> None:
    open_report(page, "Yield of 24 strains")


def take_many_report(page: Page) -> None:
    open_report(page, "genes")


def take_checks(page: Page) -> None:
    open_report(page, "dishes")


def take_home(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("link", name="plate 7")).to_be_visible()


def take_new(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Name").fill("beans")
    page.get_by_label("Arms", exact=True).fill(
        "arm,text\nbag 1,From the hill\nbag 2,From the valley\nbag 3,From the shop\n"
    )
    page.get_by_text("Rating page, if people rate the arms").click()
    page.get_by_label("Question").fill("Does this bag smell ripe?")
    page.evaluate("() => document.activeElement.blur()")


def take_consent(page: Page) -> None:
    page.goto("/rate/captions")
    expect(page.get_by_role("button", name="I agree")).to_be_visible()


def take_rate(page: Page) -> None:
    take_consent(page)
    page.get_by_role("button", name="I agree").click()
    page.mouse.move(1, 1)
    for number in range(1, 4):
        expect(page.locator(".answer").first).to_be_enabled()
        page.wait_for_timeout(300)
        page.keyboard.press("f")
        expect(page.locator("#progress")).to_contain_text(f"{number} answer")
    page.wait_for_timeout(400)


def take_scale(page: Page) -> None:
    page.goto("/rate/captions,%20seven%20points")
    expect(page.locator(".answer").first).to_be_visible()
    page.wait_for_timeout(400)


# Name, width, height, colours, the part to show (all that fits if None), and how to get there.
SHOTS: list[tuple[str, int, int, str, str | None, Callable[[Page], None]]] = [
    ("dashboard", 1280, 1335, "light", None, take_dashboard),
    ("dashboard-history", 1280, 900, "light", ".pair", take_dashboard),
    ("dashboard-arm", 1280, 1100, "light", None, take_arm),
    ("dashboard-arm-phone", 390, 844, "dark", None, take_arm),
    ("compare", 1280, 900, "light", None, take_compare),
    ("dashboard-many", 1280, 1240, "dark", None, take_many),
    ("dashboard-phone", 390, 844, "light", None, take_dashboard),
    ("dashboard-phone-dark", 390, 844, "dark", None, take_many),
    ("report", 920, 1440, "light", None, take_report),
    ("report-many", 920, 620, "dark", "#picture", take_many_report),
    ("report-checks", 920, 900, "light", "#checks", take_checks),
    ("studies", 1280, 560, "light", None, take_home),
    ("new-study", 1000, 900, "light", "#create", take_new),
    ("rate-consent", 800, 420, "light", None, take_consent),
    ("rate", 800, 500, "light", None, take_rate),
    ("rate-phone", 390, 640, "dark", None, take_scale),
]


def shoot(browser: Browser, site: Site, names: list[str]) -> None:
    for name, width, height, scheme, part, take in SHOTS:
        if names and name not in names:
            continue
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,  # type: ignore[arg-type]
            base_url=site.url,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
            has_touch="phone" in name,
            is_mobile="phone" in name,
        )
        page = context.new_page()
        take(page)
        if "arm-phone" in name:
            page.evaluate("() => document.querySelector('#frame').scrollIntoView()")
        elif "phone" in name and "dashboard" in name:
            page.locator(".tools").scroll_into_view_if_needed()
            page.evaluate("() => document.querySelector('.tools').scrollIntoView({block: 'start'})")
            page.wait_for_timeout(200)
        write(FOLDER / f"{name}.png", (page.locator(part) if part else page).screenshot())
        context.close()


def write(path: Path, data: bytes) -> None:
    """256 colours are enough for flat pages, and a third of the bytes."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    picture = picture.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name:<28} {picture.width} x {picture.height}  {size / 1000:,.0f} kB")
    if size > LARGEST:
        sys.exit(f"{path.name} is larger than {LARGEST / 1000:.0f} kB")


def main() -> None:
    program = find_chromium()
    if program is None:
        sys.exit("no Chromium: scripts/install-system.sh installs it")
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as site:
        for fill in (plate, genes, strains, tasters, finished, captions, voted):
            fill(site)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=options)
            shoot(browser, site, sys.argv[1:])
            browser.close()


if __name__ == "__main__":
    main()
