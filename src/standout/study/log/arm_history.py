"""How one arm came to where it stands: its interval over its pulls, and who measured it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from standout.core.intervals import MOMENTS
from standout.core.many_rewards import interval_path
from standout.core.state import State, new_state
from standout.core.typing import Floats, Ints
from standout.results import ArmHistory, ArmReward, ArmWorker
from standout.study.log.history import without_void
from standout.study.progress import Progress
from standout.study.storage.log import reward_log
from standout.study.study import Study

MOMENTS_KEPT = 60
"""Entries of an arm's history, evenly spread over the magnitudes of its pulls."""
MOST_WORKERS = 50
MOST_REWARDS = 20
PART = 100_000
"""Places of the log that are looked at in one transaction."""


def arm_history(study: Study, position: int) -> ArmHistory:
    """Read it from the log; looks through all of it, a fraction of a second per million rewards.

    Some at a time, so that whoever else uses the same handle, or waits for old rows to be
    cleaned up, waits for a part only: the log just grows, and so the parts fit together.
    Rewards are taken in the order of telling, those that wait for others among them; what
    was made void is not counted.
    Raises `IndexError` for a position that no arm has.
    """
    with study._reading():
        progress, key = study._stored.progress, study._stored.key
        name, last = progress.arms[position], progress.totals.log
    parts = []
    for after in range(0, last, PART):
        with study._reading() as (connection, _):
            until = min(after + PART, last)
            parts.append(reward_log.of_arm(connection, key, position, after, until))
    told = [
        ArmReward(seq, time, value, worker, ticket, bool(counted))
        for rows in without_void(parts, progress.voided)
        for seq, time, _, value, ticket, _, worker, counted in rows
    ]
    counted = [each for each in told if each.counted]
    rewards: Floats = np.array([each.reward for each in counted], dtype=np.float64)
    at = moments_of(len(rewards), progress.spec.initial)
    lower, upper = _intervals(progress, rewards, at)
    workers = _workers(counted)
    return ArmHistory(
        position=position,
        arm=name,
        pulls=at,
        time=np.array([counted[number - 1].time for number in at.tolist()], dtype=np.float64),
        mean=(np.cumsum(rewards)[at - 1] / at) if len(at) else np.zeros(0),
        lower=lower,
        upper=upper,
        workers=tuple(workers[:MOST_WORKERS]),
        n_workers=len(workers),
        latest=tuple(told[: -MOST_REWARDS - 1 : -1]),
    )


def moments_of(pulls: int, first: int = 1, most: int = MOMENTS_KEPT) -> Ints:
    """Up to `most` numbers of pulls from `first` to `pulls`, both among them.

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


def _intervals(progress: Progress, rewards: Floats, at: Ints) -> tuple[Floats, Floats]:
    lower, upper = np.zeros(len(at)), np.zeros(len(at))
    if len(at):
        interval_path(progress.spec, _one_arm(progress), rewards, at, lower, upper)
    return lower, upper


def _one_arm(progress: Progress) -> State:
    """A state of one arm without rewards, as this study's arms began."""
    problem, method = progress.problem, progress.method
    return new_state(
        1,
        signs=(1.0,),
        factors=(problem.factor_of(problem.sides()[0]),),
        n_moments=MOMENTS.get(method.interval_for(problem), 0),
        support=problem.noise.support if method.refines else (-np.inf, np.inf),
    )


def _workers(told: Iterable[ArmReward]) -> list[ArmWorker]:
    """Who told how much, those with most first."""
    values: dict[str, list[float]] = {}
    for each in told:
        values.setdefault(each.worker, []).append(each.reward)
    found = [ArmWorker(who, len(one), sum(one) / len(one)) for who, one in values.items()]
    return sorted(found, key=lambda each: (-each.rewards, each.worker))
