"""Runs that end on an estimate: the same as `identify` would, and counted apart from proofs."""

from __future__ import annotations

import math

import numpy as np

from standout import Problem, identify
from standout.results import StopReason
from standout.simulation import simulate
from standout.simulation.instances import make_instance
from standout.simulation.instances.base import FixedFamily

MEANS = {**{f"arm {i}": 0.02 * i for i in range(12)}, "yew": 0.6}
PROBLEM = Problem(noise="gaussian:0.06", k=3)


def instance() -> FixedFamily:
    return FixedFamily(make_instance("small", list(MEANS.values()), PROBLEM.noise))


def test_a_probable_end_is_no_proof() -> None:
    (result,) = simulate(instance(), "focus", PROBLEM, runs=4, until="errors=0.3").results
    (whole,) = simulate(instance(), "focus", PROBLEM, runs=4).results
    assert result.probable == 4
    assert result.stopped == result.wrong == 0
    assert whole.stopped == 4
    assert whole.probable == 0
    assert result.pulls.mean() < whole.pulls.mean()
    expected, actual = result.wrong_arms()
    assert 0 <= expected <= 0.3
    assert actual == sum(record.wrong_arms for record in result.records) / 4
    assert result.probable_wrong == sum(record.wrong_arms > 0 for record in result.records)
    plain = result.to_dict()
    assert plain["probable"] == 4
    assert plain["expected_wrong_arms"] == expected
    assert all(math.isnan(value) for value in whole.wrong_arms())


def test_a_promise_out_of_reach_changes_nothing() -> None:
    (result,) = simulate(instance(), "focus", PROBLEM, runs=2, until="errors=1e-9").results
    (whole,) = simulate(instance(), "focus", PROBLEM, runs=2).results
    assert result.pulls.tolist() == whole.pulls.tolist()
    assert result.stopped == 2


def test_it_looks_when_identify_looks() -> None:
    """Both end after pulls that no look in between can separate: about as many."""
    (result,) = simulate(instance(), "focus", PROBLEM, runs=6, until="errors=0.3").results
    rng = np.random.default_rng(3)
    ends = [
        identify(lambda arm: rng.normal(MEANS[arm], 0.06), list(MEANS), PROBLEM, until="errors=0.3")
        for _ in range(6)
    ]
    assert {end.reason for end in ends} == {StopReason.ESTIMATE}
    # Their logarithms scatter by less than .5 each: off by a factor of 3 once in many thousands.
    assert 1 / 3 < result.pulls.mean() / np.mean([end.pulls for end in ends]) < 3
