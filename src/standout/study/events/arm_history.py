"""The history of one arm: its interval over its pulls, and its workers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.intervals import MOMENTS
from standout.core.many_rewards import interval_path
from standout.core.state import State, new_state
from standout.core.typing import Floats, Ints
from standout.results import ArmHistory, ArmReward, ArmWorker
from standout.study.events.state import StudyState
from standout.study.events.tables import RewardStatus

MOMENTS_KEPT = 60
"""Entries of an arm's history, evenly spaced in the logarithm of its pulls."""
MOST_WORKERS = 50
MOST_REWARDS = 20


def arm_history(state: StudyState, position: int) -> ArmHistory:
    """The history of one arm from the ledger; takes milliseconds per million rewards.

    The interval follows the rewards in the order of counting. Rewards that wait for others are
    among the latest, but not in the interval yet; void rewards never are. Raises `IndexError` for
    an invalid position.
    """
    name, ledger = state.arms[position], state.ledger
    counted = ledger.sequence(position) - 1
    rewards: Floats = ledger.value[counted]
    at = moments_of(len(rewards), state.spec.initial)
    lower, upper = _intervals(state, rewards, at)
    workers = _workers(state, counted)
    return ArmHistory(
        position=position,
        arm=name,
        pulls=at,
        time=ledger.time[counted[at - 1]] if len(at) else np.zeros(0),
        mean=(np.cumsum(rewards)[at - 1] / at) if len(at) else np.zeros(0),
        lower=lower,
        upper=upper,
        workers=tuple(workers[:MOST_WORKERS]),
        n_workers=len(workers),
        latest=tuple(_latest(state, position)),
    )


def moments_of(pulls: int, first: int = 1, most: int = MOMENTS_KEPT) -> Ints:
    """At most `most` numbers of pulls from `first` to `pulls`, including both.

    >>> moments_of(5).tolist(), moments_of(1000, most=4).tolist(), moments_of(0).tolist()
    ([1, 2, 3, 4, 5], [1, 10, 100, 1000], [])
    """
    if pulls == 0:
        return np.zeros(0, dtype=np.int64)
    first = min(max(1, first), pulls)
    if pulls - first < most:
        return np.arange(first, pulls + 1)
    spread = np.geomspace(first, pulls, most)
    found: Ints = np.unique(np.rint(spread).astype(np.int64))
    return found


def _intervals(state: StudyState, rewards: Floats, at: Ints) -> tuple[Floats, Floats]:
    lower, upper = np.zeros(len(at)), np.zeros(len(at))
    if len(at):
        interval_path(state.spec, _one_arm(state), rewards, at, lower, upper)
    return lower, upper


def _one_arm(state: StudyState) -> State:
    """A state with one arm and no rewards, with this study's settings."""
    problem, method = state.problem, state.method
    return new_state(
        1,
        signs=(1.0,),
        factors=(problem.factor_of(problem.sides()[0]),),
        n_moments=MOMENTS.get(method.interval_for(problem), 0),
        support=problem.noise.support if method.refines else (-np.inf, np.inf),
    )


def _workers(state: StudyState, rows: Ints) -> list[ArmWorker]:
    """The workers of the counted rewards, those with most rewards first."""
    codes, rewards = state.ledger.worker[rows], state.ledger.value[rows]
    found = []
    for code in np.unique(codes).tolist():
        mine = rewards[codes == code]
        found.append(
            ArmWorker(state.ledger.workers[code], len(mine), sum(mine.tolist()) / len(mine))
        )
    return sorted(found, key=lambda each: (-each.rewards, each.worker))


def _latest(state: StudyState, position: int) -> Sequence[ArmReward]:
    """The last recorded rewards, newest first."""
    ledger = state.ledger
    rows = np.flatnonzero(ledger.arm[: ledger.size] == position)[: -MOST_REWARDS - 1 : -1]
    return [
        ArmReward(
            row + 1,
            ledger.time.item(row),
            ledger.value.item(row),
            ledger.workers[ledger.worker.item(row)],
            ledger.ticket.item(row) or None,
            ledger.status.item(row) in (RewardStatus.COUNTED, RewardStatus.WAITING),
        )
        for row in rows.tolist()
    ]
