"""Helpers that drive any method of the registry with given rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from standout.core.compile import IS_COMPILED
from standout.core.method import Method
from standout.core.methods import METHODS
from standout.core.problem import Problem, Side
from standout.core.run import Run, start_state
from standout.core.state import NEVER, State

# As plain Python, whole runs with these proofs take minutes; see tests/core/joint and crossing.
PROVING = ("combined", "joint")
PLAYED = {name: METHODS[name] for name in METHODS if IS_COMPILED or name not in PROVING}
NAMES = list(PLAYED)
VARIANTS = [*PLAYED.values()] + [
    replace(method, **changes)
    for method in PLAYED.values()
    for changes in ({"batch": 7}, {"growth": 0.25}, {"batch": 3, "growth": 0.1})
]
"""Every method, plain and with batches."""


def problem_for(method: Method, side: Side = Side.HIGH, **changes: object) -> Problem:
    """A question that the method can be asked; its rewards lie in [-1, 1]."""
    noise = "bounded:-1,1" if method.needs_bounded_rewards else "gaussian:0.05"
    return Problem(**({"noise": noise, "k": 2, "delta": 0.1, "side": side} | changes))  # type: ignore[arg-type]


class Tape:
    """Rewards fixed in advance: the s-th pull of an arm gives the same whenever it happens."""

    def __init__(self, means: list[float], seed: int = 0, length: int = 4000) -> None:
        rng = np.random.default_rng(seed)
        draws = rng.normal(np.array(means)[:, None], 0.05, (len(means), length))
        self.rewards = np.clip(draws, -1, 1)
        self.pulls = [0] * len(means)

    def next(self, arm: int) -> float:
        self.pulls[arm] += 1
        return float(self.rewards[arm, self.pulls[arm] - 1])


def spread_means(n: int) -> list[float]:
    """Evenly spaced, and one that stands out; in no particular order."""
    means = [*np.linspace(-0.2, 0.2, n - 1), 0.7]
    return [float(means[i]) for i in np.random.default_rng(n).permutation(n)]


def drive(
    run: Run, reward: Callable[[int], float], rounds: int = 10**9
) -> list[list[tuple[int, int]]]:
    """Play `run` by hand; what it chose in each round, by the arms' indexes."""
    history = []
    for _ in range(rounds):
        chosen = run.choose()
        if not chosen:
            break
        history.append([(run.arms.index(arm), amount) for arm, amount in chosen])
        for arm, amount in chosen:
            for _ in range(amount):
                run.tell(arm, reward(run.arms.index(arm)))
        run.update()
    return history


def new_run(method: Method, n: int, seed: int = 0, side: Side = Side.HIGH, **limits: int) -> Run:
    problem = problem_for(method, side)
    arms = [f"arm-{i}" for i in range(n)]
    return Run(problem, arms, method, np.random.default_rng(seed), **limits)


def blank_state(method: str, problem: Problem, n: int, omega: Sequence[int] | None = None) -> State:
    """A state before the first pull, its threshold made from the arms in `omega`."""
    state = start_state(problem, METHODS[method], n, np.random.default_rng(0))
    if omega is None:
        return state
    stage = np.full(n, NEVER, dtype=np.int8)
    stage[list(omega)] = 0
    return replace(
        state,
        omega=np.array(omega, dtype=np.int64),
        stage=stage,
        sampled=np.array([len(omega), 0], dtype=np.int64),
    )
