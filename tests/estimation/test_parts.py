"""The parts of the chances: evidence, and lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standout.core.problem import Problem
from standout.estimation.evidence import Evidence, readings_of
from standout.estimation.lists import lists_of
from tests.naive import chances as naive


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None)
def test_lists(chance: list[float], false_share: float) -> None:
    found = lists_of(np.array(chance), false_share)
    assert found.flagged.tolist() == naive.flagged(chance, false_share)
    assert found.expected_wrong == pytest.approx(sum(min(c, 1 - c) for c in chance))
    assert sorted(found.probable) == [i for i, c in enumerate(chance) if c > 0.5]
    if sum(chance) > 0:
        missed = sum(c for i, c in enumerate(chance) if i not in found.flagged)
        assert found.missed_share == pytest.approx(missed / sum(chance), abs=1e-12)


def test_variances_are_shared_by_as_much_as_they_are_alike() -> None:
    rng = np.random.default_rng(4)
    noise = Problem(noise="gaussian").noise
    pulls, means = np.full(400, 5), np.zeros(400)
    known = np.zeros(400, dtype=bool)
    alike = 4.0 * rng.chisquare(4, 400)
    readings = readings_of(Evidence(pulls, means, alike, known), noise)
    # All errors come near 2/sqrt(5), although each estimate alone is off by a third or more.
    assert np.abs(readings.error / (2 / math.sqrt(5)) - 1).max() < 0.35
    apart = np.where(rng.random(400) < 0.5, 1.0, 100.0) * rng.chisquare(24, 400)
    readings = readings_of(Evidence(5 * pulls, means, apart, known), noise)
    assert np.quantile(readings.error, 0.9) > 2 * np.quantile(readings.error, 0.1)
    assert readings.dof.min() >= 3


def test_bounded_rewards_that_are_only_counted_scatter_as_much_as_they_can() -> None:
    noise = Problem(noise="bounded:0,10").noise
    none = np.full(3, np.nan)
    means = np.array([5.0, 9.0, np.nan])
    found = readings_of(Evidence(np.array([4, 4, 0]), means, none, np.zeros(3, dtype=bool)), noise)
    np.testing.assert_allclose(found.error[:2], [2.5, 1.5])
    assert found.error[2] == np.inf
