"""The inner loop of a simulation: the shared loop body, driven by simulated rewards."""

from __future__ import annotations

import numpy as np

from standout.core.compile import kernel
from standout.core.engine import begin_round, best_guess, end_round, note_reward, touch
from standout.core.intervals import count_reward
from standout.core.state import PULLS, UNDECIDED, Spec, State
from standout.core.typing import Array, Ints
from standout.simulation.rewards import Rewards, draw


@kernel("rule", "interval", "learns")
def play(
    spec: Spec,
    state: State,
    rewards: Rewards,
    budget: int,
    max_rounds: int,
    checkpoints: Ints,
    first_checkpoint: int,
    guesses: Array,
    reward_rng: np.random.Generator,
    rule_rng: np.random.Generator,
) -> int:
    """Play up to `max_rounds` rounds; return the number of checkpoints passed so far.

    Row c of `guesses` becomes the best guess of the last round that was complete within
    `checkpoints[c]` pulls. A call continues where the last one ended, so that the caller can look
    at the clock in between.
    """
    passed = first_checkpoint
    for _ in range(max_rounds):
        if state.counters[UNDECIDED] == 0 or state.counters[PULLS] >= budget:
            break
        count = begin_round(spec, state, budget - state.counters[PULLS], rule_rng)
        size = 0
        for j in range(count):
            size += state.amount[j]
        while passed < len(checkpoints) and checkpoints[passed] < state.counters[PULLS] + size:
            best_guess(spec, state, guesses[passed])
            passed += 1
        for j in range(count):
            arm = state.chosen[j]
            amount = state.amount[j]
            for _ in range(amount):
                reward = draw(rewards, arm, reward_rng)
                note_reward(spec, state, arm, reward)
                count_reward(spec, state, arm, reward)
            touch(state, arm, amount)
        end_round(spec, state)
    if state.counters[UNDECIDED] == 0 or state.counters[PULLS] >= budget:
        while passed < len(checkpoints):
            best_guess(spec, state, guesses[passed])
            passed += 1
    return passed
