"""How many pulls uniform sampling would have needed: played from the final estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from standout.core.methods import Method
from standout.core.noise import Bernoulli, Bounded, Noise
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, ROUNDS, UNDECIDED, Spec, State
from standout.core.typing import Floats
from standout.simulation.play import play
from standout.simulation.rewards import Rewards, rewards_of
from standout.simulation.runs import streams

MOST_RUNS = 9
GROWTH = 1.05
"""Between two looks every arm gets a twentieth more pulls."""
MOST_PULLS = 20_000_000
"""Pulls drawn one by one in all runs together: some seconds."""
MOST_INTERVALS = 1_500_000
"""Intervals worked out in all runs together: some seconds too."""
FARTHEST = 1000
"""Uniform sampling is followed up to so many times the study's own pulls."""


@dataclass(frozen=True)
class Uniform:
    """Pulls that uniform sampling needs to leave no more than `undecided` arms undecided.

    `pulls` is the median of the runs, `low` and `high` the smallest and largest.
    `is_capped` says that the median run had not come so far after `pulls`.
    """

    pulls: int
    low: int
    high: int
    is_capped: bool
    runs: int
    undecided: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def uniform_pulls(
    problem: Problem,
    method: Method,
    means: Floats,
    deviations: Floats,
    pulls: int,
    undecided: int,
    seed: int = 0,
) -> Uniform | None:
    """Play round robin with the method's own intervals and stop rule.

    `means` and `deviations` are the estimates after `pulls` pulls that left
    `undecided` arms undecided. None while nothing is decided: any number of
    pulls gets as far. The effort is bounded whatever the numbers are.
    """
    if undecided >= len(means) or not np.isfinite(means).all():
        return None
    game = _Game(problem, method, likely_rewards(problem.noise, means, deviations), len(means))
    looks = _looks(pulls, len(means))
    found: list[float] = []
    while len(found) < MOST_RUNS and (not found or game.effort * (1 + 1 / len(found)) <= 1):
        found.append(game.play(looks, undecided, seed, len(found)))
    # A run that never got there is larger than any number.
    found.sort()
    middle, cap = found[len(found) // 2], len(means) * looks[-1]
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
    """Pulls per arm at which the stop rule looks, as far as the effort allows."""
    last = min(FARTHEST * max(1, -(-pulls // n_arms)), max(1, MOST_PULLS // n_arms))
    looks = [1]
    while looks[-1] < last and len(looks) * n_arms < MOST_INTERVALS:
        looks.append(min(last, max(looks[-1] + 1, round(looks[-1] * GROWTH))))
    return looks


class _Game:
    """Runs of uniform sampling, and the share of the effort that they took."""

    def __init__(self, problem: Problem, method: Method, rewards: Rewards, n_arms: int) -> None:
        self.problem, self.method, self.rewards, self.n_arms = problem, method, rewards, n_arms
        self.spec = method.spec(problem, n_arms)
        self.effort = 0.0

    def play(self, looks: list[int], undecided: int, seed: int, run: int) -> float:
        """Pulls of one run, infinite if it did not get there."""
        _, reward_rng, rule_rng = streams(seed, run)
        state = start_state(self.problem, self.method, self.n_arms, rule_rng)
        nothing = np.zeros(0, dtype=np.int64), 0, np.zeros((0, self.n_arms), dtype=np.bool_)
        got_there = False
        for spec in _rounds(self.spec, state, looks):
            play(spec, state, self.rewards, NO_LIMIT, 1, *nothing, reward_rng, rule_rng)
            self.effort += self.n_arms / MOST_INTERVALS
            if got_there := bool(state.counters[UNDECIDED] <= undecided):
                break
        self.effort += int(state.counters[PULLS]) / MOST_PULLS
        return float(state.counters[PULLS]) if got_there else math.inf


def _rounds(spec: Spec, state: State, looks: list[int]) -> Iterator[Spec]:
    """What makes the loop body pull every arm alike: its first round does, so each is a first.

    The first round brings all arms to `initial` pulls, whatever the rule.
    """
    for look in looks:
        if look >= spec.initial:
            state.counters[ROUNDS] = 0
            yield spec._replace(initial=look)


def likely_rewards(noise: Noise, means: Floats, deviations: Floats) -> Rewards:
    """Rewards like those of arms with these means and standard deviations."""
    low, high = noise.support
    if isinstance(noise, Bernoulli):
        return rewards_of(np.clip(means, low, high), noise, None)
    sigmas = np.where(np.isfinite(deviations), deviations, 0.0)
    if isinstance(noise, Bounded):
        # An estimate at an end of the range still leaves a little room for the mean.
        edge = 1e-6 * (high - low)
        inner = np.clip(means, low + edge, high - edge)
        widest = np.sqrt((inner - low) * (high - inner))
        return rewards_of(inner, noise, np.clip(sigmas, 1e-3 * widest, 0.999 * widest))
    if math.isfinite(noise.sigma):
        return rewards_of(means, noise, np.clip(sigmas, 1e-9 * noise.sigma, noise.sigma))
    # Unknown scales: an arm that showed no noise gets a little of what the others show.
    positive = sigmas[sigmas > 0]
    floor = 1e-3 * float(np.median(positive)) if len(positive) else 1.0
    return rewards_of(means, noise, np.maximum(sigmas, floor))
