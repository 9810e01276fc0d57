"""Intervals of median, MAD and threshold from the arms' intervals (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.naive.order import median


@dataclass(frozen=True)
class Ranges:
    """What Algorithm 1 gives. Deviations are those of all arms in omega, by arm."""

    median: tuple[float, float]
    mad: tuple[float, float]
    threshold: tuple[float, float]
    deviation_lower: dict[int, float]
    deviation_upper: dict[int, float]

    @property
    def estimate(self) -> float:
        """The midpoint, theta's estimate."""
        return (self.threshold[0] + self.threshold[1]) / 2


def algorithm1(
    lower: Sequence[float], upper: Sequence[float], factor: float, omega: Sequence[int]
) -> Ranges:
    l_med = median([lower[i] for i in omega])
    u_med = median([upper[i] for i in omega])
    l_ad = {}
    u_ad = {}
    for i in omega:
        l_ad[i] = max(lower[i] - u_med, l_med - upper[i])
        u_ad[i] = max(upper[i] - l_med, u_med - lower[i])
    l_mad = median(list(l_ad.values()))
    u_mad = median(list(u_ad.values()))
    theta = (l_med + factor * l_mad, u_med + factor * u_mad)
    return Ranges((l_med, u_med), (l_mad, u_mad), theta, l_ad, u_ad)


def meets(lower: float, upper: float, other: tuple[float, float]) -> bool:
    """Whether two intervals with their ends have a point in common."""
    return lower <= other[1] and upper >= other[0]
