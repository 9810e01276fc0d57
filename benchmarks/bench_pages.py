"""The dashboards of a usual and of a very large study in a real browser: the time until usable.

Run it as: python benchmarks/bench_pages.py

It also prints the size of all scripts of the pages, compressed as they are sent. Browser and server
share the machine's cores. Each opening has an empty cache; for the first one, the server has not
opened the study yet.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from bars import end, report
from bench_service import Server

from standout import Problem
from standout.service.pages import assets
from standout.study import Study
from tests.browser.conftest import find_chromium

FEW, ARMS, REWARDS, OPENINGS, UPDATES = 123, 10_000, 1_000_000, 5, 10
FEW_SECONDS, USABLE_SECONDS = 1.5, 2.5
"""Until the page can be used, with `FEW` arms and with `ARMS`, by a server that is warm."""
SCRIPTS = 60_000
"""Bytes of all scripts, packed."""


def make_large(place: Path) -> list[str]:
    """A study that will not end soon; the arms' names."""
    rng = np.random.default_rng(0)
    arms = [f"arm {number:05d}" for number in range(ARMS)]
    means = rng.normal(0, 1, ARMS)
    means[:40] += 12
    with Study.create(place, arms, Problem(noise="gaussian:3", k=3), name="large") as study:
        for _ in range(REWARDS // ARMS):
            values = means + rng.normal(0, 3, ARMS)
            study.tell_many(zip(arms, values.tolist(), strict=True))
        assert study.status().pulls == REWARDS
    return arms


def make_usual(place: Path) -> None:
    """A study of as many arms as the wines, half way."""
    rng = np.random.default_rng(0)
    arms = [f"wine {number:03d}" for number in range(FEW)]
    means = rng.normal(0, 1, FEW)
    means[:5] += 12
    with Study.create(place, arms, Problem(noise="gaussian:3", k=3), name="usual") as study:
        for _ in range(40):
            study.tell_many(zip(arms, (means + rng.normal(0, 3, FEW)).tolist(), strict=True))


def bench_scripts() -> None:
    """The scripts that a browser fetches if it opens every page."""
    _, files = assets()
    size = sum(len(file.packed) for name, file in files.items() if name.endswith(".js"))
    report("all scripts of the pages, packed", size / 1000, "kB", SCRIPTS / 1000)


# Looked at in every frame; the browser's own clock starts with the navigation.
IS_USABLE = """() => {
  const isDrawn = document.querySelectorAll("#rows .row").length > 10
    && performance.getEntriesByName("usable").length > 0;
  return isDrawn && performance.now();
}"""


def open_page(browser: Browser, url: str, name: str, arm: str) -> tuple[Page, float]:
    """Open it; the seconds until its rows are drawn and it can be searched."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{url}/study/{name}", wait_until="commit")
    seconds = page.wait_for_function(IS_USABLE).json_value() / 1000
    page.get_by_role("combobox", name="Find an arm").fill(arm)
    page.keyboard.press("Enter")
    page.locator("#chosen", has_text=arm).wait_for()
    page.locator(".row.active").wait_for()
    return page, seconds


def bench_open(browser: Browser, server: Server, name: str, arm: str, bar: float) -> None:
    times = []
    for number in range(OPENINGS):
        page, seconds = open_page(browser, server.url, name, arm)
        times.append(seconds)
        if number == 0:
            report(f"{name}: page usable, study just opened", seconds, "s")
        page.context.close()
    report(f"{name}: page usable, later: slowest of {OPENINGS - 1}", max(times[1:]), "s", bar)
    print(f"{'':<12}median {sorted(times[1:])[(OPENINGS - 1) // 2]:.2f} s")


WATCH_LONG_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration);
  }).observe({ type: "longtask" });
}"""


def bench_updates(browser: Browser, server: Server, place: Path, arms: list[str]) -> None:
    page, _ = open_page(browser, server.url, "large", "arm 09999")
    page.locator("#connection", has_text="live").wait_for()
    page.wait_for_timeout(3000)  # The forecast and the trace are fetched after the rest.
    page.evaluate(WATCH_LONG_TASKS)
    rng = np.random.default_rng(1)
    times = []
    with Study.open(place, "large") as study:
        for _ in range(UPDATES):
            chosen = rng.choice(arms, 100, replace=False).tolist()
            study.tell_many(zip(chosen, rng.normal(0, 3, 100).tolist(), strict=True))
            wanted = f"Pulls{study.status().pulls:,}"
            begin = time.perf_counter()
            page.locator("#figures", has_text=wanted).wait_for()
            times.append(time.perf_counter() - begin)
    # Half a second of it is the server's: it tells of changes twice a second.
    report("100 rewards until they are on the page, the slowest", max(times), "s")
    report("the longest that the page was busy in one go", page.evaluate("() => longest"), "ms")
    page.context.close()


def main() -> None:
    program = find_chromium()
    if program is None:
        print("no Chromium: scripts/install-system.sh installs it")
        return
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="standout-bench-") as folder:
        place = Path(folder) / "large.db"
        arms = make_large(place)
        make_usual(place)
        print(f"usual: {FEW} arms; large: {ARMS:,} arms, {REWARDS:,} rewards")
        bench_scripts()
        server = Server(place)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=program, args=options)
                browser.new_context().new_page().goto("about:blank")
                bench_open(browser, server, "usual", "wine 122", FEW_SECONDS)
                bench_open(browser, server, "large", "arm 09999", USABLE_SECONDS)
                bench_updates(browser, server, place, arms)
                browser.close()
        finally:
            server.stop()
    end()


if __name__ == "__main__":
    main()
