"""The page itself: complete, safe, small, readable by machines and screen readers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from standout import Problem, Study
from standout.report import page as reports
from standout.report.facts import Facts, gather
from standout.report.page import render, render_report
from tests.report.studies import MEANS, NAMES, make, measure
from tests.study.cli import standout

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "</title></style></svg><h1>gone</h1>",
    "&lt;b&gt; &amp; <!-- -->",
    "two\nlines\tand \x1b[31m control \u202e backwards",
    "é" * 300,
    "名前" * 40,
    "javascript:alert(1)",
)


class Page(HTMLParser):
    """Tags, attributes and text of a page; end tags must match where HTML wants them."""

    VOID = frozenset(("meta", "br", "img", "link", "input"))
    OPTIONAL = frozenset(("td", "th", "tr", "li"))

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] != tag:
            assert self.open[-1] in self.OPTIONAL, (tag, self.open)
            self.open.pop()
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def values(self, name: str) -> list[str]:
        return [value for _, key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> str:
    with make(tmp_path_factory.mktemp("decided")) as study:
        return render_report(measure(study))


def test_it_says_everything(decided: str) -> None:
    page = Page(decided)
    for words in (
        "1 of the 7 arms stands out: yew",
        "at most 5 %",
        "How many pulls it took",
        "all arms equally often",
        "How certainty grew",
        "What was asked, and what is guaranteed",
        "median of all means + 3 × 1.4826 × MAD",
        "Do the data fit the assumptions?",
        "1 of 1,000",
        "Robust Outlier Arm Identification",
        "standout report study.db --study main -o report.html",
        "recomputed from the log",
    ):
        assert words in page.text, words
    assert all(name in page.text for name in NAMES)
    assert page.tags["h1"] == 1
    assert page.tags["h2"] == 8


def test_it_needs_nothing_from_elsewhere(decided: str) -> None:
    page = Page(decided)
    assert not page.tags.keys() & {"script", "img", "iframe", "object", "embed", "link", "form"}
    assert set(page.values("href")) <= {"#checks"}
    assert page.values("src") == []
    assert "@import" not in decided
    assert "url(" not in decided.replace("url(#", "")
    assert "http" not in decided.replace('http-equiv="Content-Security-Policy"', "")
    assert any("default-src 'none'" in value for value in page.values("content"))


def test_it_can_be_read_aloud(decided: str) -> None:
    page = Page(decided)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    pointed = [word for value in page.values("aria-labelledby") for word in value.split()]
    assert set(pointed) <= set(ids)
    assert page.tags["desc"] == page.tags["svg"] > 0
    assert page.values("role").count("img") == page.tags["svg"]
    assert page.tags["th"] == len(page.values("scope"))
    assert 'lang="en"' in decided
    assert 'name="viewport"' in decided


@pytest.mark.parametrize("n_arms", [9, 80])
def test_hostile_names_stay_text(tmp_path: Path, n_arms: int) -> None:
    arms = [*HOSTILE, *(f"arm {i}" for i in range(n_arms - len(HOSTILE)))]
    means = {arm: 0.1 * (i % 7) for i, arm in enumerate(arms)} | {HOSTILE[0]: 9.0, HOSTILE[1]: 8.0}
    problem = Problem(noise="gaussian:0.5", k=3, tolerance=0.4)  # type: ignore[arg-type]
    name = "<b>study</b> \"'&"
    with Study.create(tmp_path / "x<y>&'.db", arms, problem, name=name, pause_after=1) as study:
        study.fail(study.ask(1)[0], "<i>broken</i>")
        workers = ("<u>w</u>", "\"'><script>1</script>")

        def leaning(rng: np.random.Generator, arm: str, done: int) -> float:
            return float(rng.normal(means[arm] + (done // 20 % 2), 0.5))

        measure(study, means, most=60 * n_arms, workers=workers, reward=leaning)
        page = Page(render_report(study))
    assert not page.tags.keys() & {"script", "img", "b-", "i-", "u", "iframe"}
    assert page.tags["h1"] == 1
    assert not [name for name in (key for _, key, _ in page.attributes) if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "<b>study</b> \"'&" in page.text
    assert "\x1b" not in page.text
    assert "\u202e" not in page.text


@pytest.mark.parametrize("n_arms", [3, 60, 61, 500])
def test_any_number_of_arms_can_be_drawn(tmp_path: Path, n_arms: int) -> None:
    arms = [f"arm {i}" for i in range(n_arms)]
    means = {arm: 0.1 * (i % 5) for i, arm in enumerate(arms)} | {arms[0]: 9.0}
    with make(tmp_path, arms=arms, problem={"side": "both"}) as study:
        for most in (0, n_arms // 2, 20 * n_arms):
            if most:
                measure(study, means, most=most, plate=500)
            page = Page(render_report(study))
            assert page.tags["tr"] >= n_arms
            assert (page.tags["svg"] > 0) == (most > 0)


def many_arms(facts: Facts, n_arms: int, length: int) -> Facts:
    """The same study with many arms of long names; a third each undecided and normal."""
    rng = np.random.default_rng(0)
    estimate = rng.normal(size=n_arms)
    verdict = rng.choice([0, 1, 2], n_arms, p=[0.5, 0.48, 0.02]).astype(np.int8)
    undecided, normal, outliers = np.bincount(verdict).tolist()
    counts = replace(
        facts.seen.counts, arms=n_arms, undecided=undecided, normal=normal, outliers=outliers
    )
    names = tuple(f"{i:05d}" + "é" * length for i in range(n_arms))
    seen = replace(
        facts.seen, names=names, estimate=estimate, lower=estimate - 1, upper=estimate + 1,
        pulls=rng.integers(1, 1000, n_arms), verdict=verdict, counts=counts,
    )  # fmt: skip
    assert facts.chances is not None
    chances = replace(facts.chances, arms=names, chance=rng.random(n_arms), flagged=names[:3000])
    return replace(facts, seen=seen, guess=(), chances=chances)


@pytest.mark.parametrize("length", [3, 200])
def test_ten_thousand_arms_stay_below_two_megabytes(tmp_path: Path, length: int) -> None:
    with make(tmp_path, budget=140) as study:
        facts = many_arms(gather(measure(study)), 10_000, length)
    text = render(facts)
    assert len(text.encode()) < 2_000_000
    page = Page(text)
    counts = facts.seen.counts
    rows = counts.outliers + counts.undecided + reports.MOST_NORMAL
    for kind, number in (("outlier", counts.outliers), ("undecided", counts.undecided)):
        assert text.count(f'<tr class="{kind}">') == number
    assert text.count('<tr class="normal">') == reports.MOST_NORMAL
    assert f"To keep this file small, {10_000 - rows:,} normal arms" in page.text


def test_a_table_that_would_be_too_large_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MOST_BYTES", 500)
    with make(tmp_path, budget=140) as study:
        facts = gather(measure(study))
    text = render(facts)
    assert "undecided arms (those with the smallest estimates) are not shown" in text


def test_facts_for_machines(tmp_path: Path) -> None:
    with make(tmp_path, "first"):
        pass
    with make(tmp_path, "second") as study:
        measure(study)
    place = tmp_path / "study.db"
    outcome = standout("report", place, "--study", "second", "--json")
    assert outcome.code == 0, outcome.err
    facts = outcome.json
    assert facts["answer"] == "1 of the 7 arms stands out: yew."
    assert facts["problem"]["k"] == 3.0
    by_name = {row["arm"]: row for row in facts["arms"]}
    assert set(by_name) == set(NAMES)
    assert (by_name["yew"]["verdict"], by_name["yew"]["side"]) == ("outlier", "high")
    assert by_name["yew"]["estimate"] == pytest.approx(MEANS["yew"], abs=1)
    assert sum(row["pulls"] for row in facts["arms"]) == facts["counts"]["pulls"]
    assert facts["uniform"]["pulls"] > 0
    assert facts["trace"]["pulls"][-1] == facts["counts"]["pulls"]
    assert {check["key"] for check in facts["checks"]} >= {"drift", "noise", "workers", "verify"}
    assert facts["warnings"] == 0
    assert standout("report", place, "--json").code != 0


def test_the_command_writes_a_whole_file_or_none(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        measure(study, most=50)
    place, out = tmp_path / "study.db", tmp_path / "report.html"
    outcome = standout("report", place, "-o", out)
    assert (outcome.code, outcome.out) == (0, "")
    assert "wrote the report to" in outcome.err
    Page(out.read_text("utf-8"))
    piped = standout("report", place, "--seed", 3)
    assert piped.out.startswith("<!doctype html>")
    assert "--seed 3" in piped.out
    nowhere = standout("report", place, "-o", tmp_path / "no" / "report.html")
    assert nowhere.code == 2
    assert "cannot be written" in nowhere.err
    assert not (tmp_path / "no").exists()
    assert not list(tmp_path.glob("*.part"))


def test_the_same_study_gives_the_same_report(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        measure(study)
        first, again = (gather(study).to_dict() for _ in range(2))
    del first["made"], again["made"]
    assert json.dumps(first) == json.dumps(again)


def test_what_was_changed_by_hand_is_told(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        measure(study, most=200)
        study.void(
            3, value=float(study.history()["reward"][3]), reason="<b>a slip</b>", worker="Ada"
        )
        study.set(tolerance=0.01)
        study.stop("enough")
        facts = gather(study)
        page = render(facts)
    assert "Changed by hand" in page
    assert "by Ada (&lt;b&gt;a slip&lt;/b&gt;)" in page
    assert "were not what was measured" in page
    assert [change["kind"] for change in facts.to_dict()["changes"]] == ["void", "set", "set"]
    assert len(facts.log) == study.status().pulls
