"""A whole run, round by round: what each method knows and which pulls it may choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.naive import elim, lucb, mean_std, radii
from tests.naive.threshold import Ranges, algorithm1, meets

Radius = Callable[[int, int, float, float], float]
RADII: dict[str, Radius] = {
    "roai-lucb": radii.paper,
    "roai-elim": radii.paper,
    "random": radii.paper,
    "roai-lucb-released": radii.released,
    "roai-elim-released": radii.released,
    "rr": radii.zhuang,
    "wrr": radii.zhuang,
}
"""The methods that have a twin."""


@dataclass
class NaiveRun:
    """High outliers only; for low ones negate the rewards."""

    method: str
    n: int
    k: float
    factor: float
    delta: float
    sigma: float
    omega: Sequence[int]
    pulls: list[int] = field(init=False)
    sums: list[float] = field(init=False)
    lower: list[float] = field(init=False)
    upper: list[float] = field(init=False)
    verdicts: list[str] = field(init=False)
    theta: tuple[float, float] = (-math.inf, math.inf)
    ranges: Ranges | None = None
    rounds: int = 0
    cursor: int = -1

    def __post_init__(self) -> None:
        self.pulls = [0] * self.n
        self.sums = [0.0] * self.n
        self.lower = [-math.inf] * self.n
        self.upper = [math.inf] * self.n
        self.verdicts = ["undecided"] * self.n
        self.a_med = set(self.omega)
        self.a_mad = set(self.omega)
        self.visits = mean_std.Visits(self.n, mean_std.rho(self.n, self.k, self.delta))

    @property
    def estimate(self) -> list[float]:
        return [total / s if s else 0.0 for total, s in zip(self.sums, self.pulls, strict=True)]

    @property
    def theta_estimate(self) -> float:
        return (self.theta[0] + self.theta[1]) / 2

    def observe(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.sums[arm] += reward

    def update_intervals(self) -> None:
        for i in range(self.n):
            if self.pulls[i] == 0:
                continue
            radius = RADII[self.method](self.pulls[i], self.n, self.delta, self.sigma)
            low, high = self.estimate[i] - radius, self.estimate[i] + radius
            both = max(low, self.lower[i]), min(high, self.upper[i])
            if self.method == "roai-elim" and both[0] <= both[1]:
                low, high = both
            self.lower[i], self.upper[i] = low, high

    def update_threshold(self) -> None:
        if self.method in ("rr", "wrr"):
            if min(self.pulls) > 0:
                self.theta = mean_std.interval(
                    self.estimate, self.pulls, self.k, self.delta, self.sigma
                )
        else:
            self.ranges = algorithm1(self.lower, self.upper, self.factor, self.omega)
            self.theta = self.ranges.threshold

    def update_verdicts(self) -> None:
        """Elim's sets shrink with their own past; the others look at the present alone."""
        for i in range(self.n):
            if self.method == "roai-elim" and self.verdicts[i] != "undecided":
                continue
            if meets(self.lower[i], self.upper[i], self.theta):
                self.verdicts[i] = "undecided"
            else:
                self.verdicts[i] = "outlier" if self.lower[i] > self.theta[1] else "normal"
        if self.ranges is not None:
            self.a_med &= elim.at_median(self.lower, self.upper, self.ranges, self.omega)
            self.a_mad &= elim.at_mad(self.ranges, self.omega)
        self.rounds += 1

    @property
    def undecided(self) -> set[int]:
        return {i for i in range(self.n) if self.verdicts[i] == "undecided"}

    def best_guess(self) -> set[int]:
        guess = {i for i in range(self.n) if self.estimate[i] > self.theta_estimate}
        if self.method == "roai-elim":
            guess &= self.undecided
            guess |= {i for i in range(self.n) if self.verdicts[i] == "outlier"}
        return guess

    def allowed(self) -> set[frozenset[int]]:
        """Every set of arms that the method may pull next."""
        if self.rounds == 0:
            return {frozenset(range(self.n))}
        if self.method == "random":
            return {frozenset({i}) for i in range(self.n)}
        if self.method == "rr":
            self.cursor = (self.cursor + 1) % self.n
            return {frozenset({self.cursor})}
        if self.method == "wrr":
            return {frozenset({self.visits.next(self.undecided, self.pulls)})}
        if self.method == "roai-elim":
            return {frozenset(self.a_med | self.a_mad | self.undecided)}
        if self.method == "roai-elim-released":
            return {frozenset({i}) for i in self._active_now()}
        return self._allowed_lucb()

    def _active_now(self) -> set[int]:
        assert self.ranges is not None
        return (
            elim.at_median(self.lower, self.upper, self.ranges, self.omega)
            | elim.at_mad(self.ranges, self.omega)
            | elim.at_threshold(self.lower, self.upper, self.theta)
        )

    def _allowed_lucb(self) -> set[frozenset[int]]:
        assert self.ranges is not None
        estimate = self.estimate
        pairs = lucb.boundary_pairs(estimate, self.lower, self.upper, self.ranges, self.omega)
        at_theta = lucb.threshold_pairs(estimate, self.lower, self.upper, self.theta_estimate)
        if self.method == "roai-lucb":
            at_theta = lucb.still_meeting(at_theta, self.lower, self.upper, self.theta)
            return lucb.unions([*pairs, at_theta])
        single = {arm for some in [*pairs, at_theta] for pair in some for arm in pair}
        return {frozenset({arm}) for arm in single if arm is not None}
