"""A live study that begins with a table of past measurements."""

from __future__ import annotations

import os

import numpy as np

from standout.analysis.tables import Rewards, Sums
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.noise import Bernoulli
from standout.core.problem import Problem
from standout.errors import ProblemError, StudyExistsError
from standout.study import Study

PART = 50_000
"""Rewards that are told at once."""
MOST_EXPANDED = 10_000_000
WORKER = "past data"


def begin_study(
    place: str | os.PathLike[str],
    data: Rewards | Sums,
    problem: Problem,
    method: str | Method = DEFAULT_METHOD,
    *,
    name: str = "main",
    seed: int = 0,
) -> Study:
    """Create a study and tell it all rewards of a table, in their order.

    If that was broken off, the same again goes on where it was. Raises `StudyExistsError` if
    the name is taken by a study that did not begin with this table, `ProblemError` for sums
    of rewards that are not 0 and 1: a study keeps every single reward.
    """
    rewards = _single(data, problem)
    try:
        study = Study.create(place, rewards.arms, problem, method, name=name, seed=seed)
    except StudyExistsError:
        study = Study.open(place, name)
        if not _begins_alike(study, rewards, problem):
            study.close()
            raise
    names, values = np.array(rewards.arms, dtype=object)[rewards.codes], rewards.values
    for start in range(len(study.history()), len(values), PART):
        part = slice(start, start + PART)
        pairs = zip(names[part].tolist(), values[part].tolist(), strict=True)
        study.tell_many(list(pairs), worker=WORKER)
    return study


def _begins_alike(study: Study, rewards: Rewards, problem: Problem) -> bool:
    """Whether a study holds the beginning of this table, and nothing else."""
    if study.arms != rewards.arms or study.problem != problem:
        return False
    log = study.history()
    told = len(log)
    if told >= rewards.total or set(log["worker"]) - {WORKER}:
        return False
    names = np.array(rewards.arms, dtype=object)[rewards.codes[:told]]
    return bool((names == log["arm"]).all() and (rewards.values[:told] == log["reward"]).all())


def _single(data: Rewards | Sums, problem: Problem) -> Rewards:
    """Every single reward; of 0 and 1 their order makes no difference."""
    if isinstance(data, Rewards):
        return data
    if not isinstance(problem.noise, Bernoulli) or data.total > MOST_EXPANDED:
        raise ProblemError(
            "a study keeps every single reward: give a table with one row per reward (a table of "
            f"counts does for 0/1 rewards, up to {MOST_EXPANDED:,} of them)"
        )
    ones = data.sums.astype(np.int64)
    zeros = data.counts - ones
    arms = np.arange(len(data.arms))
    codes = np.concatenate([np.repeat(arms, ones), np.repeat(arms, zeros)])
    values = np.concatenate([np.ones(ones.sum()), np.zeros(zeros.sum())])
    return Rewards(data.arms, codes, values)
