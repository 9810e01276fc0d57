"""Stop rules on chances: what they promise, when they look, and what they leave alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout import Chances, Problem, ProblemError, StopReason, Until, chances, identify
from standout.core import robust
from standout.core.run import Run
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence
from standout.estimation.until import expected_missed, is_look_due
from tests.naive.chances import missed_share

MEANS = {**{f"arm {i}": 0.02 * i for i in range(12)}, "yew": 0.6}
PROBLEM = Problem(noise="gaussian:0.06", k=3)


def measured(seed: int = 1):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    return lambda arm: rng.normal(MEANS[arm], 0.06)


def said(chance: list[float], flagged: int, note: str | None = None) -> Chances:
    """Chances that flag the first so many arms."""
    arms = tuple(f"arm {i}" for i in range(len(chance)))
    data = {
        "arms": list(arms),
        "chance": chance,
        "level": 0.9,
        "likely_threshold": {"lower": 0.4, "upper": 0.6, "estimate": 0.5},
        "false_share": 0.05,
        "flagged": list(arms[:flagged]),
        "flagged_false_share": 0.0,
        "missed_share": sum(chance[flagged:]) / sum(chance) if sum(chance) else None,
        "probable": [],
        "expected_wrong": sum(min(each, 1 - each) for each in chance),
        "pulls": 30,
        "seed": 0,
        "note": note,
    }
    return Chances.from_dict(data)


def test_an_estimate_ends_a_run_and_says_so() -> None:
    found = identify(measured(), list(MEANS), PROBLEM, until="errors=0.5")
    assert found.reason is StopReason.ESTIMATE
    assert found.until == "errors=0.5"
    assert found.chances is not None
    assert found.chances.note is None
    assert found.chances.expected_wrong <= 0.5
    # What is only probable is in no list of what is certain.
    assert found.undecided
    assert set(found.outliers) | set(found.normal) | set(found.undecided) == set(MEANS)
    whole = identify(measured(), list(MEANS), PROBLEM)
    assert whole.reason is StopReason.DECIDED
    assert whole.chances is None
    assert whole.pulls > found.pulls


def test_three_ends_three_reasons() -> None:
    arms = list(MEANS)
    ends = [
        identify(measured(), arms, PROBLEM, until="errors=1e-30").reason,
        identify(measured(), arms, PROBLEM, until="errors=1e-30", budget=30).reason,
        identify(measured(), arms, PROBLEM, until="errors=0.5", budget=3000).reason,
    ]
    assert ends == [StopReason.DECIDED, StopReason.BUDGET, StopReason.ESTIMATE]
    assert len({reason.message for reason in ends}) == 3
    assert "estimate" in StopReason.ESTIMATE.message


def test_a_budget_that_ends_where_the_promise_holds_ends_on_the_promise() -> None:
    early = identify(measured(), list(MEANS), PROBLEM, until="errors=0.5")
    found = identify(measured(), list(MEANS), PROBLEM, until="errors=0.5", budget=early.pulls)
    assert found.reason is StopReason.ESTIMATE


def test_the_certificate_is_the_same_bit_for_bit_when_chances_are_on() -> None:
    """What is certain, and every interval, is that of a run without, stopped there."""
    rng = np.random.default_rng(0)
    for method in ("focus", "focus:goal=anytime"):
        for until in ("false-share=0.05,missed-share=0.05", "errors=1e-30"):
            found = identify(measured(2), list(MEANS), PROBLEM, method, until=until)
            plain = identify(measured(2), list(MEANS), PROBLEM, method, budget=found.pulls)
            ours, theirs = found.to_dict(), plain.to_dict()
            for name in ("until", "chances", "reason"):
                ours.pop(name), theirs.pop(name)
            assert ours == theirs
    run = Run(PROBLEM, list(MEANS), "focus", rng)
    assert "until" not in vars(run)


def test_lists_with_a_stated_error_end_a_run() -> None:
    text = "false-share=0.1,missed-share=0.1"
    found = identify(measured(), list(MEANS), PROBLEM, until=Until.parse(text))
    assert found.reason is StopReason.ESTIMATE
    assert found.chances is not None
    assert found.chances.false_share == 0.1
    assert found.chances.flagged == ("yew",)
    assert expected_missed(found.chances) <= 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.integers(0, 5))
def test_the_share_that_is_missed(chance: list[float], flagged: int) -> None:
    """No more than the chance that there is an arm to miss, which is what stands for it."""
    found = said(sorted(chance, reverse=True), min(flagged, len(chance)))
    left = sum(found.chance[len(found.flagged) :].tolist())
    assert missed_share(found.chance.tolist(), len(found.flagged)) <= left + 1e-9
    assert expected_missed(found) <= left + 1e-9
    assert expected_missed(found) <= 1.0


def test_nothing_to_miss_is_nothing_missed() -> None:
    until = Until(false_share=0.05, missed_share=0.05)
    assert until.is_met(said([0.0, 0.0, 0.0], 0))
    assert until.is_met(said([0.01, 0.01, 0.01], 0))
    assert not until.is_met(said([0.9, 0.01, 0.01], 0))


def test_chances_with_a_note_promise_nothing() -> None:
    assert Until(errors=0.5).is_met(said([1.0, 0.0], 1))
    assert not Until(errors=0.5).is_met(said([1.0, 0.0], 1, note="leans on a guess"))


def test_all_that_is_asked_has_to_hold() -> None:
    until = Until.parse("errors=0.1,false-share=0.05,missed-share=0.05")
    assert until.is_met(said([1.0, 0.02], 1))
    assert not until.is_met(said([1.0, 0.2], 1))
    assert until.words.count("at most") == 3


@pytest.mark.parametrize(
    "text",
    [
        "errors=0.5",
        "false-share=0.05,missed-share=0.1",
        "errors=2.0,false-share=0.2,missed-share=0.3",
    ],
)
def test_its_text_is_read_back(text: str) -> None:
    assert str(Until.parse(text)) == text
    assert eval(repr(Until.parse(text)), {"Until": Until}) == Until.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "errors", "errors=", "errors=x", "errors=0", "errors=-1", "errors=inf", "errors=nan",
        "wrong=1", "errors=1,errors=2", "false-share=0.1", "missed-share=0.1",
        "false-share=0,missed-share=0.1", "false-share=0.1,missed-share=1",
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused(text: str) -> None:
    with pytest.raises(ProblemError):
        Until.parse(text)


def test_too_many_arms_are_refused() -> None:
    with pytest.raises(ProblemError, match="at most 20,000 arms"):
        identify(lambda arm: 0.0, [str(i) for i in range(20_001)], PROBLEM, until="errors=1")


def test_looks_are_rare() -> None:
    for n_arms in (3, 123, 1500):
        looks = [p for p in range(1, 20 * n_arms) if is_look_due(p - 1, p, n_arms)]
        assert looks[0] == n_arms
        assert len(looks) < 60
        # However the pulls come in, no grid point is passed without a look.
        for before, after in itertools.pairwise(looks):
            assert is_look_due(before, after, n_arms)
            assert after <= 1.25 * before + 1
    assert not is_look_due(500, 500, 3)


def test_an_answer_that_is_not_certain_has_chances() -> None:
    found = identify(measured(), list(MEANS), PROBLEM, budget=60)
    assert found.reason is StopReason.BUDGET
    assert found.until is None
    assert found.chances is not None
    np.testing.assert_array_equal(found.chances.chance, chances(found, PROBLEM).chance)
    # The best guess is what is certain, and the arms with a chance above one half.
    above = {arm for arm in found.undecided if found.chances.of(arm) > 0.5}
    assert set(found.best_guess) == above | set(found.outliers)
    doubted = replace(found.chances, probable=found.undecided[:2])
    assert set(found.with_chances(doubted).best_guess) == {*found.outliers, *found.undecided[:2]}
    assert type(found).from_dict(found.to_dict()).chances is not None


def test_many_noisy_arms_promise_nothing_by_luck() -> None:
    """3,000 means like a bell, 100 rewards of 0 or 1 each: 4 or so stand out, and none is found.

    Noise is two thirds of the means' spread here. A prior that follows it too closely expects
    0.4 wrong arms on the first of these; over 15 seeds 61 arms are wrong, and this one expects 67.
    """
    problem, n = Problem(noise="bernoulli", k=3), 3000
    expected, actual = 0.0, 0
    for seed in range(2):
        rng = np.random.default_rng([1, seed])
        means = np.clip(rng.normal(0.2336, 0.0621, n), 0.01, 0.9)
        seen = rng.binomial(100, means) / 100
        evidence = Evidence(np.full(n, 100), seen, np.full(n, np.nan), np.zeros(n, dtype=np.bool_))
        found = estimate(problem, evidence, [str(i) for i in range(n)])
        assert found.expected_wrong > 0.5
        expected += found.expected_wrong
        actual += int(((found.chance > 0.5) != robust.outliers(means, problem.factor)).sum())
    assert actual / 2 < expected < 2 * actual
