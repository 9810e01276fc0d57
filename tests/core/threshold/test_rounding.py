"""Arms that lie exactly on the threshold in decimals are normal, whatever binary numbers say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from standout import Problem, identify
from standout.core import robust
from standout.core.problem import Side
from tests.naive.order import kth_largest, median_rank

CASES = 200


def decimals(rng: np.random.Generator) -> tuple[list[Fraction], int, bool]:
    """Means of one or two decimals (the last on the high threshold), k, and if that is so."""
    unit = int(rng.choice([10, 100, 1000]))
    means = [Fraction(int(x), unit) for x in rng.integers(-40, 41, int(rng.integers(2, 12)))]
    k = int(rng.integers(1, 6))
    # The last arm is on the threshold if it does not move it.
    theta = theta_of([*means, Fraction(10**6)], k)
    return [*means, theta], k, theta_of([*means, theta], k) == theta


def theta_of(means: list[Fraction], k: int) -> Fraction:
    rank = median_rank(len(means))
    middle = kth_largest(means, rank)  # type: ignore[type-var]
    off = [abs(mean - middle) for mean in means]
    return middle + k * kth_largest(off, rank)  # type: ignore[type-var]


@pytest.mark.kernel
@pytest.mark.parametrize("side", ["high", "low"])
def test_known_arms_are_judged_as_in_decimals(side: str) -> None:
    rng = np.random.default_rng(7)
    sign = 1 if side == "high" else -1
    on = 0
    for _ in range(CASES):
        means, k, is_on = decimals(rng)
        on += is_on
        problem = Problem(noise="gaussian:1", k=k, mad_scale=1, side=side)
        values = {str(i): float(sign * mean) for i, mean in enumerate(means)}
        theta = theta_of(means, k)
        expected = [mean > theta for mean in means]
        truth = robust.outliers(list(values.values()), k, Side(side))
        assert truth.tolist() == expected
        gap = robust.min_gap(list(values.values()), k, Side(side))
        assert (gap == 0) == (theta in means)
        for method in ("focus", "joint"):
            found = identify(lambda arm: 1 / 0, list(values), problem, method, known=values)
            assert not found.undecided
            assert [arm in found.outliers for arm in values] == expected
    assert on > CASES / 2


def test_what_is_beyond_rounding_is_judged_by_its_value() -> None:
    means = [0.1, 0.2, 0.3, 0.4, 0.5 + 1e-13]
    assert robust.outliers(means, 2.0).tolist() == [False] * 4 + [True]
    assert robust.outliers([*means[:4], 0.5 - 1e-13], 2.0).tolist() == [False] * 5
    assert robust.min_gap(means, 2.0) > 0
