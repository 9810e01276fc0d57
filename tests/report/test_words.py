"""What a report says, in every state of a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from standout.report import question, words
from standout.report.facts import gather
from standout.report.page import render
from standout.results import StopReason
from standout.text import Digits, listed, rounded, signed, span
from tests.report.studies import MEANS, NAMES, make, measure


def test_not_yet_started(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        facts = gather(study)
    assert (
        words.answer(facts) == "Nothing has been measured yet: 7 arms wait for their first pulls."
    )
    assert words.confidence(facts) == "No arm is decided yet, so nothing can be wrong."
    assert "nothing to compare" in words.effort(facts)
    assert words.guess(facts) == words.undecided_reason(facts) == ""


def test_just_begun(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        facts = gather(measure(study, most=3))
    assert words.answer(facts).startswith("It is too early to tell: 3 pulls of 7 arms so far")


def test_under_way(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        facts = gather(measure(study, most=100))
        assert facts.seen.counts.undecided == 7
        assert words.answer(facts).startswith("No arm is decided yet: all intervals")
        assert words.guess(facts) == ("Best guess, without guarantee: yew would stand out.")
        assert "has used 100 pulls so far" in words.effort(facts)
        assert "more would decide every arm" in words.effort(facts)


def test_some_decided(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        while study.status().pulls == 0 or not study.status().outliers:
            measure(study, most=40, seed=study.status().pulls)
        facts = gather(study)
    assert words.answer(facts).startswith("1 of the 7 arms stands out for certain: yew.")
    assert words.answer(facts).endswith("still undecided.")
    assert "There is no claim about undecided arms." in words.confidence(facts)
    assert "touches the threshold's band" in words.undecided_reason(facts)


def test_decided(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        facts = gather(measure(study))
    assert words.answer(facts) == "1 of the 7 arms stands out: yew."
    assert words.confidence(facts) == (
        "The chance that any of this is wrong is at most 5 %, if the assumptions below hold."
    )
    assert words.guess(facts) == ""
    assert facts.uniform is not None
    assert "Pulling all arms equally often would have needed about" in words.effort(facts)
    assert [finding.key for finding in facts.warnings] == []


def test_none_stands_out(tmp_path: Path) -> None:
    with make(tmp_path, problem={"tolerance": 0.5}) as study:
        facts = gather(measure(study, MEANS | {"yew": 0.1}))
    assert words.answer(facts) == "None of the 7 arms stands out."
    assert "within 0.5 of the threshold, either verdict counts as right" in words.confidence(facts)
    assert any("either verdict" in line for line in question.question(facts))


def test_budget_used_up(tmp_path: Path) -> None:
    with make(tmp_path, budget=40) as study:
        facts = gather(measure(study))
    assert words.answer(facts) == (
        "No arm is decided yet: the budget of 40 pulls is used up, and all intervals still "
        "touch the threshold's."
    )
    assert "40 pulls of a budget of 40" in words.effort(facts)


def test_budget_used_up_with_some_decided(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        measure(study)
        needed = study.status().pulls
    (tmp_path / "two").mkdir()
    with make(tmp_path / "two", budget=needed - 150) as study:
        facts = gather(measure(study))
    assert words.answer(facts).startswith("1 of the 7 arms stands out for certain: yew. ")
    assert f"because the budget of {needed - 150:,} pulls is used up." in words.answer(facts)


def test_both_sides(tmp_path: Path) -> None:
    means = MEANS | {"ash": -9.0, "elm": 8.0}
    with make(tmp_path, problem={"side": "both", "k_low": 2.0, "tolerance": 0.5}) as study:
        facts = gather(measure(study, means))
    assert words.answer(facts) == (
        "3 of the 7 arms stand out: unusually high are yew and elm; unusually low is ash."
    )
    text = " ".join(question.question(facts))
    assert "above the median of all means + 3 × 1.4826 × MAD" in text
    assert "or below the median of all means − 2 × 1.4826 × MAD" in text
    assert ("k", "3 (low side 2)") in question.settings(facts)


def test_low_side(tmp_path: Path) -> None:
    means = {name: -value for name, value in MEANS.items()}
    with make(tmp_path, problem={"side": "low"}) as study:
        facts = gather(measure(study, means))
    assert words.answer(facts) == "1 of the 7 arms stands out: yew."
    assert "below the median" in " ".join(question.question(facts))


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ("bernoulli", "A reward is 0 or 1"),
        ("bounded:0,5", "between 0 and 5"),
        ("heavy:2", "at most 2, with any distribution"),
        ("gaussian", "bell-shaped), with any spread"),
        ("gaussian:2", "standard deviation of 2"),
    ],
)
def test_every_noise_family_is_explained(tmp_path: Path, noise: str, words: str) -> None:
    with make(tmp_path, problem={"noise": noise, "delta": 0.1}, ordered=True) as study:
        facts = gather(study)
    lines = question.assumptions(facts)
    assert any(words in line for line in lines)
    assert any("in the order in which their pulls were handed out" in line for line in lines)
    assert "at least 90 %" in question.guarantee(facts)[0]


def test_other_thresholds_are_explained(tmp_path: Path) -> None:
    with make(tmp_path, problem={"noise": "bernoulli"}, method="rr") as study:
        facts = gather(study)
        assert "the average of all means + 3 × standard deviation" in question.question(facts)[1]
        assert "Scale of the MAD" not in dict(question.settings(facts))
    arms = [f"arm {i}" for i in range(30)]
    with make(tmp_path, "subset", arms=arms, method="roai-lucb:lambda=2,epsilon=0.1") as study:
        assert any("computed from 15 arms" in line for line in question.question(gather(study)))


def test_the_picture_says_what_decides(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        assert "together" not in words.caption(gather(measure(study, MEANS)))
    with make(tmp_path, "joint", method="joint") as study:
        assert "all arms together rule out" in words.caption(gather(measure(study, MEANS)))


def test_an_uncertain_run_says_why(tmp_path: Path) -> None:
    """More than half of the arms alike: the note of the study is passed on."""
    with make(tmp_path) as study:
        facts = gather(measure(study, dict.fromkeys(NAMES, 1.0), most=5000))
    assert facts.seen.note is not None
    assert words.undecided_reason(facts).lower() == facts.seen.note.lower() + "."


def test_phrases() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefg"), 4) == "a, b, c and 4 more"
    assert listed(["two\nlines"]) == "two\ufffdlines"
    assert [rounded(x) for x in (0, 7, 12_345, 1_549_000)] == ["0", "7", "12,000", "1,500,000"]
    assert (signed(0.123), signed(-2)) == ("+0.12", "−2")
    assert [span(x) for x in (1, 90, 7200, 200_000)] == [
        "1 second", "90 seconds", "2 hours", "2 days",
    ]  # fmt: skip


def test_digits_follow_the_intervals() -> None:
    digits = Digits([0.05, 0.06, np.inf])
    assert digits(0.123456) == "0.123"
    assert digits(-1234.5) == "−1,234.500"
    assert digits.interval(-np.inf, np.inf) == "not known yet"
    assert digits.interval(-np.inf, 2.0) == "−∞ to 2.000"
    assert (digits(np.nan), Digits([])(0.5)) == ("–", "0.500")
    assert Digits([300.0])(1234.5) == "1,234"


def test_estimates_stand_apart_from_the_answer(tmp_path: Path) -> None:
    study = measure(make(tmp_path), most=60)
    facts = gather(study)
    page = render(facts)
    assert facts.chances is not None
    begin, end = page.index('id="estimates"'), page.index('id="effort"')
    section = page[begin:end]
    assert "Estimates, not the certificate" in section
    assert "outlier" not in section
    assert "yew" in section
    plain = facts.to_dict()
    assert plain["chances"]["leaders"][0]["arm"] == "yew"
    assert [arm["chance"] for arm in plain["arms"]] == facts.chances.chance.tolist()
    study.close()


def test_where_all_is_certain_there_are_no_estimates(tmp_path: Path) -> None:
    study = measure(make(tmp_path))
    facts = gather(study)
    assert facts.chances is None
    assert 'id="estimates"' not in render(facts)
    study.close()


def test_an_end_on_an_estimate_is_told_apart(tmp_path: Path) -> None:
    study = measure(make(tmp_path, until="errors=0.5"))
    assert study.status().reason is StopReason.ESTIMATE
    said = words.answer(gather(study))
    assert "the answer is as probable as asked (at most 0.5 wrong arms expected)" in said
    assert "budget" not in said
    study.close()


def test_a_budget_that_will_hardly_do(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        measure(study, most=100)
        study.set(budget=110)
        assert "the remaining 10 will probably not decide every arm" in words.effort(gather(study))
