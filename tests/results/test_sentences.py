"""The answer in sentences, and what is said of estimates and thresholds that look odd."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import standout
from standout import Identification, Interval, StopReason
from standout.results.interval import possible_means, words_of
from standout.results.overlap import outside_words

MEANS = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 5.0}


def identified(**how: Any) -> Identification:
    rng = np.random.default_rng(1)
    return standout.identify(
        lambda arm: rng.normal(MEANS[arm], 0.2),
        list(MEANS),
        {"noise": "gaussian:0.2", "k": 2},
        **how,
    )


def test_the_answer_has_names_intervals_pulls_and_its_risk() -> None:
    first, second = identified().sentences()
    assert first.startswith("1 of the 5 arms stands out: yew (")
    assert ", interval " in first
    assert first.endswith(" pulls).")
    assert second.startswith("The threshold lies between ")
    assert second.endswith("the chance that any verdict is wrong is at most 0.05.")


def test_what_is_undecided_is_named_with_the_best_guess() -> None:
    found = identified()
    some = replace(found, outliers=(), normal=("ash",), undecided=("elm", "fir", "oak", "yew"))
    text = " ".join(some.sentences())
    assert "for certain" in text
    assert "are undecided: " in text
    assert "Best guess, not certain: yew would stand out." in text


def test_none_and_many() -> None:
    found = identified()
    none = replace(found, outliers=(), normal=found.arms)
    assert none.sentences()[0] == "None of the 5 arms stands out."
    many = replace(found, outliers=found.arms, normal=())
    assert many.sentences()[0].startswith("5 of the 5 arms stand out: ash (")
    bare = Identification.from_dict(
        {
            "outliers": [], "normal": [], "undecided": ["a"], "best_guess": [], "pulls": 1,
            "threshold": {"lower": None, "upper": None}, "threshold_estimate": None, "rounds": 0,
            "reason": "budget",
        }
    )  # fmt: skip
    assert bare.sentences()[1] == "1 arm is undecided: a."


@pytest.mark.parametrize(
    ("ends", "noise", "words"),
    [
        ((0.18, 1.33), "bernoulli", "above 0.18"),
        ((0.18, 0.9), "bernoulli", "between 0.18 and 0.9"),
        ((-0.2, 0.5), "bernoulli", "below 0.5"),
        ((-0.2, 1.5), "bernoulli", "anywhere yet"),
        ((1.5, 9.0), "bounded:1.0,7.0", "above 1.5"),
        ((0.18, 1.33), "gaussian:1.0", "between 0.18 and 1.33"),
    ],
)
def test_a_threshold_is_not_said_to_lie_where_no_mean_can(
    ends: tuple[float, float], noise: str, words: str
) -> None:
    assert words_of(*ends, *possible_means(noise)) == words
    found = identified()
    assert found.problem is not None
    shown = replace(found, threshold=Interval(*ends), problem=replace(found.problem, noise=noise))
    assert shown.threshold_words() == f"threshold {words}"


def test_an_estimate_outside_its_own_interval_is_explained() -> None:
    names = ["a", "b", "c"]
    means, lower, upper = np.array([0.1, 0.154, math.nan]), np.zeros(3), np.array([0.2, 0.149, 1.0])
    said = outside_words(names, means, lower, upper)
    assert said is not None
    assert said.startswith(
        "1 arm has its estimate outside its own interval (b: 0.154, interval 0 to"
    )
    assert "the noise is not as stated" in said
    assert outside_words(names, means, lower, np.full(3, 0.2)) is None
    found = replace(identified(), means=np.array([0.1, 9.0, 0.3, 0.2, 5.0]))
    assert "1 arm has its estimate outside its own interval (elm: 9," in found.summary()


def test_a_tolerance_as_wide_as_the_question_is_not_offered() -> None:
    """Arms whose intervals are far wider than their means are spread."""
    run = standout.Run("gaussian:100000", list("abcde"), "focus", np.random.default_rng(0))
    for arm in "abcde" * 3:
        run.tell(arm, float(ord(arm)))
    run.update()
    found = run.identification()
    assert found.endings[0].tolerance > 4
    assert found.offered_endings() == ()
    assert "tolerance" not in found.summary()
    assert found.reason is StopReason.RUNNING
