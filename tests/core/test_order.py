from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.order import kth_largest
from tests.naive import order
from tests.strategies import value_lists

pytestmark = pytest.mark.kernel

wild = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1e300, -1e300, 5e-324])
guesses = st.one_of(wild, st.floats(-3, 3))


@given(value_lists(min_size=1, max_size=40), guesses, st.data())
def test_kth_largest(values: list[float], guess: float, data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, len(values)))
    if data.draw(st.booleans()):
        guess = data.draw(st.sampled_from(values))
    # Kernels get buffers that are longer than the values in them.
    buffer = np.array([*values, math.nan, 1e301])
    found = kth_largest(buffer, len(values), rank, guess, np.zeros(len(buffer)))
    assert found == order.kth_largest(values, rank)
    assert buffer[: len(values)].tolist() == values


@given(st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 1.0, math.inf]), min_size=1), guesses)
def test_kth_largest_of_arms_without_pulls(values: list[float], guess: float) -> None:
    work = np.zeros(len(values))
    for rank in range(1, len(values) + 1):
        found = kth_largest(np.array(values), len(values), rank, guess, work)
        assert found == order.kth_largest(values, rank)


@pytest.mark.parametrize("shape", ["rising", "falling", "v", "pipe", "equal", "two values"])
def test_kth_largest_of_ordered_values(shape: str) -> None:
    line = np.linspace(0, 1, 501)
    values = {
        "rising": line,
        "falling": line[::-1].copy(),
        "v": abs(line - 0.5),
        "pipe": -abs(line - 0.5),
        "equal": np.ones(501),
        "two values": np.arange(501) % 2.0,
    }[shape]
    for rank in (1, 2, 250, 251, 252, 500, 501):
        found = kth_largest(values, 501, rank, math.nan, np.zeros(501))
        assert found == order.kth_largest(values.tolist(), rank)
