"""One simulated run that can be watched, with its full answer."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from standout.core.engine import best_guess
from standout.core.identification import identification
from standout.core.method import Method
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED
from standout.results import Identification, StopReason
from standout.simulation.instances import InstanceFamily
from standout.simulation.play import play
from standout.simulation.rewards import rewards_of
from standout.simulation.runs import budget_or_none, streams

_SLICE_SECONDS = 0.1
"""About the time between two calls of `on_slice`."""


def watch(
    family: InstanceFamily,
    problem: Problem,
    method: Method,
    seed: int = 0,
    *,
    budget: int | None = None,
    on_slice: Callable[[int, int], None] | None = None,
) -> Identification:
    """Run 0 of `simulate` with this seed: the same draws, the same pulls, but the whole answer.

    `on_slice(pulls, undecided)` is called now and then while it runs.
    """
    instance_rng, reward_rng, rule_rng = streams(seed, 0)
    instance = family.draw(instance_rng)
    rewards = rewards_of(instance.means, instance.noise, instance.sigmas)
    spec = method.spec(problem, instance.n_arms)
    state = start_state(problem, method, instance.n_arms, rule_rng)
    limit = budget_or_none(budget)
    no_marks = np.zeros(0, dtype=np.int64)
    no_guesses = np.zeros((0, instance.n_arms), dtype=np.bool_)
    rounds = 1
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
        begin = time.perf_counter()
        play(
            spec, state, rewards, limit, rounds,
            no_marks, 0, no_guesses, reward_rng, rule_rng,
        )  # fmt: skip
        # Rounds grow longer and shorter as a run goes on; how they are sliced changes nothing.
        is_quick = time.perf_counter() - begin < _SLICE_SECONDS
        rounds = 2 * rounds if is_quick else max(1, rounds // 2)
        if on_slice is not None:
            on_slice(int(state.counters[PULLS]), int(state.counters[UNDECIDED]))
    guess = np.zeros(instance.n_arms, dtype=np.bool_)
    best_guess(spec, state, guess)
    reason = StopReason.BUDGET if state.counters[UNDECIDED] else StopReason.DECIDED
    return identification(state, instance.arms, guess, reason)
