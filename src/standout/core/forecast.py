"""A simulation of a run from its current state, to estimate the pulls left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from standout.core.compile import kernel
from standout.core.endings import least_tolerance, rounded_up, with_tolerance
from standout.core.intervals import reward_variance
from standout.core.many_rewards import fast_forward
from standout.core.state import PULLS, ROUNDS, UNDECIDED, Spec, State, copy_state, means_of
from standout.core.typing import Floats, Ints
from standout.results import Ending, Forecast

FARTHEST = 1000
"""A run that would take this many times its pulls so far has no useful forecast."""
SECONDS = 0.5
PLAYS = 11
"""The number of simulations for an interval, time permitting; `FEWEST` are needed."""
FEWEST = 3
SMALLER = (0.5, 0.25, 0.1)
"""Tolerances to simulate, as shares of the one that would end the run now."""
_STEP = 2_000_000
"""Pulls between two checks of the clock."""
_DRAWS = 64


@dataclass(frozen=True, eq=False)
class Pool:
    """Rewards from which future ones are drawn, arm after arm.

    `starts` and `sizes` locate an arm's rewards; `shifts` move their mean to the arm's estimate,
    and `spread` is the standard deviation of one reward.
    """

    values: Floats
    starts: Ints
    sizes: Ints
    shifts: Floats
    spread: float


def pool_of(state: State, arms: Ints, rewards: Floats) -> Pool:
    """A pool of recorded rewards; `arms` has the arm of each."""
    n_arms = len(state.pulls)
    sizes = np.bincount(arms, minlength=n_arms).astype(np.int64)
    means = np.bincount(arms, weights=rewards, minlength=n_arms) / np.maximum(sizes, 1)
    return Pool(
        values=rewards[np.argsort(arms, kind="stable")],
        starts=(np.cumsum(sizes) - sizes).astype(np.int64),
        sizes=sizes,
        shifts=means_of(state) - means,
        spread=float(np.std(rewards - means[arms])) if len(rewards) else 0.0,
    )


def pool_like(spec: Spec, state: State) -> Pool:
    """A pool for a run without recorded rewards: normal ones, with each arm's variance."""
    n_arms = len(state.pulls)
    variances = np.zeros(n_arms)
    _write_variances(spec, state, variances)
    middle = NormalDist()
    steps = np.array([middle.inv_cdf((i + 0.5) / _DRAWS) for i in range(_DRAWS)])
    return Pool(
        values=(np.sqrt(variances)[:, None] * steps).ravel(),
        starts=np.arange(n_arms, dtype=np.int64) * _DRAWS,
        sizes=np.full(n_arms, _DRAWS, dtype=np.int64),
        shifts=means_of(state),
        spread=math.sqrt(float(variances.mean())),
    )


@kernel("interval")
def _write_variances(spec: Spec, state: State, found: Floats) -> None:
    for i in range(spec.n_arms):
        found[i] = reward_variance(spec, state, i)


class Forecaster:
    """The data for simulations from one moment; `room` is what the budget leaves."""

    def __init__(self, spec: Spec, state: State, pool: Pool, room: float = math.inf) -> None:
        self.spec, self.state, self.pool, self.room = spec, state, pool, room

    @staticmethod
    def is_early(state: State) -> bool:
        """Whether too little is known: arms without a reward, or no complete round."""
        return bool(state.counters[ROUNDS] == 0 or (state.pulls == 0).any())

    def play(
        self,
        seed: int,
        seconds: float,
        *,
        is_shaken: bool = False,
        tolerance: float | None = None,
    ) -> int | None:
        """Simulate until decided, and return the pulls; None if this takes too long.

        If `is_shaken`, each mean is shifted at random, by its standard error. `tolerance` replaces
        the run's.
        """
        spec = self.spec if tolerance is None else with_tolerance(self.spec, tolerance)
        rng = np.random.default_rng(seed)
        state = copy_state(self.state)
        n_arms = len(state.pulls)
        shifts = self.pool.shifts
        if is_shaken:
            off = rng.normal(0.0, 1.0, n_arms) * self.pool.spread / np.sqrt(state.pulls)
            shifts = shifts + off
        begin = int(state.counters[PULLS])
        # Includes earlier rewards: they are not pulls of this run, but set the scale of its length.
        had = int(state.pulls[np.isfinite(state.costs)].sum())
        limit = begin + FARTHEST * (had + n_arms)
        deadline = time.monotonic() + seconds
        while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
            before = int(state.counters[PULLS])
            self._forward(spec, state, shifts, min(limit, before + _STEP), rng)
            if time.monotonic() > deadline or state.counters[PULLS] == before:
                break
        if state.counters[UNDECIDED] > 0:
            return None
        return int(state.counters[PULLS] - begin)

    def _forward(
        self, spec: Spec, state: State, shifts: Floats, limit: int, rng: np.random.Generator
    ) -> None:
        pool = self.pool
        rounds = max(1, 2_000_000 // len(state.pulls))
        fast_forward(spec, state, pool.values, pool.starts, pool.sizes, shifts, limit, rounds, rng)

    def _load(self) -> None:
        """Compile first, because loading code may take longer than a simulation."""
        rng = np.random.default_rng(0)
        self._forward(self.spec, copy_state(self.state), self.pool.shifts, 0, rng)

    def forecast(self, seed: int = 0) -> Forecast | None:
        """Several simulations with shifted means; one that takes too long counts as long."""
        self._load()
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

    def endings(self, seed: int = 0) -> tuple[Ending, ...]:
        """The tolerance that ends the run now, which is proved, and the pulls for smaller ones."""
        least = least_tolerance(self.state)
        if not 0 < least < math.inf:
            return ()
        self._load()
        found = [Ending(least, 0)]
        deadline = time.monotonic() + SECONDS
        for part in SMALLER:
            tolerance = rounded_up(part * least)
            pulls = self.play(seed, deadline - time.monotonic(), tolerance=tolerance)
            found.append(Ending(tolerance, pulls))
            if pulls is None:
                break
        return tuple(found)
