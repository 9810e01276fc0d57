"""An arm's rewards counted anew, after one of them was made void."""

from __future__ import annotations

import numpy as np

from standout.core.many_rewards import observe_many
from standout.core.order import sort_ends
from standout.core.run import start_state
from standout.core.state import PULLS, ROUNDS, SIZE, STAGE, TOUCHED, UNDECIDED, State, forget_bets
from standout.core.threshold import update_threshold
from standout.study.events.state import StudyState

_OF_REWARDS = ("pulls", "sums", "origin", "moments", "is_touched")
_OF_INTERVALS = ("lower", "upper", "estimate", "deviation_lower", "deviation_upper")


def recount(state: StudyState, arm: int) -> None:
    """Count the rewards of `arm` anew, as the ledger has them now.

    Its intervals are worked out as of now only: what was known of them before rested on rewards
    that are void. So did all verdicts, through the threshold.
    """
    core = state.state
    clean = start_state(
        state.problem, state.method, len(state.arms), np.random.default_rng(0), core.costs
    )
    for name in _OF_REWARDS:
        getattr(core, name)[arm] = 0
    for name in _OF_INTERVALS:
        getattr(core, name)[:, arm] = getattr(clean, name)[:, arm]
    # A rule may have put arms aside for what is void.
    core.active[...] = core.stage == 0
    forget_alternatives(state)
    # The threshold of a sample is cut with those before it.
    core.bounds[...] = clean.bounds
    _derive(state, core)
    core.counters[PULLS] = core.pulls.sum()
    rows = state.ledger.sequence(arm) - 1
    if len(rows):
        arms = np.full(len(rows), arm, dtype=np.int64)
        observe_many(state.spec, core, arms, state.ledger.value[rows])
    withdraw(state)
    state.touch(arm)


def withdraw(state: StudyState) -> None:
    """Nothing is certain until the intervals say so again."""
    state.certified[:] = 0
    state.state.verdict[:] = 0
    state.state.counters[UNDECIDED] = len(state.arms)
    state.touch_all()


def forget_alternatives(state: StudyState) -> None:
    """What the joint certificate remembers is of another tolerance, or of other rewards."""
    forget_bets(state.state)


def _derive(state: StudyState, core: State) -> None:
    """Bring what follows from the intervals in line with them."""
    touched = np.flatnonzero(core.is_touched)
    core.touched[: len(touched)] = touched
    core.counters[TOUCHED] = len(touched)
    members = np.flatnonzero(core.stage <= core.sampled[STAGE])
    core.omega[: len(members)] = members
    core.sampled[SIZE] = len(members)
    bounds = core.bounds.copy()
    for side in range(len(core.signs)):
        sort_ends(core, side)
        if core.counters[ROUNDS] > 0:
            update_threshold(state.spec, core, side)
    core.bounds[...] = bounds
