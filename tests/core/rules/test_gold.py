"""GOLD: its groups and its rounds against a graph of all arms, kept by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standout import Problem
from standout.core.intervals.hoeffding import released_radius
from standout.core.methods import as_method
from standout.core.rules.gold import in_one_group
from standout.core.run import Run, start_state
from standout.core.threshold.gaps import STRETCH, part_arms
from standout.errors import MethodError
from tests.naive import gold as naive

DELTA, SIGMA = 0.1, 0.1
PROBLEM = Problem(noise=f"gaussian:{SIGMA}", k=3, delta=DELTA)
TWO_CROWDS = [*np.linspace(0, 1, 8), 2.5, *np.linspace(4, 5, 8), 7, 7.2]
"""One arm alone in between, and two far above."""


def play(means: list[float], label: str, seed: int = 0) -> tuple[Run, dict[int, int]]:
    """A run to its end, each step checked; the round in which each arm parted."""
    n = len(means)
    run = Run(PROBLEM, [str(i) for i in range(n)], label, np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1)
    method = as_method(label)
    assert method.rho is not None
    most = max(1, int((1 - method.rho) * n + 1e-9))
    rewards: list[list[float]] = [[] for _ in means]
    ends = [(-np.inf, np.inf)] * n
    parted: dict[int, int] = {}
    number = 0
    while chosen := run.choose():
        assert {int(arm) for arm, _ in chosen} == set(range(n)) - set(parted)
        for arm, amount in chosen:
            for _ in range(amount):
                rewards[int(arm)].append(rng.normal(means[int(arm)], SIGMA))
                run.tell(arm, rewards[int(arm)][-1])
        run.update()
        for arm, seen in enumerate(rewards):
            off = naive.stretch() * released_radius(len(seen), n, DELTA, SIGMA)
            lower, upper = ends[arm]
            mean = sum(seen) / len(seen)
            ends[arm] = max(lower, mean - off), min(upper, mean + off)
        small = [arm for group in naive.groups(ends) if len(group) <= most for arm in group]
        parted |= {arm: number for arm in small if arm not in parted}
        assert run.is_decided == (len(parted) >= most)
        number += 1
    assert {int(arm) for arm in run.identification().outliers} == set(parted)
    return run, parted


@pytest.mark.kernel
@pytest.mark.parametrize(
    "label", ["gold", "gold:rho=0.84", "gold:rho=0.84,batch=3", "gold:rho=0.6"]
)
def test_arms_part_as_in_the_graph(label: str) -> None:
    run, parted = play(TWO_CROWDS, label)
    # A tenth of 19 arms is one: the pair far above is too large a group for that.
    first = sorted(parted, key=lambda arm: parted[arm])
    assert first[0] == 8 if label == "gold" else set(first[:3]) == {8, 17, 18}
    assert run.identification().threshold.upper == np.inf


def test_outliers_are_high_low_and_in_between() -> None:
    means = [-3.0, *np.linspace(0, 1, 7), 2.5, *np.linspace(4, 5, 7), 8.0]
    run, _ = play(means, "gold:rho=0.82")
    assert run.identification().outliers == ("0", "8", "16")
    assert len(run.identification().normal) == 14


@settings(max_examples=200)
@given(
    st.integers(0, 2**32), st.integers(3, 12), st.floats(0.5, 1, exclude_min=True, exclude_max=True)
)
def test_the_groups_are_those_of_the_graph(seed: int, n: int, rho: float) -> None:
    """For intervals of any widths, not of arms that were pulled equally often only."""
    rng = np.random.default_rng(seed)
    method = as_method(f"gold:rho={rho!r}")
    spec = method.spec(PROBLEM, n)
    state = start_state(PROBLEM, method, n, rng)
    state.pulls[:] = 1
    state.estimate[0] = rng.integers(0, 40, n)
    radius = rng.integers(0, 4, n)
    state.lower[0], state.upper[0] = state.estimate[0] - radius, state.estimate[0] + radius
    part_arms(spec, state, 0)
    ends = [
        (x - STRETCH * r, x + STRETCH * r) for x, r in zip(state.estimate[0], radius, strict=True)
    ]
    small = [arm for group in naive.groups(ends) if len(group) <= spec.parting for arm in group]
    assert sorted(small) == np.flatnonzero(~state.active[0, 0]).tolist()
    assert (state.verdict == 2).sum() == (len(small) if len(small) >= spec.parting else 0)
    count = in_one_group.choose(spec, state, rng)
    assert state.chosen[:count].tolist() == np.flatnonzero(state.active[0, 0]).tolist()


def test_the_stretch_is_that_of_the_authors() -> None:
    assert pytest.approx(naive.stretch(), rel=1e-12) == STRETCH


def test_what_it_is_not_defined_for_is_refused() -> None:
    for label, words in {
        "gold:rho=0.5": "between 0.5 and 1",
        "gold:range=exact": "of its own",
        "rr:rho=0.9": "no rho option",
    }.items():
        with pytest.raises(MethodError, match=words):
            as_method(label)
    assert as_method("gold:rho=0.95").label() == "gold:rho=0.95"
