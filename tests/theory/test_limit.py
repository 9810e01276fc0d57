from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from standout.core import robust
from standout.core.problem import Problem, Side
from standout.errors import ProblemError
from standout.theory import Limit, evidence, information_limit
from standout.theory.divergences import divergence_of
from standout.theory.matrix_game import solve_game
from tests.naive import limit as naive

GAUSSIAN = Problem(noise="gaussian:0.7", k=2)
CASES = {
    "three": ([0.0, 0.3, 5.0], GAUSSIAN, None),
    "three, none out": ([0.0, 1.0, 2.5], GAUSSIAN, None),
    "four": ([0.0, 1.0, 1.4, 9.0], GAUSSIAN, None),
    "five": ([0.0, 0.5, 1.1, 1.4, 6.0], GAUSSIAN, None),
    "F below 1": ([0.0, 0.5, 1.1, 6.0], Problem(noise="gaussian:1", k=1, mad_scale=0.6), None),
    "F = 1": ([0.0, 0.5, 1.1, 1.6, 6.0], Problem(noise="gaussian:1", k=1, mad_scale=1), None),
    "two of three tied": ([0.0, 0.0, 5.0], GAUSSIAN, None),
    "rates": ([0.05, 0.1, 0.12, 0.2, 0.7], Problem(noise="bernoulli", k=2), None),
    "rates 0 and 1": ([0.0, 0.3, 0.4, 1.0], Problem(noise="bernoulli", k=1), None),
    "scales unknown": ([0.0, 0.5, 1.1, 6.0], Problem(noise="gaussian", k=2), [0.5, 1.0, 2.0, 0.8]),
    "scales below the known": ([0.0, 0.5, 1.1, 6.0], GAUSSIAN, [0.1, 0.7, 0.3, 0.2]),
}  # fmt: skip


@cache
def limit_of(case: str) -> Limit:
    means, problem, sigmas = CASES[case]
    return information_limit(means, problem, sigmas, accuracy=0.02 if case == "three" else 0.1)


def agree(one: Limit, other: Limit, times: float = 1.0) -> bool:
    """Whether the same number may lie between the bounds of both."""
    return one.lower * times < other.upper and other.lower < one.upper * times


def kl(problem: Problem, mean: float, there: np.ndarray, sigma: float | None) -> np.ndarray:
    """The divergence again, from its definition."""
    if problem.noise.name == "bernoulli":
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(mean > 0, mean * np.log(mean / there), 0.0)
            down = np.where(mean < 1, (1 - mean) * np.log((1 - mean) / (1 - there)), 0.0)
            return np.where((there < 0) | (there > 1), math.inf, up + down)
    own = problem.noise.sigma if sigma is None else sigma
    known = [problem.noise.sigma]
    scales = np.concatenate([[own], np.geomspace(own, 1e3, 4000), known])
    scales = scales[scales <= problem.noise.sigma * (1 + 1e-12)]
    best = np.full(np.shape(there), math.inf)
    for s in scales if len(scales) > 1 else [own]:
        value = math.log(s / own) + (own**2 + (mean - there) ** 2) / (2 * s**2) - 0.5
        best = np.minimum(best, value)
    return best


def inner(case: str, limit: Limit) -> float:
    means, problem, sigmas = CASES[case]
    divergence = divergence_of(np.array(means), problem.noise, sigmas and np.array(sigmas))

    def cost(arm: int, there: np.ndarray) -> np.ndarray:
        return limit.shares[arm] * divergence.cost(there[..., None])[..., arm]

    wide = (0.0, 1.0, 0.0, 1.0)
    if problem.noise.name == "gaussian":
        wide = (min(means) - 2, max(means) + 2, 0.0, 2 * float(np.ptp(means)))
    return naive.cheapest(means, problem.factor, cost, wide)


@pytest.mark.parametrize("case", CASES)
def test_limit_is_between_its_bounds(case: str) -> None:
    problem = CASES[case][1]
    limit = limit_of(case)
    assert limit.lower < limit.upper <= 1.101 * limit.lower
    assert limit.shares.sum() == pytest.approx(1)
    # What the shares guarantee, by brute force: at least what was proved, at most the game's value.
    nats = evidence(problem.delta)
    found = inner(case, limit)
    assert nats / limit.upper <= found * (1 + 1e-9)
    assert found <= nats / limit.lower * (1 + 1e-3)


