from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.intervals.hoeffding import (
    hoeffding_radius,
    released_radius,
    zhuang_radius,
)
from tests.naive import radii

pytestmark = pytest.mark.kernel

PAIRS = [
    (hoeffding_radius, radii.paper),
    (released_radius, radii.released),
    (zhuang_radius, radii.zhuang),
]


@pytest.mark.parametrize(("kernel", "twin"), PAIRS)
@given(
    s=st.integers(1, 10**9),
    n=st.integers(3, 10**6),
    delta=st.floats(1e-9, 0.999),
    sigma=st.sampled_from([0.5, 1e-12, 1.0, 1e12]),
)
def test_radius(kernel, twin, s: int, n: int, delta: float, sigma: float) -> None:  # type: ignore[no-untyped-def]
    assert kernel(s, n, delta, sigma) == pytest.approx(twin(s, n, delta, sigma), rel=1e-12)


@pytest.mark.parametrize(("s", "radius"), [(100, 0.302), (1000, 0.107), (10000, 0.0371)])
def test_known_radii(s: int, radius: float) -> None:
    assert hoeffding_radius(s, 105, 0.05, 0.5) == pytest.approx(radius, rel=0.005)


@pytest.mark.parametrize(("kernel", "quantities"), [(hoeffding_radius, 1), (released_radius, 1)])
def test_the_union_over_pulls_stays_within_delta(kernel, quantities: int) -> None:  # type: ignore[no-untyped-def]
    """Hoeffding's 2 exp(-s beta^2 / (2 sigma^2)), summed over s, must not exceed delta / n."""
    n, delta, sigma = 17, 0.05, 3.0
    spent = 0.0
    for s in range(1, 3000):
        beta = kernel(s, n, delta, sigma)
        spent += 2 * 2.718281828459045 ** (-s * beta**2 / (2 * sigma**2))
    tail = delta / n / 3000  # sum of 1/s^2 beyond 3000 is below 1/3000
    assert spent + quantities * tail <= delta / n * (1 + 1e-3)
    assert spent >= 0.8 * delta / n
