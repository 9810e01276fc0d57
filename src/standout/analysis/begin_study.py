"""A live study that begins with a table of past measurements."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from standout.analysis.tables import Rewards, Sums
from standout.analysis.thresholds import for_kept
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.noise import Bernoulli
from standout.core.problem import Problem
from standout.errors import ProblemError, StudyExistsError, shown
from standout.results import Receipt
from standout.study import Study
from standout.text import agree, listed

AT_ONCE = 1_000_000
"""Rewards per call: a study looks at its intervals after each call."""
WORKER = "past data"


def begin_study(
    place: str | os.PathLike[str],
    data: Rewards | Sums,
    problem: Problem,
    method: str | Method = DEFAULT_METHOD,
    *,
    name: str = "main",
    seed: int = 0,
    is_ordered: bool | None = None,
) -> Study:
    """Create a study and tell it all rewards of a table, in order.

    All rewards are told in one call, so that no verdict depends on a part of them. If the order is
    lost, or the table has counts, a part could have been selected by the table's author. A random
    order is drawn for the log. More than a million rewards are told a million at a time, which
    needs a table in order.

    After an interruption, the same call continues. Raises `StudyExistsError` if the name is taken
    by a study that did not begin with this table. Raises `ProblemError` for sums of rewards that
    are not 0 and 1, because a study keeps every single reward, and for more than a million rewards
    without a known order.
    """
    rewards = rewards_of(data, problem)
    if rewards.total > AT_ONCE and is_ordered is not True:
        raise ProblemError(
            f"a study can begin with up to {AT_ONCE:,} rewards of unknown order, and the table "
            f"has {rewards.total:,}; if its rows are in the order of measurement, add --ordered "
            "(is_ordered=True)"
        )
    if isinstance(data, Sums) or is_ordered is False:
        order = np.random.default_rng([seed, 1]).permutation(rewards.total)
        rewards = Rewards(rewards.arms, rewards.codes[order], rewards.values[order])
    try:
        asked = for_kept(problem, len(rewards.arms), data.left_out)
        study = Study.create(place, rewards.arms, asked, method, name=name, seed=seed)
    except StudyExistsError:
        study = Study.open(place, name)
        if not _begins_alike(study, rewards, problem):
            study.close()
            raise
    names, values = np.array(rewards.arms, dtype=object)[rewards.codes], rewards.values
    for start in range(study.rewards, len(values), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        pairs = zip(names[part].tolist(), values[part].tolist(), strict=True)
        study.tell_many(list(pairs), worker=WORKER)
    return study


def tell_table(
    study: Study, data: Rewards | Sums, label: str, key: str, worker: str | None = None
) -> Receipt:
    """Tell a study all rewards of a table in one call; repeating it with the same key is harmless.

    Raises `ProblemError` for arms that are not of this study, and for sums that are not of 0 and 1.
    """
    rewards = rewards_of(data, study.problem)
    strangers = [arm for arm in rewards.arms if arm not in set(study.arms)]
    if strangers:
        raise ProblemError(
            f"{label}: {listed([shown(arm) for arm in strangers], 3)} "
            f"{agree(len(strangers), 'is no arm', 'are no arms')} of this study; "
            "nothing was counted"
        )
    names = np.array(rewards.arms, dtype=object)[rewards.codes]
    pairs = zip(names.tolist(), rewards.values.tolist(), strict=True)
    return study.tell_many(list(pairs), worker=worker, key=key)


def rewards_of(data: Rewards | Sums, problem: Problem) -> Rewards:
    """Every single reward, with the arms as texts, because the arms of a study have names."""
    rewards = _single(data, problem)
    return replace(rewards, arms=tuple(str(arm) for arm in rewards.arms))


def _begins_alike(study: Study, rewards: Rewards, problem: Problem) -> bool:
    """Whether a study contains the beginning of this table, and nothing else."""
    if study.arms != rewards.arms or study.problem != problem:
        return False
    log, told = study.history(), study.rewards
    if told >= rewards.total or set(log["worker"]) - {WORKER}:
        return False
    names = np.array(rewards.arms, dtype=object)[rewards.codes[:told]]
    return bool(
        (names == log["arm"][:told]).all() and (rewards.values[:told] == log["reward"][:told]).all()
    )


def _single(data: Rewards | Sums, problem: Problem) -> Rewards:
    """Every single reward; counts of 0 and 1 become rewards in any order."""
    if isinstance(data, Rewards):
        return data
    if not isinstance(problem.noise, Bernoulli) or data.total > AT_ONCE:
        raise ProblemError(
            "a study keeps every single reward: give a table with one row per reward (a table of "
            f"counts does for 0/1 rewards, up to {AT_ONCE:,} of them)"
        )
    ones = data.sums.astype(np.int64)
    zeros = data.counts - ones
    arms = np.arange(len(data.arms))
    codes = np.concatenate([np.repeat(arms, ones), np.repeat(arms, zeros)])
    values = np.concatenate([np.ones(ones.sum()), np.zeros(zeros.sum())])
    return Rewards(data.arms, codes, values)
