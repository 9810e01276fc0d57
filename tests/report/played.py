"""Studies played in memory, reward by reward: adaptive, with faults built in if wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from standout.core.engine import begin_round, end_round
from standout.core.many_rewards import observe_many
from standout.core.methods import as_method
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED
from standout.core.typing import Floats, Ints

Draw = Callable[[np.random.Generator, Floats, Ints, Floats], Floats]
"""Rewards for (generator, means of the arms pulled, workers, share of the study gone by)."""


@dataclass(frozen=True)
class Log:
    arm: Ints
    reward: Floats
    worker: Ints
    n_arms: int


def play(
    problem: Problem,
    method: str,
    means: Floats,
    draw: Draw,
    *,
    budget: int,
    workers: int = 5,
    shifts: bool = False,
    seed: int = 0,
) -> Log:
    """Pull as the method says, until decided or the budget is spent.

    Workers take turns at random or, with `shifts`, one after the other.
    """
    n_arms = len(means)
    chosen = as_method(method)
    spec = chosen.spec(problem, n_arms)
    rule_rng, rng = (np.random.default_rng([seed, stream]) for stream in (1, 2))
    state = start_state(problem, chosen, n_arms, rule_rng)
    parts: list[tuple[Ints, Floats, Ints]] = []
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < budget:
        done = int(state.counters[PULLS])
        count = begin_round(spec, state, budget - done, rule_rng)
        arms = np.repeat(state.chosen[:count], state.amount[:count])
        rng.shuffle(arms)
        gone = (done + np.arange(len(arms))) / budget
        who = (workers * gone).astype(np.int64) if shifts else rng.integers(workers, size=len(arms))
        rewards = draw(rng, means[arms], who, gone)
        observe_many(spec, state, arms, rewards)
        end_round(spec, state)
        parts.append((arms, rewards, who))
    columns = [np.concatenate([part[k] for part in parts]) for k in range(3)]
    return Log(columns[0], columns[1], columns[2], n_arms)


def bernoulli(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
    return (rng.random(len(means)) < means).astype(np.float64)


def gaussian(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
    return rng.normal(means, 1.0)


def heavy(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
    return means + rng.standard_t(3, len(means)) / np.sqrt(3.0)


def grades(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
    """Whole numbers from 0 to 10."""
    return np.round(10 * rng.beta(0.6 * means, 6 - 0.6 * means))


def rates(n_arms: int, seed: int) -> Floats:
    """Chances of a yes, a tenth of the arms far above the others."""
    rng = np.random.default_rng([seed, 3])
    few = max(1, n_arms // 10)
    return np.concatenate([rng.uniform(0.1, 0.3, n_arms - few), rng.uniform(0.8, 0.95, few)])


def levels(n_arms: int, seed: int) -> Floats:
    """Means of measurements, a tenth of the arms far above the others."""
    rng = np.random.default_rng([seed, 4])
    few = max(1, n_arms // 10)
    return np.concatenate([rng.uniform(-1, 1, n_arms - few), rng.uniform(8, 10, few)])


def marks(n_arms: int, seed: int) -> Floats:
    """Mean grades out of 10."""
    rng = np.random.default_rng([seed, 5])
    few = max(1, n_arms // 10)
    return np.concatenate([rng.uniform(2, 4, n_arms - few), rng.uniform(8.5, 9.5, few)])
