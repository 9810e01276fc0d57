"""RR and WRR (Zhuang et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence


def g(n: int, k: float) -> float:
    return (1 + k * math.sqrt(n - 1)) ** 2 / n


def ell(n: int, k: float, delta: float) -> float:
    last = k**2 / (2 * math.log(math.pi**2 * n**3 / (6 * delta)))
    return (math.sqrt(g(n, k)) + math.sqrt(last)) ** 2


def rho(n: int, k: float, delta: float) -> float:
    return ((n - 1) ** 2 / ell(n, k, delta)) ** (1 / 3)


def interval(
    means: Sequence[float], pulls: Sequence[int], k: float, delta: float, sigma: float = 0.5
) -> tuple[float, float]:
    """Of mean + k std; the printed radius is that of sigma = 1/2."""
    n = len(means)
    mean = sum(means) / n
    std = math.sqrt(sum((y - mean) ** 2 for y in means) / n)
    harmonic = n / sum(1 / s for s in pulls)
    total = sum(pulls)
    inside = ell(n, k, delta) * math.log(math.pi**2 * n * total**2 / (3 * delta))
    radius = 2 * sigma * math.sqrt(inside / (2 * harmonic))
    return (mean + k * std - radius, mean + k * std + radius)


class Visits:
    """WRR's order of pulls: give it what is active and the pulls so far, get the next arm.

    Each visit adds rho to the arm's quota and pulls once, then keeps pulling
    while the arm is active and has fewer pulls than its quota. Every arm has
    had one pull before the first visit, so quotas start at 1.
    """

    def __init__(self, n: int, step: float) -> None:
        self.n = n
        self.step = step
        self.quota = [1.0] * n
        self.arm: int | None = None

    def next(self, active: set[int], pulls: Sequence[int]) -> int:
        arm = self.arm
        if arm is not None and arm in active and pulls[arm] < self.quota[arm]:
            return arm
        arm = 0 if arm is None else (arm + 1) % self.n
        self.arm = arm
        self.quota[arm] += self.step
        return arm
