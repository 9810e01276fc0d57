"""Hoeffding's inequality with a union over pulls and arms, in three published forms.

Each is sigma * sqrt(2 * L / s) with its own logarithm L; sigma = 1/2 (rewards
in [0, 1]) gives the printed formulas.
"""

from __future__ import annotations

import math

from standout.core.compile import part


@part()
def hoeffding_radius(pulls: int, n_arms: int, delta: float, sigma: float) -> float:
    """The paper's beta_s for sigma-sub-Gaussian rewards: L = log(4 n s^2 / delta).

    The printed radius has sigma = 1/2 built in, which is too small for the
    1-sub-Gaussian rewards that the text assumes.
    """
    log_term = math.log(4.0 * n_arms / delta) + 2.0 * math.log(pulls)
    return sigma * math.sqrt(2.0 * log_term / pulls)


@part()
def released_radius(pulls: int, n_arms: int, delta: float, sigma: float) -> float:
    """The radius of the authors' released code: L = log(pi^2 n s^2 / (3 delta))."""
    log_term = math.log(math.pi**2 * n_arms / (3.0 * delta)) + 2.0 * math.log(pulls)
    return sigma * math.sqrt(2.0 * log_term / pulls)


@part()
def zhuang_radius(pulls: int, n_arms: int, delta: float, sigma: float) -> float:
    """An arm's radius in RR and WRR (Zhuang et al. 2017): n + 1 quantities share delta."""
    return released_radius(pulls, n_arms + 1, delta, sigma)
