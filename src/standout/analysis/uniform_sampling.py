"""The pulls that uniform sampling would have needed, simulated with the rewards of the study."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.core.engine import end_round
from standout.core.kinds import RangeKind
from standout.core.many_rewards import observe_many
from standout.core.method import Method
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED
from standout.core.typing import Floats, Ints
from standout.results import Result

MOST_RUNS = 9
GROWTH = 1.05
"""Growth of the pulls per arm between two looks."""
MOST_PULLS = 20_000_000
"""The largest number of pulls in all runs together, which takes one or two seconds."""
MOST_INTERVALS = 1_500_000
"""The largest number of intervals in all runs together, which also takes one or two seconds."""
FARTHEST = 1000
"""Uniform sampling is simulated up to this multiple of the study's own pulls."""


@dataclass(frozen=True)
class Uniform(Result):
    """Pulls that uniform sampling needs to leave no more than `undecided` arms undecided.

    `pulls` is the median of the runs, `low` and `high` are the smallest and the largest. With
    `is_capped`, the median run had more undecided arms after `pulls`.
    """

    pulls: int
    low: int
    high: int
    is_capped: bool
    runs: int
    undecided: int
    seed: int


def uniform_pulls(
    problem: Problem,
    method: Method,
    arm: Ints,
    reward: Floats,
    n_arms: int,
    undecided: int,
    seed: int = 0,
) -> Uniform | None:
    """Play round robin with the method's own intervals and stopping rule.

    An arm's rewards are drawn from its recorded rewards (`arm` and `reward` are the log), so its
    mean is its estimate. `undecided` is the number of undecided arms. The result is None if no arm
    is decided, because any number of pulls would do, and for a method whose threshold needs its own
    random draws. The effort is bounded.
    """
    number = np.bincount(arm, minlength=n_arms).astype(np.int64)
    if undecided >= n_arms or number.min() == 0 or method.range == RangeKind.DRAWN:
        return None
    game = _Game(problem, method, number, reward[np.argsort(arm, kind="stable")])
    looks = _looks(len(arm), n_arms)
    found: list[float] = []
    while len(found) < MOST_RUNS and (not found or game.effort * (1 + 1 / len(found)) <= 1):
        found.append(game.play(looks, undecided, np.random.default_rng([seed, len(found)])))
    # A run that reached the limit counts as infinite.
    found.sort()
    middle, cap = found[len(found) // 2], n_arms * looks[-1]
    return Uniform(
        pulls=int(min(middle, cap)),
        low=int(min(found[0], cap)),
        high=int(min(found[-1], cap)),
        is_capped=math.isinf(middle),
        runs=len(found),
        undecided=undecided,
        seed=seed,
    )


def _looks(pulls: int, n_arms: int) -> list[int]:
    """Pulls per arm at which the stopping rule is evaluated, within the allowed effort."""
    last = min(FARTHEST * max(1, -(-pulls // n_arms)), max(1, MOST_PULLS // n_arms))
    looks = [1]
    while looks[-1] < last and len(looks) * n_arms < MOST_INTERVALS:
        looks.append(min(last, max(looks[-1] + 1, round(looks[-1] * GROWTH))))
    return looks


class _Game:
    """Runs of uniform sampling, and the effort that they have used."""

    def __init__(self, problem: Problem, method: Method, number: Ints, rewards: Floats) -> None:
        self.problem, self.method, self.rewards, self.number = problem, method, rewards, number
        self.first = np.cumsum(number) - number
        self.spec = method.spec(problem, len(number))
        self.effort = 0.0

    def play(self, looks: list[int], undecided: int, rng: np.random.Generator) -> float:
        """Pulls of one run; infinite if it reached the limit."""
        n_arms = len(self.number)
        state = start_state(self.problem, self.method, n_arms, rng)
        done = 0
        for look in (look for look in looks if look >= self.spec.initial):
            arms = np.tile(np.arange(n_arms), look - done)
            places = (rng.random(len(arms)) * self.number[arms]).astype(np.int64)
            observe_many(self.spec, state, arms, self.rewards[self.first[arms] + places])
            end_round(self.spec, state)
            self.effort += n_arms / MOST_INTERVALS + len(arms) / MOST_PULLS
            if state.counters[UNDECIDED] <= undecided:
                return float(state.counters[PULLS])
            done = look
        return math.inf
