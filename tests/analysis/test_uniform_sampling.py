"""The comparison with uniform sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from standout.analysis import uniform_sampling
from standout.analysis.uniform_sampling import uniform_pulls
from standout.core import engine, many_rewards
from standout.core.methods import as_method
from standout.core.problem import Problem
from standout.simulation import simulate
from standout.simulation.instances.base import FixedFamily, make_instance


def log_of(means: np.ndarray, each: int, seed: int = 0) -> tuple[Any, Any]:
    """Gaussian rewards whose averages are exactly `means`."""
    rng = np.random.default_rng(seed)
    rewards = rng.normal(size=(len(means), each))
    rewards -= rewards.mean(axis=1, keepdims=True)
    rewards /= rewards.std(axis=1, keepdims=True)
    return np.repeat(np.arange(len(means)), each), (rewards + means[:, None]).ravel()


PROBLEM = Problem(noise="gaussian:1", k=3)  # type: ignore[arg-type]
MEANS = np.array([0.0, 0.3, -0.4, 0.6, -0.7, 0.1, -0.2, 0.5, -0.5, 9.0])


def test_it_agrees_with_the_simulator() -> None:
    """The simulator pulls one arm at random at a time; the same up to looking less often."""
    arm, reward = log_of(MEANS, 400)
    found = uniform_pulls(PROBLEM, as_method("focus"), arm, reward, 10, 0)
    assert found is not None
    family = FixedFamily(make_instance("same", MEANS, PROBLEM.noise))
    random = simulate(
        family, "random:interval=auto,range=exact,batch=20", PROBLEM, runs=20, seed=1
    ).results[0]
    assert found.pulls == pytest.approx(np.median(random.pulls), rel=0.25)
    assert found.low <= found.pulls <= found.high
    assert (found.runs, found.is_capped) == (uniform_sampling.MOST_RUNS, False)


def test_the_same_seed_gives_the_same_number() -> None:
    arm, reward = log_of(MEANS, 50)
    first, again, other = (
        uniform_pulls(PROBLEM, as_method("focus"), arm, reward, 10, 0, seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_leaving_arms_undecided_takes_fewer_pulls() -> None:
    arm, reward = log_of(MEANS, 400)
    numbers = [
        uniform_pulls(PROBLEM, as_method("focus"), arm, reward, 10, left) for left in (0, 4, 9)
    ]
    pulls = [found.pulls for found in numbers if found is not None]
    assert pulls == sorted(pulls, reverse=True)
    assert len(set(pulls)) == 3


def test_nothing_decided_is_nothing_to_compare() -> None:
    arm, reward = log_of(MEANS, 5)
    assert uniform_pulls(PROBLEM, as_method("focus"), arm, reward, 10, 10) is None
    assert uniform_pulls(PROBLEM, as_method("focus"), arm, reward, 11, 0) is None


@pytest.mark.parametrize("n_arms", [5, 3000])
def test_an_arm_on_the_threshold_costs_no_more_than_is_allowed(
    n_arms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With half of the arms alike the MAD is 0: no number of pulls ever suffices."""
    pulls, intervals = [], []

    def observe_many(spec: Any, state: Any, arms: Any, rewards: Any) -> None:
        pulls.append(len(arms))
        many_rewards.observe_many(spec, state, arms, rewards)

    def end_round(spec: Any, state: Any) -> None:
        intervals.append(n_arms)
        engine.end_round(spec, state)

    monkeypatch.setattr(uniform_sampling, "observe_many", observe_many)
    monkeypatch.setattr(uniform_sampling, "end_round", end_round)
    means = np.zeros(n_arms)
    means[-1] = 5.0
    arm, reward = log_of(means, 10)
    found = uniform_pulls(PROBLEM, as_method("focus"), arm, reward, n_arms, 0)
    # The first run is played to its end, which each of the two bounds.
    assert n_arms <= sum(pulls) <= uniform_sampling.MOST_PULLS
    assert n_arms <= sum(intervals) <= uniform_sampling.MOST_INTERVALS + n_arms
    assert found is not None
    assert found.is_capped
    assert found.pulls <= uniform_sampling.MOST_PULLS
    assert found.pulls == found.low == found.high


@pytest.mark.parametrize(
    ("noise", "method"),
    [
        ("bernoulli", "focus"),
        ("bernoulli", "rr"),
        ("bounded:-10,20", "focus"),
        ("heavy:1", "focus"),
        ("gaussian", "focus"),
        ("gaussian:1", "roai-lucb:lambda=2,epsilon=0.1"),
    ],
)
def test_every_family_can_be_played(noise: str, method: str) -> None:
    arm, reward = log_of(MEANS, 60)
    if noise == "bernoulli":
        reward = (reward > 4).astype(float)
    problem = Problem(noise=noise, k=3, side="both", tolerance=0.1)  # type: ignore[arg-type]
    found = uniform_pulls(problem, as_method(method), arm, reward, 10, 8)
    assert found is not None
    assert found.pulls > 0
