"""What is known before the first pull, and runs that may never end."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

import standout
from standout import MethodError, Problem, ProblemError, UndecidableWarning, identify

MEANS = {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.3, "e": 0.4, "f": 3.0}


class Lab:
    """Gaussian rewards, counted by arm."""

    def __init__(self, means: dict[str, float], sigma: float, seed: int) -> None:
        self.means = means
        self.sigma = sigma
        self.rng = np.random.default_rng(seed)
        self.pulled: Counter[str] = Counter()

    def __call__(self, arm: str) -> float:
        self.pulled[arm] += 1
        return float(self.rng.normal(self.means[arm], self.sigma))


PROBLEM = Problem(noise="gaussian:0.3", k=2)


def test_known_arms_are_never_pulled() -> None:
    lab = Lab(MEANS, 0.3, seed=1)
    found = identify(lab, list(MEANS), PROBLEM, known={"c": 0.2, "f": 3.0})
    assert found.outliers == ("f",)
    assert lab.pulled["c"] == lab.pulled["f"] == 0
    assert found.pulls_by_arm[[2, 5]].tolist() == [0, 0]
    assert found.pulls == sum(lab.pulled.values())


def test_earlier_rewards_save_pulls() -> None:
    rng = np.random.default_rng(2)
    prior = {arm: (400, float(rng.normal(mean, 0.3, 400).sum())) for arm, mean in MEANS.items()}
    without = identify(Lab(MEANS, 0.3, seed=3), list(MEANS), PROBLEM)
    with_prior = identify(Lab(MEANS, 0.3, seed=3), list(MEANS), PROBLEM, prior=prior)
    assert with_prior.outliers == without.outliers == ("f",)
    assert with_prior.pulls < without.pulls


def test_a_costly_arm_is_pulled_less() -> None:
    plain, costly = Lab(MEANS, 0.3, seed=4), Lab(MEANS, 0.3, seed=4)
    identify(plain, list(MEANS), PROBLEM)
    identify(costly, list(MEANS), PROBLEM, costs={"c": 20.0})
    assert costly.pulled["c"] < plain.pulled["c"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": {"x": 1.0}}, "no arm 'x'"),
        ({"costs": {"a": 0.0}}, "cost of arm 'a' must be a positive number"),
        ({"prior": {"a": (-1, 0.0)}}, "whole number"),
        ({"prior": {"a": (3, float("nan"))}}, "not finite"),
        ({"prior": {"a": (3, 1.0)}, "known": {"a": 0.3}}, "both a known mean and earlier"),
        ({"known": {"a": float("inf")}}, "cannot have mean inf"),
    ],
)
def test_what_cannot_be_given(given: dict[str, dict[str, object]], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        identify(Lab(MEANS, 0.3, seed=5), list(MEANS), PROBLEM, **given)  # type: ignore[arg-type]


def test_what_needs_focus_or_every_reward() -> None:
    with pytest.raises(MethodError, match="known means need focus"):
        identify(Lab(MEANS, 0.3, seed=5), list(MEANS), PROBLEM, "random", known={"a": 0.0})
    unknown = Problem(noise="bounded:-9,9", k=2)
    with pytest.raises(ProblemError, match="needs every earlier reward"):
        identify(Lab(MEANS, 0.3, seed=5), list(MEANS), unknown, prior={"a": (3, 1.0)})


@pytest.mark.parametrize(
    "means",
    [
        dict.fromkeys("abcdefg", 0.5),
        {**dict.fromkeys("abcd", 0.5), "e": 0.7, "f": 0.2, "g": 2.0},
    ],
    ids=["all equal", "MAD 0"],
)
def test_arms_that_cannot_be_decided(means: dict[str, float]) -> None:
    """Without a tolerance it says so early and plainly; with one it ends."""
    notes = []
    for seed in range(6, 10):
        with pytest.warns(UndecidableWarning, match="look the same"):
            found = identify(Lab(means, 0.3, seed=seed), list(means), PROBLEM, budget=30_000)
        assert found.undecided
        # The anytime rule leaves one equal arm off the median more often at the very end, so that
        # the note is missing in 5 of 20 runs with the MAD 0. The early warning never is.
        with pytest.warns(UndecidableWarning, match="look the same"):
            found = identify(
                Lab(means, 0.3, seed=seed), list(means), PROBLEM, "focus", budget=30_000
            )
        assert found.undecided
        notes.append(found.note or "")
    # At the very end an arm may seem to differ by chance: in 1 of 20 runs with other seeds.
    assert sum("tolerance" in note for note in notes) >= 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = Problem(noise="gaussian:0.3", k=2, tolerance=0.2)
        done = identify(Lab(means, 0.3, seed=6), list(means), problem)
    assert str(done.reason) == "decided"


def test_both_sides_have_a_threshold_each() -> None:
    means = {**MEANS, "g": -3.0}
    problem = Problem(noise="gaussian:0.3", k=2, side="both", k_low=3)
    found = standout.identify(Lab(means, 0.3, seed=7), list(means), problem)
    assert set(found.outliers) == {"f", "g"}
    assert found.threshold_low is not None
    assert found.threshold_low.upper < found.threshold.lower


def test_rewards_that_never_differ_tell_nothing_of_an_unknown_scale() -> None:
    means = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 9.0}
    with pytest.warns(UndecidableWarning, match="the same reward every time"):
        found = identify(means.__getitem__, list(means), Problem(noise="gaussian"), budget=2_000)
    assert found.undecided == ("a", "b", "c", "d")


def test_earlier_rewards_that_decide_all_need_no_measurement() -> None:
    means = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.2, "e": 0.95}
    prior = {arm: (100_000, 100_000 * mean) for arm, mean in means.items()}

    def measure(arm: str) -> float:
        raise AssertionError(f"{arm} was measured")

    for method in ("focus", "roai-lucb", "roai-elim"):
        found = identify(measure, list(means), Problem(noise="bernoulli", k=2), method, prior=prior)
        assert found.outliers == ("e",)
        assert (found.pulls, found.rounds, str(found.reason)) == (0, 0, "decided")


def test_known_arms_on_the_threshold_are_normal_and_never_pulled() -> None:
    """Three equal controls of five: the MAD is 0 and they lie on the threshold."""
    rng = np.random.default_rng(3)
    means = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5, "e": 1.6}
    pulled: Counter[str] = Counter()

    def measure(arm: str) -> float:
        pulled[arm] += 1
        return rng.normal(means[arm], 0.2)

    known = dict.fromkeys("abc", 1.0)
    found = identify(
        measure, list(means), Problem(noise="gaussian:0.2", k=2), known=known, budget=50_000
    )
    assert found.outliers == ("e",)
    assert found.normal == ("a", "b", "c", "d")
    assert not set(pulled) & set(known)


def test_an_arm_without_noise_does_not_starve_the_others() -> None:
    """Its scale cannot be told, so it is never decided: that is said, and the others go on."""
    rng = np.random.default_rng(4)
    means = {"a": 0.0, "b": 0.3, "c": 0.6, "d": 0.9, "e": 9.0, "f": 0.5, "g": 0.2}

    def measure(arm: str) -> float:
        return 0.5 if arm == "f" else rng.normal(means[arm], 0.2)

    with pytest.warns(UndecidableWarning, match="arm 'f' has given the same reward every time"):
        found = identify(measure, list(means), Problem(noise="gaussian", k=2), budget=20_000)
    assert "f" in found.undecided
    assert found.outliers == ("e",)
    assert found.note is not None
    assert found.pulls_by_arm[5] < 2 * 20_000 / len(means)


def test_two_arms_without_noise_make_no_outlier() -> None:
    rng = np.random.default_rng(4)
    means = {"a": 0.0, "b": 0.3, "c": 0.6, "d": 0.5, "e": 0.5}

    def measure(arm: str) -> float:
        return 0.5 if arm in "de" else rng.normal(means[arm], 0.2)

    with pytest.warns(UndecidableWarning, match="the same reward every time"):
        found = identify(measure, list(means), Problem(noise="gaussian", k=2), budget=20_000)
    assert found.outliers == ()
    # The budget is shared: no arm has more than a few times its even part.
    assert found.pulls_by_arm.max() < 3 * 20_000 / len(means)
