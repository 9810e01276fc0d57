"""Numbers far from 1: what can be represented is right, what cannot is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import Problem, ProblemError, RewardError, identify
from standout.core import engine
from standout.core.intervals import arm_interval, heavy
from standout.core.intervals.bernoulli import bernoulli_interval, log_ratio
from standout.core.intervals.bernstein import bernstein_radius
from standout.core.methods import parse_method
from standout.core.noise import Bounded, Gaussian, HeavyTailed, parse_noise
from standout.core.run import Run, start_state

kernel = pytest.mark.kernel


def intervals(noise: str, shift: float, scale: float) -> tuple[float, float, float]:
    """The ends after 400 rewards and their mean, moved back: (end - shift) / scale."""
    problem = Problem(noise=noise, k=2)  # type: ignore[arg-type]
    method = parse_method("focus")
    spec = method.spec(problem, 5)
    state = start_state(problem, method, 5, np.random.default_rng(0))
    rng = np.random.default_rng(3)
    rewards = shift + scale * np.round(rng.uniform(0.2, 0.8, 400), 3)
    for reward in rewards:
        engine.observe(spec, state, 0, float(reward))
    lower, upper = arm_interval(spec, state, 0)
    return tuple((x - shift) / scale for x in (lower, float(np.mean(rewards)), upper))


@kernel
@pytest.mark.parametrize("shift", [0.0, 1e4, -1e8, 1e9])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("family", ["gaussian", "gaussian:S", "heavy:S", "bounded:A,B"])
def test_intervals_move_with_the_rewards(family: str, shift: float, scale: float) -> None:
    """Shift and scale of the rewards change the interval by nothing else."""
    if abs(shift) > 1e9 * scale:
        pytest.skip("the rewards themselves have too few digits")
    noise = family.replace("S", repr(scale)).replace("A,B", f"{shift!r},{shift + scale!r}")
    plain = family.replace("S", "1").replace("A,B", "0,1")
    digits = 2e-16 * (abs(shift) / scale + 1) * 400
    assert intervals(noise, shift, scale) == pytest.approx(
        intervals(plain, 0.0, 1.0), rel=1e-9, abs=digits
    )


@kernel
def test_a_long_sum_of_large_rewards_keeps_its_digits() -> None:
    """A million rewards of 1e12 +- 1: a plain sum would be off by far more than the interval."""
    problem = Problem(noise=Gaussian(1.0), k=2)
    method = parse_method("focus")
    spec = method.spec(problem, 3)
    state = start_state(problem, method, 3, np.random.default_rng(0))
    for _ in range(20_000):
        engine.observe(spec, state, 0, 1e12 + 1.0)
        engine.observe(spec, state, 0, 1e12 - 1.0)
    assert state.origin[0] + state.sums[0] / state.pulls[0] == 1e12
    lower, upper = arm_interval(spec, state, 0)
    assert lower < 1e12 < upper
    assert upper - lower < 0.1


@kernel
@pytest.mark.parametrize("variation", [math.inf, math.nan])
def test_a_variance_that_is_no_number_has_no_radius(variation: float) -> None:
    assert bernstein_radius(10, variation, 0.01) == math.inf


@kernel
@pytest.mark.parametrize("pulls", [10**10, 10**12, 10**15])
@pytest.mark.parametrize("share", [1e-9, 0.003, 0.5, 0.97])
def test_beta_binomial_with_very_many_pulls(pulls: int, share: float) -> None:
    """As a normal mixture of the same precision, which it tends to."""
    successes = float(round(share * pulls))
    alpha, rho = 0.01, 500.0
    lower, upper = bernoulli_interval(pulls, successes, alpha, rho, 1)
    assert 0.0 <= lower < successes / pulls < upper <= 1.0
    if successes > 1e6:
        limit = math.log1p(pulls / rho) + 2.0 * math.log(1.0 / alpha)
        radius = math.sqrt(share * (1 - share) * limit / pulls)
        assert (upper - lower) / 2 == pytest.approx(radius, rel=0.01)


@kernel
@pytest.mark.parametrize("q", [0.001, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("successes", [0.0, 3.0, 1e4, 9e8])
def test_both_forms_of_the_beta_binomial_ratio_agree(successes: float, q: float) -> None:
    """Just above and just below the number of pulls at which one takes over from the other.

    One more failure multiplies the ratio by (rho (1 - q) + f) / ((rho + n) (1 - q)).
    """
    failures, rho = 1e9 - successes, 100.0
    below = log_ratio(successes, failures, q, rho)
    above = log_ratio(successes, failures + 1.0, q, rho)
    step = math.log((rho * (1.0 - q) + failures) / (rho + 1e9)) - math.log1p(-q)
    assert above - below == pytest.approx(step, abs=1e-4)


@kernel
def test_a_huge_reward_is_no_more_than_a_large_one_to_the_heavy_interval() -> None:
    moments = np.zeros((1, heavy.SIZE))
    heavy.heavy_step(moments, 0, 1, 0.0, 1e100, 1e-3, 1e-100)
    assert np.isfinite(moments).all()
    x = 1e100 * heavy.grid_strength(0, 1e-3, 1e-100)
    assert moments[0, 0] == pytest.approx(2 * math.log(x) - math.log(2))


@kernel
def test_an_empty_heavy_interval_says_that_nothing_is_known() -> None:
    """Rewards that contradict each other: no mean is left, so that any is possible."""
    moments = np.zeros((1, heavy.SIZE))
    moments[0, 0], moments[0, 5] = 1e6, -1e6
    assert heavy.heavy_interval(1000, 0.0, moments, 0, 0.01, 1.0) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("gaussian:1e-200", "sigma must lie between 1e-100 and 1e\\+100"),
        ("heavy:1e-200", "sigma must lie between"),
        ("heavy:1e200", "sigma must lie between"),
        ("gaussian:1e308", "choose another unit"),
        ("bounded:0,1e-200", "choose another unit"),
        ("bounded:-1e200,1e200", "choose another unit"),
        ("bounded:1e12,1000000000001", "too few numbers"),
        ("bounded:-1000000000000,-999999999999", "too few numbers"),
    ],
)
def test_noise_that_cannot_be_represented(noise: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        parse_noise(noise)


@pytest.mark.parametrize(
    "reward",
    [1e101, -1e308, 1.1e12, -2e12, 10**400],
)
@pytest.mark.parametrize("noise", [Gaussian(1.0), HeavyTailed(1.0)])
def test_rewards_that_cannot_be_represented(noise: Gaussian | HeavyTailed, reward: float) -> None:
    with pytest.raises(RewardError):
        noise.check_reward(reward)


def test_rewards_without_a_known_scale_have_a_limit_too() -> None:
    noise = parse_noise("gaussian")
    assert noise.check_reward(-1e99) == -1e99
    with pytest.raises(RewardError, match="too large"):
        noise.check_reward(1e308)
    assert Bounded(0.0, 1e99).check_reward(1e99) == 1e99


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 1e308}, "k times mad_scale must lie between"),
        ({"mad_scale": 1e-300}, "k times mad_scale"),
        ({"side": "both", "k_low": 1e9}, "k times mad_scale"),
        ({"delta": 1e-308}, "delta must be at least 1e-100"),
        ({"delta": 5e-324}, "delta must be at least"),
        ({"tolerance": 1e300}, "tolerance must be at most"),
        ({"k": 10**400}, "k must be a number"),
    ],
)
def test_problems_that_cannot_be_represented(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem(noise="bernoulli", **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"a": (10**16, 3.0)}, "whole number of at most"),
        ({"a": (5, 2.5)}, "number of ones"),
        ({"a": (0, 1.0)}, "no earlier rewards, but a sum"),
        ({"a": (math.inf, 1.0)}, "whole number"),
    ],
)
def test_priors_that_cannot_be(prior: dict[str, tuple[int, float]], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        identify(lambda arm: 0.0, list("abc"), Problem(noise="bernoulli"), prior=prior)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-90, 1e90])
@pytest.mark.parametrize("noise", ["gaussian:{}", "gaussian", "heavy:{}", "bounded:0,{}"])
def test_runs_in_any_unit(noise: str, scale: float) -> None:
    """The same rewards in other units are played and judged alike."""

    def run(unit: float) -> tuple[list[list[tuple[str, int]]], tuple[str, ...]]:
        problem = Problem(noise=noise.format(unit), k=2)  # type: ignore[arg-type]
        means = [0.1, 0.2, 0.3, 0.2, 0.95]
        game = Run(problem, list("abcde"), "focus", np.random.default_rng(1))
        rng = np.random.default_rng(2)
        plays = []
        for _ in range(60):
            chosen = game.choose()
            plays.append(chosen)
            for arm, amount in chosen:
                for _ in range(amount):
                    off = rng.uniform(-0.05, 0.05)
                    game.tell(arm, unit * (means["abcde".index(arm)] + off))
            game.update()
        return plays, game.identification().outliers

    # Rounding differs by unit, so that a tie may fall otherwise after many rounds.
    one, other = run(1.0), run(scale)
    assert one[0][:20] == other[0][:20]
    assert one[1] == other[1]
