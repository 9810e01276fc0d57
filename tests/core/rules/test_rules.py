"""Every rule, round by round, against its plain twin on the same rewards."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from standout.core.engine import begin_round, best_guess, end_round, observe
from standout.core.kinds import Verdict
from standout.core.method import Method
from standout.core.methods import METHODS
from standout.core.problem import Problem, Side
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, ROUNDS, THRESHOLD_LOWER, THRESHOLD_UPPER, UNDECIDED, State
from tests.naive.run import RADII, NaiveRun

pytestmark = pytest.mark.kernel

WORDS = {Verdict.UNDECIDED: "undecided", Verdict.NORMAL: "normal", Verdict.OUTLIER: "outlier"}
ROUNDS_PLAYED = 200


def means_of(n: int) -> list[float]:
    """Near enough to their threshold that some arm stays undecided for long."""
    return [*np.linspace(0.1, 0.4, n - 1), 0.95]


def gaussian(rng: np.random.Generator, mean: float) -> float:
    return float(rng.normal(mean, 0.02))


def bernoulli(rng: np.random.Generator, mean: float) -> float:
    return float(rng.random() < mean)


def three_values(rng: np.random.Generator, mean: float) -> float:
    """Bounded, with ties, and informative enough for RR to decide arms."""
    return round(4 * mean + rng.uniform(-0.5, 0.5)) / 4


def adopt(state: State, naive: NaiveRun, row: int = 0) -> None:
    """Check the twin's intervals, then go on from the kernel's.

    They agree up to rounding, and rounding decides about ties: with the same
    ends from here on, the choices have to agree exactly.
    """
    naive.update_intervals()
    near = 1e-9 * naive.sigma
    assert state.estimate[row].tolist() == pytest.approx(naive.estimate, rel=1e-12, abs=near)
    assert state.lower[row].tolist() == pytest.approx(naive.lower, rel=1e-9, abs=near)
    assert state.upper[row].tolist() == pytest.approx(naive.upper, rel=1e-9, abs=near)
    naive.lower = state.lower[row].tolist()
    naive.upper = state.upper[row].tolist()
    naive.update_threshold()
    theta = (float(state.bounds[row, THRESHOLD_LOWER]), float(state.bounds[row, THRESHOLD_UPPER]))
    assert theta == pytest.approx(naive.theta, rel=1e-9, abs=near)
    naive.theta = theta
    naive.update_verdicts()


def play_both(  # type: ignore[no-untyped-def]
    method: Method, n: int, noise: str, reward, side: Side = Side.HIGH, seed: int = 0
) -> NaiveRun:
    problem = Problem(noise=noise, k=2, delta=0.1, side=side)
    rng = np.random.default_rng(seed)
    reward_rng = np.random.default_rng(seed + 1)
    spec = method.spec(problem, n)
    state = start_state(problem, method, n, rng)
    naive = NaiveRun(
        method.name, n, problem.k, problem.factor, problem.delta, problem.noise.sigma,
        state.omega.tolist(),
    )  # fmt: skip
    means = means_of(n)
    guess = np.zeros(n, dtype=np.bool_)
    for _ in range(ROUNDS_PLAYED):
        if state.counters[UNDECIDED] == 0:
            break
        count = begin_round(spec, state, NO_LIMIT, rng)
        chosen = state.chosen[:count].tolist()
        assert len(set(chosen)) == count
        assert frozenset(chosen) in naive.allowed()
        for arm, amount in zip(chosen, state.amount[:count].tolist(), strict=True):
            assert amount == 1
            value = reward(reward_rng, means[arm])
            observe(spec, state, arm, -value if side is Side.LOW else value)
            naive.observe(arm, value)
        end_round(spec, state)
        adopt(state, naive)
        assert [WORDS[Verdict(int(v))] for v in state.verdict] == naive.verdicts
        assert state.counters[UNDECIDED] == len(naive.undecided)
        best_guess(spec, state, guess)
        assert set(np.flatnonzero(guess).tolist()) == naive.best_guess()
    assert state.pulls.tolist() == naive.pulls
    assert state.counters[PULLS] == sum(naive.pulls)
    assert state.counters[ROUNDS] == naive.rounds
    return naive


@pytest.mark.parametrize("n", [3, 4, 9, 10])
@pytest.mark.parametrize("name", [name for name in RADII if name not in ("rr", "wrr")])
def test_without_ties(name: str, n: int) -> None:
    naive = play_both(METHODS[name], n, "gaussian:0.02", gaussian)
    if n > 4:
        assert naive.best_guess() == {n - 1}


@pytest.mark.parametrize("side", [Side.HIGH, Side.LOW])
@pytest.mark.parametrize("name", RADII)
def test_with_ties(name: str, side: Side) -> None:
    noise = "bounded:-1,0" if side is Side.LOW else "bernoulli"
    for n in (3, 8, 9):
        play_both(METHODS[name], n, noise, bernoulli, side)


@pytest.mark.parametrize("n", [9, 10])
@pytest.mark.parametrize("name", ["rr", "wrr"])
def test_mean_and_standard_deviation(name: str, n: int) -> None:
    # A narrow range lets arms be decided, so that WRR both stays on arms and passes them.
    naive = play_both(METHODS[name], n, "bounded:0.1,0.2", three_values, seed=4)
    assert 0 < len(naive.undecided) < n


@pytest.mark.parametrize(
    "name", ["roai-lucb", "roai-elim", "roai-lucb-released", "roai-elim-released"]
)
def test_with_a_subset(name: str) -> None:
    method = replace(METHODS[name], subset=(2, 0.1))
    naive = play_both(method, 20, "gaussian:0.02", gaussian)
    assert len(naive.omega) == 15


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("name", ["roai-lucb", "roai-elim"])
def test_tiny_and_huge(name: str, scale: float) -> None:
    def scaled(rng: np.random.Generator, mean: float) -> float:
        return scale * float(rng.normal(mean, 0.02))

    play_both(METHODS[name], 9, f"gaussian:{0.02 * scale}", scaled)


@pytest.mark.parametrize("name", RADII)
def test_rewards_that_drift(name: str) -> None:
    """Arms whose means wander break every interval: nothing crashes, memory stays as written.

    For ROAIElim this is where intersections become empty, and the only place
    where an eliminated arm would return if its sets had no memory.
    """
    failed = False

    def drifting(rng: np.random.Generator, mean: float) -> float:
        nonlocal calls
        calls += 1
        return float(rng.normal(mean + math.sin(100 * mean * (calls // 40)), 0.02))

    for n in (9, 12):
        calls = 0
        naive = play_both(METHODS[name], n, "bounded:-0.02,0.02", drifting)
        failed |= any(
            not low <= y <= high
            for low, y, high in zip(naive.lower, naive.estimate, naive.upper, strict=True)
        )
    # Only intersected intervals can leave their own estimate behind.
    assert failed == (name == "roai-elim")


def joint_verdict(high: str, low: str) -> str:
    if "outlier" in (high, low):
        return "outlier"
    return "normal" if high == low == "normal" else "undecided"


def joint_choices(name: str, high: NaiveRun, low: NaiveRun, undecided: set[int]):  # type: ignore[no-untyped-def]
    if high.rounds == 0:
        return high.allowed()
    if name == "roai-lucb":
        return {one | other for one in high.allowed() for other in low.allowed()}
    if name == "roai-elim":
        sides = high.a_med | high.a_mad | low.a_med | low.a_mad
        return {frozenset(sides | undecided)}
    return high.allowed() | low.allowed()


@pytest.mark.parametrize("n", [9, 10])
@pytest.mark.parametrize("name", [name for name in RADII if name not in ("rr", "wrr")])
def test_both_sides(name: str, n: int) -> None:
    """Both questions at once: a twin for each side, one of them with negated rewards."""
    problem = Problem(noise="gaussian:0.05", k=3, k_low=1.5, delta=0.1, side=Side.BOTH)
    method = METHODS[name]
    rng, reward_rng = np.random.default_rng(0), np.random.default_rng(1)
    spec, state = method.spec(problem, n), start_state(problem, method, n, rng)
    twins = [
        NaiveRun(name, n, problem.k, k * problem.mad_scale, problem.delta, 0.05, range(n))
        for k in (3, 1.5)
    ]
    means = [-0.5, *np.linspace(0.1, 0.4, n - 2), 0.95]
    verdicts = ["undecided"] * n
    for _ in range(ROUNDS_PLAYED):
        if state.counters[UNDECIDED] == 0:
            break
        count = begin_round(spec, state, NO_LIMIT, rng)
        chosen = state.chosen[:count].tolist()
        undecided = {i for i in range(n) if verdicts[i] == "undecided"}
        assert len(set(chosen)) == count
        assert frozenset(chosen) in joint_choices(name, *twins, undecided)
        for arm in chosen:
            value = float(reward_rng.normal(means[arm], 0.05))
            observe(spec, state, arm, value)
            for twin, sign in zip(twins, (1, -1), strict=True):
                twin.observe(arm, sign * value)
        end_round(spec, state)
        for row, twin in enumerate(twins):
            adopt(state, twin, row)
        verdicts = [joint_verdict(twins[0].verdicts[i], twins[1].verdicts[i]) for i in range(n)]
        assert [WORDS[Verdict(int(v))] for v in state.verdict] == verdicts
    guess = np.zeros(n, dtype=np.bool_)
    best_guess(spec, state, guess)
    assert set(np.flatnonzero(guess).tolist()) == twins[0].best_guess() | twins[1].best_guess()
    assert np.flatnonzero(guess).tolist() == [0, n - 1]
