"""How many pulls are left: the method played on, with rewards like those told so far."""

from __future__ import annotations

import math
import time

import numpy as np

from standout.core.state import PULLS, ROUNDS, UNDECIDED, State, means_of
from standout.core.typing import Floats
from standout.results import Forecast
from standout.study.kernels import fast_forward
from standout.study.storage.database import Connection
from standout.study.storage.log import reward_log
from standout.study.storage.mirror import Mirror
from standout.study.storage.packing import copy_state

RECENT = 20_000
"""Rewards that stand for what is to come."""
FARTHEST = 1000
"""A study that would take this many times its pulls so far has no useful forecast."""
SECONDS = 0.5
PLAYS = 11
"""How often a range plays on, time allowing; fewer than `FEWEST` make no range."""
FEWEST = 3


def forecast(connection: Connection, mirror: Mirror) -> int | None:
    """Pulls left, roughly; None when it cannot be told (yet).

    Each arm's rewards are drawn from its recent ones, moved so that their mean
    is the arm's. An arm that happens to lie on the threshold takes for ever: no
    forecast then.
    """
    return Outlook(connection, mirror).play(0, SECONDS)


class Outlook:
    """All that playing on needs, taken from a study at one moment."""

    def __init__(self, connection: Connection, mirror: Mirror) -> None:
        progress = mirror.progress
        self.spec = progress.spec
        self.is_stopped = progress.is_stopped
        self.room = math.inf if progress.budget is None else progress.budget - progress.totals.pulls
        state = progress.state
        self.is_early = bool(state.counters[ROUNDS] == 0 or (state.pulls == 0).any())
        if self.is_stopped or self.is_early:
            return
        self.state = copy_state(state)
        rows = reward_log.latest(connection, mirror.key, progress.totals.log - RECENT)
        rows = [row for row in rows if row[0] not in progress.voided]
        arms = np.array([row[1] for row in rows], dtype=np.int64)
        values = np.array([row[2] for row in rows], dtype=np.float64)
        n_arms = len(progress.arms)
        self.pool = values[np.argsort(arms, kind="stable")]
        self.sizes = np.bincount(arms, minlength=n_arms).astype(np.int64)
        self.starts = (np.cumsum(self.sizes) - self.sizes).astype(np.int64)
        means = np.bincount(arms, weights=values, minlength=n_arms) / np.maximum(self.sizes, 1)
        self.shifts: Floats = means_of(self.state) - means
        self.spread = float(np.std(values - means[arms])) if len(values) else 0.0

    def play(self, seed: int, seconds: float, *, is_shaken: bool = False) -> int | None:
        """Play on until decided; None when that takes too long.

        `is_shaken`: with means as they may be, each off by its own standard
        error, in place of the estimates.
        """
        if self.is_stopped:
            return 0
        if self.is_early:
            return None
        rng = np.random.default_rng(seed)
        state = copy_state(self.state)
        n_arms = len(state.pulls)
        shifts = self.shifts
        if is_shaken:
            shifts = shifts + rng.normal(0.0, 1.0, n_arms) * self.spread / np.sqrt(state.pulls)
        begin = int(state.counters[PULLS])
        limit = FARTHEST * (begin + n_arms)
        rounds = max(1, 2_000_000 // n_arms)
        deadline = time.monotonic() + seconds
        while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
            self._forward(state, shifts, limit, rounds, rng)
            if time.monotonic() > deadline:
                break
        if state.counters[UNDECIDED] > 0:
            return None
        return int(state.counters[PULLS] - begin)

    def _forward(
        self, state: State, shifts: Floats, limit: int, rounds: int, rng: np.random.Generator
    ) -> None:
        fast_forward(
            self.spec, state, self.pool, self.starts, self.sizes, shifts, limit, rounds, rng
        )

    def forecast(self, seed: int = 0) -> Forecast | None:
        """Play on several times with shaken means; a play that takes too long counts as long."""
        if self.is_stopped:
            return Forecast(0, 0, 0)
        if self.is_early:
            return None
        # Loading compiled code may take longer than playing.
        self._forward(copy_state(self.state), self.shifts, 0, 0, np.random.default_rng(seed))
        deadline = time.monotonic() + SECONDS
        found: list[float] = []
        for number in range(PLAYS):
            left = max(deadline - time.monotonic(), SECONDS / PLAYS)
            pulls = self.play(seed + number, left / 2, is_shaken=True)
            found.append(math.inf if pulls is None else pulls)
            if time.monotonic() > deadline:
                break
        if len(found) < FEWEST:
            return None
        low, middle, high = (
            min(value, self.room)
            for value in np.quantile(found, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
        )
        if not math.isfinite(middle):
            return None
        return Forecast(int(middle), int(low), int(high) if math.isfinite(high) else None)
