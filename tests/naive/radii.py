"""Radii of an arm's interval after s pulls, as printed, for rewards in [0, 1] (sigma = 1/2).

For another sigma they scale with 2 sigma.
"""

from __future__ import annotations

import math


def paper(s: int, n: int, delta: float, sigma: float = 0.5) -> float:
    """beta_s of the paper."""
    return 2 * sigma * math.sqrt(math.log(4 * n * s**2 / delta) / (2 * s))


def released(s: int, n: int, delta: float, sigma: float = 0.5) -> float:
    """The authors' code."""
    return 2 * sigma * math.sqrt(math.log(math.pi**2 * n * s**2 / (3 * delta)) / (2 * s))


def zhuang(s: int, n: int, delta: float, sigma: float = 0.5) -> float:
    """RR and WRR: n arms and the threshold share delta."""
    return 2 * sigma * math.sqrt(math.log(math.pi**2 * (n + 1) * s**2 / (3 * delta)) / (2 * s))