@pytest.mark.parametrize("case", CASES)
def test_no_other_answer_costs_less_than_was_proved(case: str) -> None:
    means, problem, sigmas = CASES[case]
    limit = limit_of(case)
    rng = np.random.default_rng(1)
    truth = robust.outliers(means, problem.factor)
    divergence = divergence_of(np.array(means), problem.noise, sigmas and np.array(sigmas))
    low, high = problem.noise.support
    worst, tried = math.inf, 0
    for scale in np.geomspace(0.003, 1, 700):
        other = np.array(means) + scale * float(np.ptp(means)) * rng.standard_normal(len(means))
        other = np.clip(other, low, high)
        if not np.array_equal(robust.outliers(other, problem.factor), truth):
            tried += 1
            worst = min(worst, float(divergence.cost(other) @ limit.shares))
    assert tried > 50
    assert worst >= evidence(problem.delta) / limit.upper


@pytest.mark.parametrize("case", ["scales unknown", "scales below the known", "rates", "five"])
def test_divergence_is_the_smallest_over_the_scales(case: str) -> None:
    means, problem, sigmas = CASES[case]
    divergence = divergence_of(np.array(means), problem.noise, sigmas and np.array(sigmas))
    there = np.linspace(0.01, 0.99, 7)
    for arm, mean in enumerate(means):
        plain = kl(problem, mean, there, sigmas and sigmas[arm])
        assert divergence.cost(there[:, None])[:, arm] == pytest.approx(plain, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_lines_lie_below_the_costs(case: str) -> None:
    means, problem, sigmas = CASES[case]
    divergence = divergence_of(np.array(means), problem.noise, sigmas and np.array(sigmas))
    rng = np.random.default_rng(2)
    least, most = (-3.0, 12.0) if problem.noise.name == "gaussian" else (-0.2, 1.2)
    for _ in range(60):
        low, high = np.sort(rng.uniform(least, most, 2))
        points = np.linspace(low, high, 23)[:, None]
        cost = divergence.cost(points)
        for line, needed in (
            (divergence.rise, np.where(points > divergence.means, cost, 0.0)),
            (divergence.fall, np.where(points < divergence.means, cost, 0.0)),
        ):
            value, slope = line(np.array([[low]]), np.array([[high]]))
            below = value + slope * (points - (low + high) / 2)
            assert (below <= needed * (1 + 1e-9) + 1e-9).all()


def test_unit_and_origin_do_not_matter() -> None:
    means = np.array(CASES["four"][0])
    moved = Problem(noise="gaussian:0.7e-9", k=2)
    assert agree(limit_of("four"), information_limit(means * 1e-9 + 7.0, moved, accuracy=0.1))


def test_sigma_only_scales_the_limit() -> None:
    means = np.array(CASES["four"][0]) * 1e50
    wide = information_limit(means, Problem(noise="gaussian:7e50", k=2), accuracy=0.1)
    assert agree(limit_of("four"), wide, times=100)


def test_low_outliers_are_the_mirror_image() -> None:
    means, rates = np.array(CASES["four"][0]), np.array(CASES["rates"][0])
    low = information_limit(-means, Problem(noise="gaussian:0.7", k=2, side="low"), accuracy=0.1)
    assert agree(limit_of("four"), low)
    low = information_limit(1 - rates, Problem(noise="bernoulli", k=2, side="low"), accuracy=0.1)
    assert agree(limit_of("rates"), low)


def test_both_sides_need_at_least_as_much_as_one() -> None:
    means = [-6.0, 0.0, 0.5, 6.0]
    limits = {
        side: information_limit(means, Problem(noise="gaussian:0.7", k=2, side=side), accuracy=0.3)
        for side in Side
    }
    assert limits[Side.BOTH].accuracy == pytest.approx(0.3)
    for side in (Side.HIGH, Side.LOW):
        assert limits[Side.BOTH].upper >= limits[side].lower


def test_limit_grows_as_delta_falls() -> None:
    limit = limit_of("four")
    limits = [limit.at(delta).lower for delta in (0.5, 0.4, 0.05, 1e-3, 1e-10, 1e-100)]
    assert limits == sorted(limits)
    assert limits[0] == 0
    assert limits[2] == pytest.approx(limit.lower)
    guess = information_limit(CASES["four"][0], Problem(noise="gaussian:0.7", k=2, delta=0.6))
    assert guess.lower == guess.upper == 0
    asked = Problem(noise="gaussian:0.7", k=2, delta=1e-10)
    assert agree(limit.at(1e-10), information_limit(CASES["four"][0], asked, accuracy=0.2))


@pytest.mark.parametrize(
    "means",
    [
        [0.0, 1.0, 2.0, 3.0, 4.0],  # 4 = 2 + 2 * 1
        [1.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 9.0],  # MAD 0: one of the four can leave the others
    ],
)
def test_limit_is_infinite_on_the_threshold(means: list[float]) -> None:
    limit = information_limit(means, Problem(noise="gaussian:1", k=2, mad_scale=1))
    assert math.isinf(limit.lower)
    assert limit.accuracy == 0
    with pytest.raises(ValueError, match="says nothing"):
        limit.at(0.01)


def test_a_mean_near_the_threshold_has_a_large_limit() -> None:
    limit = information_limit(
        [0.0, 1.0, 2.0, 3.0, 4.0001], Problem(noise="gaussian:1", k=2, mad_scale=1), accuracy=0.2
    )
    assert 1e8 < limit.lower < limit.upper < 1e12


@pytest.mark.parametrize(
    ("noise", "tolerance", "words"),
    [
        ("bounded:0,10", 0.0, "bounded noise"),
        ("heavy:1", 0.0, "heavy noise"),
        ("gaussian", 0.0, "column sigma"),
        ("gaussian:1", 0.1, "tolerance"),
    ],
)
def test_what_has_no_limit_is_refused(noise: str, tolerance: float, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        information_limit([0.0, 1.0, 2.0, 9.0], Problem(noise=noise, tolerance=tolerance))


def test_too_few_arms() -> None:
    with pytest.raises(ProblemError, match="at least 3 arms"):
        information_limit([0.0, 1.0], GAUSSIAN)


def test_too_many_arms() -> None:
    means = np.random.default_rng(0).normal(size=2000)
    with pytest.raises(ProblemError, match="at most 300 arms"):
        information_limit(means, GAUSSIAN)


def test_tied_arms_that_can_never_stand_out_leave_the_limit_finite() -> None:
    # Of three tied arms below two others one is the median, whatever they do: none is above it.
    limit = information_limit([0.0, 0.0, 0.0, 5.0, 9.0], GAUSSIAN, accuracy=0.1)
    assert 1 < limit.lower < limit.upper < 100


@pytest.mark.parametrize(
    ("means", "noise", "sigmas", "words"),
    [
        ([0.0, math.nan, 1.0], "gaussian:1", None, "cannot have mean nan"),
        ([0.0, 0.5, 1.5], "bernoulli", None, "cannot have mean 1.5"),
        ([0.0, 0.5, 1.5], "gaussian:1", [1.0, 1.0], "as many sigmas"),
        ([0.0, 0.5, 1.5], "gaussian:1", [1.0, 1.0, 2.0], "sigma 2 cannot be"),
        ([0.0, 1e90, 2e90], "gaussian:1e-9", None, "too far apart"),
    ],
)
def test_numbers_without_a_meaning_are_refused(
    means: list[float], noise: str, sigmas: list[float] | None, words: str
) -> None:
    with pytest.raises(ProblemError, match=words):
        information_limit(means, Problem(noise=noise), sigmas)


def test_game_against_a_linear_program() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    for rows, columns in ((1, 3), (3, 3), (40, 17), (9, 30)):
        payoffs = rng.exponential(size=(rows, columns)) ** 3
        payoffs[rng.random(payoffs.shape) < 0.3] = 0.0
        found = solve_game(payoffs)
        best = linprog(
            np.r_[np.zeros(columns), -1.0],
            A_ub=np.c_[-payoffs, np.ones(rows)],
            b_ub=np.zeros(rows),
            A_eq=[np.r_[np.ones(columns), 0.0]],
            b_eq=[1.0],
            bounds=[(0, None)] * columns + [(None, None)],
        )
        assert found.floor <= -best.fun + 1e-9
        assert found.ceiling >= -best.fun - 1e-9
        assert found.ceiling - found.floor <= 2e-6 * max(found.ceiling, 1e-6)
