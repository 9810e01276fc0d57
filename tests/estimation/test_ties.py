"""Populations with ties and groups: what chances say of them, and when they cannot tell."""

from __future__ import annotations

import numpy as np
import pytest

from standout import Problem
from standout.core import robust
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence
from standout.results import Chances


def looked_at(means: np.ndarray, pulls: int, rng: np.random.Generator) -> Chances:
    n = len(means)
    seen = rng.normal(means, 1.0 / np.sqrt(pulls))
    given = Evidence(np.full(n, pulls), seen, np.full(n, np.nan), np.zeros(n, dtype=np.bool_))
    return estimate(Problem(noise="gaussian:1"), given, [str(i) for i in range(n)])


@pytest.mark.parametrize("sides", [1, 2])
def test_most_arms_equal(sides: int) -> None:
    """60 % equal: the threshold lies on them, and about as many are wrong as expected.

    Over 10 populations about 20 wrong arms with a standard deviation of 5: more than twice the
    expected ones and 10 about once in 10,000 seeds. A prior without atoms expects less than half.
    """
    rng = np.random.default_rng(12)
    factor = Problem(noise="gaussian:1").factor
    expected, actual, covered = 0.0, 0, 0
    for _ in range(10):
        others = rng.gamma(2.0, 0.5, 40) * (1 if sides == 1 else rng.choice([-1, 1], 40))
        means = np.where(np.arange(40) < 24, 0.0, others)
        found = looked_at(means, 160, rng)
        expected += found.expected_wrong
        actual += int(((found.chance > 0.5) != robust.outliers(means, factor)).sum())
        likely = found.likely_threshold
        covered += likely.lower <= 1e-9 and likely.upper >= -1e-9
    assert actual <= 2 * expected + 10
    # 9 of 10 intervals hold: fewer than 6 about once in 1,000.
    assert covered >= 6


@pytest.mark.parametrize("kind", ["equal, Laplace", "zeros, gamma"])
def test_ties_with_arms_close_by(kind: str) -> None:
    """Many arms lie within a standard error of the ties; still about as many are wrong as expected.

    60 populations of 40 arms. The actual wrong arms of answers without a note have a standard
    deviation of about a fifth of the expected ones: 1.7 times as many are less likely than .001.
    """
    rng = np.random.default_rng(31)
    factor = Problem(noise="gaussian:1").factor
    expected, actual, plain = 0.0, 0, 0
    for _ in range(60):
        if kind == "zeros, gamma":
            means = 0.5 * np.where(rng.random(40) < 0.4, 0.0, rng.gamma(2.5, 0.6, 40))
        else:
            means = 0.5 * np.where(rng.random(40) < 0.6, 0.0, rng.laplace(0.0, 1.1, 40))
        found = looked_at(means, 160, rng)
        if found.note is None:
            plain += 1
            expected += found.expected_wrong
            actual += int(((found.chance > 0.5) != robust.outliers(means, factor)).sum())
    assert plain >= 20
    assert actual <= 1.7 * expected


def test_possible_ties_of_the_majority_are_noted() -> None:
    """Half of the arms in a narrow group and half apart: few more equal ones move the threshold."""
    rng = np.random.default_rng(3)
    notes = []
    for _ in range(12):
        means = np.where(np.arange(30) < 14, 0.0, rng.gamma(3.0, 0.3, 30))
        notes.append(looked_at(means, 60, rng).note)
    assert any(
        note is not None and "more than half of the arms are equal" in note for note in notes
    )


def test_all_equal_names_no_arm() -> None:
    found = looked_at(np.full(60, 2.0), 30, np.random.default_rng(4))
    assert found.probable == ()
    assert found.flagged == ()


def test_noise_beyond_half_the_spread_is_noted_and_little_noise_is_not() -> None:
    rng = np.random.default_rng(6)
    means = rng.normal(0.0, 1.0, 80)
    noisy = looked_at(means, 2, rng)
    assert noisy.note is not None
    fine = looked_at(means, 400, rng)
    assert fine.note is None


def test_two_groups_of_equal_size_are_told_apart() -> None:
    """Groups that lie ten standard errors apart: the threshold is beyond the upper one."""
    rng = np.random.default_rng(8)
    means = np.repeat([0.0, 3.0], 20) + rng.normal(0, 0.2, 40)
    found = looked_at(means, 20, rng)
    factor = Problem(noise="gaussian:1").factor
    wrong = ((found.chance > 0.5) != robust.outliers(means, factor)).sum()
    assert wrong <= 1 + 3 * found.expected_wrong
