"""Loops over many rewards, against the same worked out anew for each moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from standout import Problem
from standout.core.intervals import MOMENTS
from standout.core.many_rewards import interval_path
from standout.core.methods import parse_method
from standout.core.state import Spec, new_state
from tests.naive import anytime, radii
from tests.naive.interval_path import interval_path as naive_path

N_ARMS, DELTA, SIGMA = 4, 0.05, 0.5
Radius = Callable[[Sequence[float]], float]


def _paper(spec: Spec) -> Radius:
    return lambda seen: radii.paper(len(seen), N_ARMS, DELTA, SIGMA)


def _mixture(spec: Spec) -> Radius:
    return lambda seen: anytime.mixture_radius(len(seen), DELTA / N_ARMS, SIGMA, spec.rho)


def _bernstein(spec: Spec) -> Radius:
    return lambda seen: anytime.bernstein_radius(list(seen), DELTA / N_ARMS)


CASES = {
    "roai-lucb": ("gaussian:0.5", _paper),
    "focus:scales=1": ("gaussian:0.5", _mixture),
    "focus:interval=bernstein": ("bounded:0,1", _bernstein),
}


@pytest.mark.kernel
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("is_jumping", [False, True])
def test_the_interval_of_an_arm_over_its_pulls(name: str, is_jumping: bool) -> None:
    """Also where the rewards jump so far that a later interval contradicts those before."""
    noise, make_radius = CASES[name]
    problem, method = Problem(noise=noise, delta=DELTA), parse_method(name)
    spec = method.spec(problem, N_ARMS)
    rng = np.random.default_rng(5)
    rewards = rng.random(300)
    if is_jumping:
        rewards[:60] = 0.0
        rewards[60:] = 1.0
    at = np.array([1, 2, 3, 10, 11, 60, 61, 200, 300])
    support = problem.noise.support if method.refines else (-np.inf, np.inf)
    state = new_state(
        1,
        signs=(1.0,),
        factors=(problem.factor,),
        n_moments=MOMENTS.get(method.interval_for(problem), 0),
        support=support,
    )
    lower, upper = np.zeros(len(at)), np.zeros(len(at))
    interval_path(spec, state, rewards, at, lower, upper)
    expected = naive_path(
        rewards.tolist(), at.tolist(), make_radius(spec), is_cut=name != "roai-lucb",
        support=support,
    )  # fmt: skip
    assert np.column_stack([lower, upper]) == pytest.approx(np.array(expected), rel=1e-9)
