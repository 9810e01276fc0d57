"""The exact range beside brute force over means inside small boxes, and in the run itself."""

from __future__ import annotations

import numpy as np
import pytest

from standout.core.methods import parse_method
from standout.core.problem import Problem, Side
from standout.core.run import Run
from tests.core.threshold.test_exact import Ends, exact_range
from tests.driving import Tape, spread_means
from tests.naive.exact import corners
from tests.naive.order import median
from tests.naive.threshold import algorithm1

pytestmark = pytest.mark.kernel

FACTORS = (0.4, 0.75, 1.0, 1.4826, 3.0, 4.4478)


def boxes(n: int, count: int) -> list[Ends]:
    """Ends that tie often (quarters) or never, from points to very wide."""
    rng = np.random.default_rng(n)
    found = []
    for i in range(count):
        if i % 2:
            lower = rng.integers(0, 8, n) / 4
            width = rng.integers(0, 6, n) / 4
        else:
            lower = rng.normal(0, 1, n)
            width = rng.exponential(1.0, n) * rng.choice([0.05, 0.5, 3.0], n)
        found.append((lower.tolist(), (lower + width).tolist()))
    return found


def theta_of(means: list[float], factor: float) -> float:
    return algorithm1(means, means, factor, range(len(means))).threshold[0]


@pytest.mark.parametrize("n", range(3, 10))
def test_the_lower_end_is_attained_by_means_inside(n: int) -> None:
    """Every mean at the point of its interval next to mu; some mu gives the lower end itself."""
    for i, ends in enumerate(boxes(n, 24)):
        factor = FACTORS[i % len(FACTORS)]
        left, right = median(ends[0]), median(ends[1])
        tried = [*corners(*ends, left, right), *np.linspace(left, right, 41).tolist()]
        thetas = []
        for mu in tried:
            means = [min(max(mu, a), b) for a, b in zip(*ends, strict=True)]
            assert median(means) == pytest.approx(mu)
            thetas.append(theta_of(means, factor))
        assert exact_range(ends, factor)[0] == pytest.approx(min(thetas), abs=1e-9)


@pytest.mark.parametrize("n", range(3, 10))
def test_no_means_inside_leave_the_range(n: int) -> None:
    """Uniform points, corners, and points on the ends of other intervals."""
    rng = np.random.default_rng(n + 100)
    for i, ends in enumerate(boxes(n, 24)):
        factor = FACTORS[i % len(FACTORS)]
        low, high = exact_range(ends, factor)
        lower, upper = np.array(ends[0]), np.array(ends[1])
        shares = rng.random((60, n))
        shares[:20] = rng.integers(0, 2, (20, n))
        points = lower + shares * (upper - lower)
        points[40:] = rng.choice(np.concatenate([lower, upper]), (20, n))
        for means in np.clip(points, lower, upper).tolist():
            assert low - 1e-9 <= theta_of(means, factor) <= high + 1e-9


@pytest.mark.parametrize("n", range(3, 10))
def test_never_wider_than_algorithm_1(n: int) -> None:
    for i, ends in enumerate(boxes(n, 60)):
        factor = FACTORS[i % len(FACTORS)]
        low, high = exact_range(ends, factor)
        paper_low, paper_high = algorithm1(*ends, factor, range(n)).threshold
        assert paper_low - 1e-9 <= low <= high + 1e-9 <= paper_high + 2e-9


@pytest.mark.parametrize("batch", [1, 9])
@pytest.mark.parametrize("side", Side)
def test_the_sorted_ends_stay_those_of_the_arms(side: Side, batch: int) -> None:
    """Whether single values are moved (few arms at a time) or all are sorted again."""
    n = 20
    method = parse_method(f"focus:batch={batch}")
    problem = Problem(noise="gaussian:0.05", k=2, delta=0.1, side=side)
    arms = [str(i) for i in range(n)]
    run = Run(problem, arms, method, np.random.default_rng(3))
    tape = Tape(spread_means(n), seed=2)
    for _ in range(120):
        chosen = run.choose()
        if not chosen:
            break
        for arm, amount in chosen:
            for _ in range(amount):
                run.tell(arm, tape.next(int(arm)))
        run.update()
        for row in range(len(run.state.signs)):
            state = run.state
            assert state.sorted_lower[row].tolist() == sorted(state.lower[row].tolist())
            assert state.sorted_upper[row].tolist() == sorted(state.upper[row].tolist())
    assert run.pulls > 100
