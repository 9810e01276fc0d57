"""How many pulls are left: the method played on, with rewards like those told so far."""

from __future__ import annotations

import time

import numpy as np
from sqlalchemy import Connection, select

from standout.core.state import PULLS, ROUNDS, UNDECIDED
from standout.study import schema
from standout.study.kernels import fast_forward
from standout.study.ledger import Ledger
from standout.study.memory import copy_state

RECENT = 20_000
"""Rewards that stand for what is to come."""
FARTHEST = 1000
"""A study that would take this many times its pulls so far has no useful forecast."""
SECONDS = 0.5

_REWARDS = schema.rewards


def forecast(connection: Connection, ledger: Ledger) -> int | None:
    """Pulls left, roughly; None when it cannot be told (yet).

    Each arm's rewards are drawn from its recent ones, moved so that their mean
    is the arm's. An arm that happens to lie on the threshold takes for ever: no
    forecast then.
    """
    desk = ledger.desk
    if desk.is_stopped:
        return 0
    if desk.state.counters[ROUNDS] == 0 or (desk.state.pulls == 0).any():
        return None
    query = (
        select(_REWARDS.c.arm, _REWARDS.c.value)
        .where(_REWARDS.c.study == ledger.key, _REWARDS.c.seq > desk.totals.log - RECENT)
        .order_by(_REWARDS.c.seq)
    )
    rows = connection.execute(query).all()
    arms = np.array([row[0] for row in rows], dtype=np.int64)
    values = np.array([row[1] for row in rows], dtype=np.float64)
    order = np.argsort(arms, kind="stable")
    n_arms = len(desk.arms)
    sizes = np.bincount(arms, minlength=n_arms).astype(np.int64)
    starts = (np.cumsum(sizes) - sizes).astype(np.int64)
    means = desk.state.sums / desk.state.pulls
    pool_means = np.bincount(arms, weights=values, minlength=n_arms) / np.maximum(sizes, 1)
    state = copy_state(desk.state)
    limit = FARTHEST * (int(state.counters[PULLS]) + n_arms)
    rounds = max(1, 2_000_000 // n_arms)
    deadline = time.monotonic() + SECONDS
    rng = np.random.default_rng(0)
    pool, shifts = values[order], means - pool_means
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
        fast_forward(desk.spec, state, pool, starts, sizes, shifts, limit, rounds, rng)
        if time.monotonic() > deadline:
            break
    if state.counters[UNDECIDED] > 0:
        return None
    return int(state.counters[PULLS] - desk.state.counters[PULLS])
