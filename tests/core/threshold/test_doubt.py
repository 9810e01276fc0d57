"""Which arms are in doubt, against its slow twin, and what must not disturb it."""

from __future__ import annotations

import numpy as np
import pytest

from standout import Problem
from standout.core import engine
from standout.core.intervals import reward_variance
from standout.core.methods import parse_method
from standout.core.prior import PriorFacts
from standout.core.rules.focus_anytime import FEWEST, GOLDEN
from standout.core.run import Run, start_state
from standout.core.state import (
    GUESS_AD,
    GUESSED,
    MEDIAN,
    PULLING,
    RULED,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
)
from standout.core.threshold.doubt import (
    CAUTION,
    DOUBT,
    GUESS_CAUTION,
    THETA,
    guess_chances,
    own_part,
    pulls_to_see,
    rule_chances,
)
from tests.naive import doubt as naive

METHOD = parse_method("focus:goal=anytime")


def told(noise: str, n: int, most: int, seed: int, side: str = "high"):  # type: ignore[no-untyped-def]
    """Spec and state after 3 to `most` rewards of each arm, a few arms apart from the others."""
    problem = Problem(noise=noise, k=2, side=side)
    rng = np.random.default_rng(seed)
    spec, state = METHOD.spec(problem, n), start_state(problem, METHOD, n, rng)
    means = np.clip(rng.normal(0.4, 0.08, n), 0.05, 0.95)
    means[:2] = (0.85, 0.08)
    for arm in range(n):
        for _ in range(int(rng.integers(3, most + 1))):
            reward = rng.normal(means[arm], 0.2)
            if noise == "bernoulli":
                reward = float(rng.random() < means[arm])
            elif noise.startswith("bounded"):
                reward = min(max(reward, 0.0), 1.0)
            engine.observe(spec, state, arm, reward)
    engine.end_round(spec, state)
    return spec, state


@pytest.mark.parametrize("noise", ["bernoulli", "gaussian:0.2", "gaussian", "bounded:0,1"])
@pytest.mark.parametrize(("side", "most"), [("high", 8), ("both", 60)])
def test_chances_are_those_of_the_slow_twin(noise: str, side: str, most: int) -> None:
    n = 12
    spec, state = told(noise, n, most, 3, side)
    state.verdict[:] = 0
    before = state.learnt.copy(), state.chance.copy()
    engine.best_guess(spec, state, np.zeros(n, dtype=np.bool_))
    np.testing.assert_array_equal(state.learnt, before[0])
    np.testing.assert_array_equal(state.chance, before[1])
    guess_chances(spec, state)
    expected = np.zeros(n)
    for s in range(len(state.signs)):
        arms = [
            naive.Arm(
                int(state.pulls[i]),
                float(state.estimate[s, i]),
                float(reward_variance(spec, state, i)),
            )
            for i in range(n)
        ]
        bounds = state.bounds[s]
        bell = naive.bell(
            arms,
            bounds[MEDIAN],
            state.guesses[s, GUESS_AD],
            state.factors[s],
            (bounds[THRESHOLD_LOWER], bounds[THRESHOLD_UPPER]),
            GUESS_CAUTION,
        )
        assert state.learnt[2 * s + 1, THETA] == pytest.approx(bell.theta, abs=1e-9)
        expected += [naive.chance(arm, bell) for arm in arms]
    np.testing.assert_allclose(state.chance[GUESSED], np.minimum(expected, 1.0), atol=1e-7)


@pytest.mark.parametrize("noise", ["bernoulli", "gaussian:0.2"])
@pytest.mark.parametrize("most", [8, 200])
def test_what_moves_theta_is_what_the_slow_twin_says(noise: str, most: int) -> None:
    spec, state = told(noise, 12, most, 5)
    rule_chances(spec, state)
    arms = [
        naive.Arm(
            int(state.pulls[i]),
            float(state.estimate[0, i]),
            float(reward_variance(spec, state, i)),
        )
        for i in range(12)
    ]
    bounds, mad, factor = state.bounds[0], state.guesses[0, GUESS_AD], state.factors[0]
    bell = naive.bell(arms, bounds[MEDIAN], mad, factor, (-np.inf, np.inf), 0.0)
    theta, doubt, moves = naive.refined(arms, bell, mad, factor)
    theta += CAUTION * bell.doubt**0.5
    theta = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])
    assert state.learnt[0, THETA] == pytest.approx(theta, abs=1e-9)
    assert state.learnt[0, DOUBT] == pytest.approx(doubt, rel=1e-6)
    np.testing.assert_allclose(state.chance[PULLING], moves, rtol=1e-6, atol=1e-12)


def test_pulls_also_go_to_the_arms_that_make_theta() -> None:
    """Arms that may be the median, or one MAD from it, get more than those elsewhere.

    The noise is small beside the gaps. An arm far from all three places gets its even share.
    """
    means = [-3.0, -1.5, 0.0, 1.5, 3.0, 6.0, 9.0, 7.8, -6.0, -9.0, 20.0]
    run = Run(Problem(noise="gaussian:2", k=2, mad_scale=1.0), [str(m) for m in means],
              "focus:goal=anytime", np.random.default_rng(0), budget=3_000)  # fmt: skip
    rewards = np.random.default_rng(1)
    while (arm := run.ask()) is not None:
        run.tell(arm, rewards.normal(float(arm), 2.0))
    pulls = dict(zip(means, run.state.pulls.tolist(), strict=True))
    assert pulls[1.5] + pulls[6.0] + pulls[-3.0] > 3 * 1.2 * pulls[20.0]


