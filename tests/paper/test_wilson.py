"""Wilson's interval of a share."""

from __future__ import annotations

import pytest

from standout.paper.estimate import wilson


@pytest.mark.parametrize(("hits", "runs"), [(0, 50), (1, 10), (25, 50), (468, 500), (7, 7)])
def test_its_ends_are_where_the_share_is_two_errors_away(hits: int, runs: int) -> None:
    """The slow twin: p with |share - p| = 1.96 sqrt(p (1 - p) / n), by halving."""
    share = hits / runs

    def solve(inside: float, outside: float) -> float:
        for _ in range(80):
            p = (inside + outside) / 2
            is_in = (share - p) ** 2 <= 1.96**2 * p * (1 - p) / runs
            inside, outside = (p, outside) if is_in else (inside, p)
        return inside

    low, high = wilson(share, runs)
    assert low == pytest.approx(solve(share, 0.0) if hits else 0.0, abs=1e-9)
    assert high == pytest.approx(solve(share, 1.0) if hits < runs else 1.0, abs=1e-9)
