"""The sequential test against that with a fixed number of runs, both worked out exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from tests.sequential import FALSE_ALARM, MISS, Chance, are_settled


def power(fair: float, foul: float, chance: float) -> tuple[float, float]:
    """Probability that something that fails with `chance` is called foul, and runs on average."""
    after = {0: 1.0}  # Failures so far, while nothing is settled.
    alarmed = mean = 0.0
    runs = 0
    while (left := sum(after.values())) > 1e-8:
        mean += left
        runs += 1
        before, after = after, {}
        for failed in {number + more for number in before for more in (0, 1)}:
            weight = before.get(failed, 0) * (1 - chance) + before.get(failed - 1, 0) * chance
            held = (runs - failed) * math.log((1 - foul) / (1 - fair))
            ratio = failed * math.log(foul / fair) + held
            if ratio >= math.log(1 / FALSE_ALARM):
                alarmed += weight
            elif ratio > math.log(MISS):
                after[failed] = weight
    return alarmed, mean


# The tests that had a fixed number of runs before, with a false alarm in a million.
@pytest.mark.parametrize(("fair", "foul", "fixed"), [(0.1, 0.2, 500), (0.05, 0.15, 300)])
def test_it_has_at_least_the_power_of_a_fixed_number(fair: float, foul: float, fixed: int) -> None:
    assert power(fair, foul, fair)[0] <= FALSE_ALARM
    assert power(fair, foul, foul)[0] >= 1 - MISS
    most = binom.isf(1e-6, fixed, fair)
    for chance in np.linspace(fair, foul + 0.05, 7)[1:]:
        assert power(fair, foul, chance)[0] >= binom.sf(most, fixed, chance) - 1e-8, chance
    assert power(fair, foul, 0.02)[1] < 0.3 * fixed


def test_it_counts() -> None:
    chance = Chance(0.1, 0.2)
    while not are_settled(chance):
        chance.add(False)
    assert (chance.runs, chance.failed, chance.is_fair, chance.is_foul) == (59, 0, True, False)
    chance = Chance(0.1, 0.2)
    while not are_settled(chance, Chance(0.1, 0.2)):
        chance.add(True)
    assert (chance.runs, chance.failed, chance.is_fair, chance.is_foul) == (20, 20, False, True)
    assert chance.evidence == pytest.approx(20 * math.log(2))
    assert not are_settled(Chance(0.1, 0.2), Chance(0.1, 0.2, runs=59))
