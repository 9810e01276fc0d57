from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.methods import METHODS
from standout.core.order import replace_value
from standout.core.problem import Problem
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.threshold import update_threshold
from tests.driving import blank_state
from tests.naive import exact
from tests.naive.threshold import algorithm1
from tests.strategies import interval_lists, value_lists

pytestmark = pytest.mark.kernel

Ends = tuple[list[float], list[float]]
factors = st.sampled_from([1.0, 1.5, 2.0, 4.4478, 0.5])


def exact_range(ends: Ends, factor: float) -> tuple[float, float]:
    lower, upper = ends
    # A factor below 1 is only possible through the scale.
    problem = Problem(noise="gaussian:1", k=1, mad_scale=factor)
    state = blank_state("focus", problem, len(lower))
    state.pulls[:] = 1  # the plug-in estimate divides by them
    state.lower[0] = lower
    state.upper[0] = upper
    state.sorted_lower[0] = sorted(lower)
    state.sorted_upper[0] = sorted(upper)
    update_threshold(METHODS["focus"].spec(problem, len(lower)), state, 0)
    return float(state.bounds[0, THRESHOLD_LOWER]), float(state.bounds[0, THRESHOLD_UPPER])


def slack(ends: Ends) -> float:
    return 1e-12 * max(abs(x) for x in [*ends[0], *ends[1], 1e-300])


@given(interval_lists(), factors)
def test_the_lower_end_is_exact(ends: Ends, factor: float) -> None:
    found, _ = exact_range(ends, factor)
    assert found == pytest.approx(exact.lower_end(*ends, factor), rel=1e-9, abs=9 * slack(ends))


@given(interval_lists(), factors)
def test_it_lies_within_algorithm_1(ends: Ends, factor: float) -> None:
    lower, upper = exact_range(ends, factor)
    paper = algorithm1(*ends, factor, range(len(ends[0])))
    room = 9 * slack(ends)
    assert paper.threshold[0] - room <= lower <= upper + room
    # An arm that reaches beyond the median's interval on both sides counts on both.
    left, right = paper.median
    if not any(a < left and b > right for a, b in zip(*ends, strict=True)):
        assert upper <= exact.upper_end(*ends, factor) + room <= paper.threshold[1] + 2 * room


@given(interval_lists(), factors, st.data())
def test_the_truth_lies_inside(ends: Ends, factor: float, data: st.DataObject) -> None:
    """Any means inside their intervals have their threshold inside its own."""
    shares = data.draw(
        st.lists(
            st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1),
            min_size=len(ends[0]),
            max_size=len(ends[0]),
        )
    )
    means = [min(max(a + share * (b - a), a), b) for a, b, share in zip(*ends, shares, strict=True)]
    theta = algorithm1(means, means, factor, range(len(means))).threshold[0]
    lower, upper = exact_range(ends, factor)
    room = 9 * slack(ends)
    assert lower - room <= theta <= upper + room


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_the_truth_lies_inside_at_all_corners(n: int) -> None:
    """Every combination of ends, for many small sets of intervals."""
    rng = np.random.default_rng(n)
    for _ in range(30):
        lower = rng.integers(0, 8, n) / 4
        ends = lower.tolist(), (lower + rng.integers(0, 6, n) / 4).tolist()
        low, high = exact_range(ends, 2.0)
        for mask in range(2**n):
            means = [ends[mask >> i & 1][i] for i in range(n)]
            theta = algorithm1(means, means, 2.0, range(n)).threshold[0]
            assert low - 1e-9 <= theta <= high + 1e-9


@given(interval_lists(), factors, st.data())
def test_ends_at_infinity(ends: Ends, factor: float, data: st.DataObject) -> None:
    """Intervals without an end: the same as the slow twin, and never less than it holds."""
    n = len(ends[0])
    open_below = data.draw(st.sets(st.integers(0, n - 1)))
    open_above = data.draw(st.sets(st.integers(0, n - 1)))
    lower = [-math.inf if i in open_below else a for i, a in enumerate(ends[0])]
    upper = [math.inf if i in open_above else b for i, b in enumerate(ends[1])]
    low, high = exact_range((lower, upper), factor)
    room = 9 * slack(ends)
    median = exact.median_interval(lower, upper, None)[:2]
    if all(map(math.isfinite, median)):
        assert low == pytest.approx(exact.lower_end(lower, upper, factor), rel=1e-9, abs=room)
        assert high <= algorithm1(lower, upper, factor, range(n)).threshold[1] + room
    else:
        assert (low, high) == (-math.inf, math.inf)
    # Any means inside, far away where there is no end.
    far = data.draw(st.sampled_from([1.0, 1e3, 1e6]))
    means = []
    for a, b in zip(lower, upper, strict=True):
        lowest = a if math.isfinite(a) else min(-far, b)
        highest = b if math.isfinite(b) else max(far, a)
        means.append(data.draw(st.sampled_from([lowest, highest, min(max(0.0, lowest), highest)])))
    theta = algorithm1(means, means, factor, range(n)).threshold[0]
    assert low - room - 1e-9 * far <= theta <= high + room + 1e-9 * far


@given(value_lists(min_size=1), st.data())
def test_replace_value(values: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    new = data.draw(st.sampled_from(values) | st.floats(-2, 2))
    kept = np.array(sorted(values))
    replace_value(kept, values[place], new)
    assert kept.tolist() == sorted([*values[:place], new, *values[place + 1 :]])
