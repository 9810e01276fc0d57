from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core import robust
from standout.core.problem import Side
from tests.naive import theory as naive

# Quarters give many ties and exact sums; the others give all the rest.
quarters = st.integers(-20, 20).map(lambda i: i / 4)
ordinary = st.floats(-1e6, 1e6, allow_subnormal=False)
values_lists = st.one_of(
    st.lists(quarters, min_size=1, max_size=12), st.lists(ordinary, min_size=1, max_size=12)
)
factors = st.sampled_from([1.0, 2.0, 3 * 1.4826])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (3, 2), (4, 2), (17, 9), (105, 53)])
def test_median_rank(n: int, m: int) -> None:
    assert robust.median_rank(n) == m


def test_an_even_number_of_values_is_not_averaged() -> None:
    assert robust.median([1.0, 2.0, 3.0, 10.0]) == 3.0


@given(values_lists)
def test_median_and_mad(values: list[float]) -> None:
    assert robust.median(values) == naive.median(values)
    assert robust.mad(values) == naive.mad(values)


def rounding(values: list[float], theta: float, factor: float) -> float:
    """Within this of theta a value counts as on it."""
    return 2.0**-50 * (abs(theta) + (1 + factor) * abs(naive.median(values)))


@given(values_lists, factors)
def test_high(values: list[float], factor: float) -> None:
    theta = naive.threshold(values, factor)
    assert robust.threshold(values, factor) == theta
    slip = rounding(values, theta, factor)
    assert robust.outliers(values, factor).tolist() == [y > theta + slip for y in values]
    gap = min(abs(y - theta) for y in values)
    assert robust.min_gap(values, factor) == (gap if gap > slip else 0)


@given(values_lists, factors)
def test_low(values: list[float], factor: float) -> None:
    theta = naive.threshold_low(values, factor)
    assert robust.threshold(values, factor, Side.LOW) == theta
    slip = rounding([-y for y in values], theta, factor)
    expected = [y < theta - slip for y in values]
    assert robust.outliers(values, factor, Side.LOW).tolist() == expected


@given(values_lists, factors)
def test_low_is_the_mirror_of_high(values: list[float], factor: float) -> None:
    mirrored = [-y for y in values]
    low = robust.threshold(values, factor, Side.LOW)
    assert low == -robust.threshold(mirrored, factor, Side.HIGH)
    same = robust.outliers(values, factor, Side.LOW) == robust.outliers(mirrored, factor)
    assert same.all()


@given(values_lists, factors, st.data())
def test_subset(values: list[float], factor: float, data: st.DataObject) -> None:
    places = st.lists(st.integers(0, len(values) - 1), min_size=1, unique=True)
    omega = data.draw(places)
    members = [values[i] for i in omega]
    theta = naive.threshold(members, factor)
    subset = np.array(omega)
    assert robust.threshold(values, factor, subset=subset) == theta
    mask = robust.outliers(values, factor, subset=subset)
    assert mask.tolist() == [y > theta + rounding(members, theta, factor) for y in values]


@given(values_lists)
def test_mean_std(values: list[float]) -> None:
    expected = naive.mean_std_threshold(values, 3)
    tolerance = 1e-9 * (1 + max(abs(y) for y in values))
    assert robust.mean_std_threshold(values, 3) == pytest.approx(expected, abs=tolerance)
    low = robust.mean_std_threshold(values, 3, Side.LOW)
    mirrored = robust.mean_std_threshold([-y for y in values], 3)
    assert low == pytest.approx(-mirrored, abs=tolerance)


def test_a_value_on_the_threshold_does_not_stand_out() -> None:
    values = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert robust.threshold(values, 2.0) == 4.0
    assert not robust.outliers(values, 2.0).any()


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], 3.0])
def test_only_flat_lists(values: object) -> None:
    with pytest.raises(ValueError, match="flat list"):
        robust.median(values)  # type: ignore[arg-type]


def test_the_callers_array_stays_as_it_is() -> None:
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    robust.threshold(values, 2.0, Side.LOW)
    assert values.tolist() == [5.0, 1.0, 4.0, 2.0, 3.0]