@pytest.mark.parametrize("noise", ["gaussian:0.2", "gaussian"])
def test_a_guess_leaves_the_rule_alone(noise: str) -> None:
    """Looking between the pulls changes none of them."""
    asked = []
    for looks in (False, True):
        problem = Problem(noise=noise, k=2, side="both")
        rng, rewards = np.random.default_rng(1), np.random.default_rng(2)
        run = Run(problem, list("abcdefgh"), "focus:goal=anytime", rng, budget=400)
        arms = []
        while (arm := run.ask()) is not None:
            arms.append(arm)
            run.tell(arm, rewards.normal("abcdefgh".index(arm) // 7, 0.2))
            if looks:
                run.identification()
        asked.append(arms)
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("sigma", "value"), [(1e-3, 0.0), (1e-3, -9e8), (1e-90, 1e-85), (1e90, -1e95)]
)
def test_equal_arms_and_huge_numbers(sigma: float, value: float) -> None:
    """Nothing stands out where all are alike; nothing breaks."""
    run = Run(Problem(noise=f"gaussian:{sigma!r}"), list("abcde"), "focus:goal=anytime",
              np.random.default_rng(0), budget=100)  # fmt: skip
    while (arm := run.ask()) is not None:
        run.tell(arm, value)
    assert run.identification().best_guess == ()
    assert np.isfinite(run.state.chance).all()


def test_known_means_and_costs() -> None:
    """A known mean is never pulled, and beyond theta or not; dear arms are pulled less."""
    given = PriorFacts(known={"a": 9.0, "b": 0.0}, costs={"c": 20.0})
    run = Run(Problem(noise="gaussian:1", k=2), list("abcdefg"), "focus:goal=anytime",
              np.random.default_rng(0), budget=300, given=given)  # fmt: skip
    rewards = np.random.default_rng(1)
    while (arm := run.ask()) is not None:
        assert arm not in "ab"
        run.tell(arm, rewards.normal())
    assert run.identification().best_guess == ("a",)
    assert run.state.chance[RULED, 0] == pytest.approx(1.0)
    assert run.state.pulls[2] == run.state.pulls[2:].min()


def test_pulls_go_where_the_doubt_is() -> None:
    """One arm on theta, the others clear: it gets more than those that do not make theta either."""
    means = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.1, 3.0]
    run = Run(Problem(noise="gaussian:0.4", k=2, mad_scale=1.0), [str(m) for m in means],
              "focus:goal=anytime", np.random.default_rng(0), budget=600)  # fmt: skip
    rewards = np.random.default_rng(1)
    while (arm := run.ask()) is not None:
        run.tell(arm, rewards.normal(float(arm), 0.4))
    pulls = run.state.pulls
    assert pulls[9] > 1.2 * np.median(pulls)


def test_where_noise_is_large_some_arms_are_seen_well_and_all_are_in_the_end() -> None:
    """200 arms, 100 rewards to see the spread through the noise: even pulls go deep first."""
    n = 200
    means = np.random.default_rng(3).normal(0.0, 1.0, n)
    run = Run(Problem(noise="gaussian:10", k=3), [str(i) for i in range(n)], "focus:goal=anytime",
              np.random.default_rng(0), budget=16_000)  # fmt: skip
    rewards = np.random.default_rng(1)
    shares = []
    while (arm := run.ask()) is not None:
        run.tell(arm, rewards.normal(means[int(arm)], 10.0))
        if run.pulls in (4_000, 16_000):
            shares.append(np.median(run.state.pulls) / run.pulls * n)
    assert 30.0 < pulls_to_see(run.state) < 300.0
    # Half of the arms get far less than their part at first, and less so later on.
    assert shares[0] < 0.6
    assert shares[0] < shares[1]


def test_arms_that_cannot_be_pulled_do_not_end_a_run() -> None:
    """Those that are to be kept even are all known: others are pulled."""
    n = 200
    kept = [i for i in range(n) if i * GOLDEN % 1.0 <= 2 * FEWEST / n]
    run = Run(Problem(noise="gaussian:1", k=3), [str(i) for i in range(n)], "focus:goal=anytime",
              np.random.default_rng(0), budget=2 * n,
              given=PriorFacts(known={str(i): 0.01 * i for i in kept}))  # fmt: skip
    while (arm := run.ask()) is not None:
        run.tell(arm, 0.0)
    assert run.pulls == 2 * n


def test_an_unclear_theta_is_no_reason_to_pull_an_arm() -> None:
    """The part of the doubt that is the arm's own falls with its pulls, from 1 towards 0."""
    spec, state = told("gaussian:0.2", 12, 8, 3)
    guess_chances(spec, state)
    state.learnt[0] = state.learnt[1]
    parts = [own_part(state, pulls) for pulls in (0.0, 10.0, 1e3, 1e9)]
    assert parts[0] == 1.0
    assert parts[-1] < 1e-3
    assert parts == sorted(parts, reverse=True)
