"""The same methods in plain NumPy, one vectorised step at a time: what to measure against.

Written as one would without a compiler: intervals of pulled arms only, order
statistics by `partition`, boundary arms by one `argpartition` per list.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from standout.core.problem import Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class NumpyRun:
    """A run of one method; `step` chooses, pulls and updates, and gives the pulls made."""

    def __init__(
        self,
        method: str,
        problem: Problem,
        draw: Callable[[Ints], Floats],
        pulls: Ints,
        sums: Floats,
    ) -> None:
        self.problem = problem
        self.draw = draw
        self.n = len(pulls)
        self.m = (self.n + 1) // 2
        self.pulls = pulls.copy()
        self.sums = sums.copy()
        self.rng = np.random.default_rng(0)
        self.choose = getattr(self, "_" + method.replace("-", "_"))
        self.is_released = method.endswith("-released")
        self.is_mean_std = method in ("rr", "wrr")
        self.is_elim = method == "roai-elim"
        self.cursor = -1
        self.quota = self.pulls.astype(np.float64)
        self.at_median = np.ones(self.n, dtype=bool)
        self.at_mad = np.ones(self.n, dtype=bool)
        self.undecided = np.ones(self.n, dtype=bool)
        self.estimate = np.zeros(self.n)
        self.lower = np.full(self.n, -np.inf)
        self.upper = np.full(self.n, np.inf)
        self._update(np.arange(self.n))

    def step(self) -> int:
        arms = self.choose()
        self.pulls[arms] += 1
        self.sums[arms] += self.draw(arms)
        self._update(arms)
        return len(arms)

    def _update(self, arms: Ints) -> None:
        s = self.pulls[arms]
        mean = self.sums[arms] / s
        problem = self.problem
        if self.is_mean_std:
            log_term = np.log(np.pi**2 * (self.n + 1) * s**2 / (3 * problem.delta))
        elif self.is_released:
            log_term = np.log(np.pi**2 * self.n * s**2 / (3 * problem.delta))
        else:
            log_term = np.log(4 * self.n * s**2 / problem.delta)
        radius = problem.noise.sigma * np.sqrt(2 * log_term / s)
        lower, upper = mean - radius, mean + radius
        if self.is_elim:
            lower = np.maximum(lower, self.lower[arms])
            upper = np.minimum(upper, self.upper[arms])
        self.estimate[arms] = mean
        self.lower[arms] = lower
        self.upper[arms] = upper
        if self.is_mean_std:
            self._mean_std()
        else:
            self._algorithm1()
        meets = (self.lower <= self.theta[1]) & (self.upper >= self.theta[0])
        self.undecided = self.undecided & meets if self.is_elim else meets

    def _median(self, values: Floats) -> float:
        place = self.n - self.m
        return float(np.partition(values, place)[place])

    def _algorithm1(self) -> None:
        lower, upper, factor = self.lower, self.upper, self.problem.factor
        self.median = (self._median(lower), self._median(upper))
        self.ad_lower = np.maximum(lower - self.median[1], self.median[0] - upper)
        self.ad_upper = np.maximum(upper - self.median[0], self.median[1] - lower)
        self.mad = (self._median(self.ad_lower), self._median(self.ad_upper))
        self.theta = (self.median[0] + factor * self.mad[0], self.median[1] + factor * self.mad[1])

    def _mean_std(self) -> None:
        n, k, delta = self.n, self.problem.k, self.problem.delta
        g = (1 + k * np.sqrt(n - 1)) ** 2 / n
        self.ell = (np.sqrt(g) + np.sqrt(k**2 / (2 * np.log(np.pi**2 * n**3 / (6 * delta))))) ** 2
        harmonic = n / (1 / self.pulls).sum()
        log_term = np.log(np.pi**2 * n * float(self.pulls.sum()) ** 2 / (3 * delta))
        radius = self.problem.noise.sigma * np.sqrt(2 * self.ell * log_term / harmonic)
        centre = self.estimate.mean() + k * self.estimate.std()
        self.theta = (centre - radius, centre + radius)

    def _boundary(self, values: Floats, lower: Floats, upper: Floats) -> list[int]:
        order = np.argpartition(-values, (self.m - 2, self.m - 1))
        found = []
        for rank in (self.m - 1, self.m):
            top, rest = order[:rank], order[rank:]
            found += [int(top[lower[top].argmin()]), int(rest[upper[rest].argmax()])]
        return found

    def _candidates(self) -> tuple[list[int], list[int]]:
        arms = self._boundary(self.estimate, self.lower, self.upper)
        arms += self._boundary((self.ad_lower + self.ad_upper) / 2, self.ad_lower, self.ad_upper)
        above = self.estimate > (self.theta[0] + self.theta[1]) / 2
        at_theta = []
        inside, outside = np.flatnonzero(above), np.flatnonzero(~above)
        if len(inside):
            at_theta.append(int(inside[self.lower[inside].argmin()]))
        if len(outside):
            at_theta.append(int(outside[self.upper[outside].argmax()]))
        return arms, at_theta

    def _roai_lucb(self) -> Ints:
        arms, at_theta = self._candidates()
        return np.array(list({*arms, *(i for i in at_theta if self.undecided[i])}))

    def _roai_lucb_released(self) -> Ints:
        arms, at_theta = self._candidates()
        arms += at_theta
        return np.array([arms[self.rng.integers(len(arms))]])

    def _near(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        at_median = (self.lower <= self.median[1]) & (self.upper >= self.median[0])
        at_mad = (self.ad_lower <= self.mad[1]) & (self.ad_upper >= self.mad[0])
        return at_median, at_mad

    def _roai_elim(self) -> Ints:
        at_median, at_mad = self._near()
        self.at_median &= at_median
        self.at_mad &= at_mad
        return np.flatnonzero(self.at_median | self.at_mad | self.undecided)

    def _roai_elim_released(self) -> Ints:
        at_median, at_mad = self._near()
        return self.rng.choice(np.flatnonzero(at_median | at_mad | self.undecided), 1)

    def _random(self) -> Ints:
        return self.rng.integers(self.n, size=1)

    def _rr(self) -> Ints:
        self.cursor = (self.cursor + 1) % self.n
        return np.array([self.cursor])

    def _wrr(self) -> Ints:
        arm = self.cursor
        if arm < 0 or not self.undecided[arm] or self.pulls[arm] >= self.quota[arm]:
            arm = self.cursor = (arm + 1) % self.n
            self.quota[arm] += ((self.n - 1) ** 2 / self.ell) ** (1 / 3)
        return np.array([arm])
