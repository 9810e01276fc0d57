"""The threshold mean + k * std of RR and WRR (Zhuang et al. 2017), k never scaled."""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State


@part()
def variance_constant(n_arms: int, k: float) -> float:
    """g = (1 + k sqrt(n - 1))^2 / n."""
    return (1.0 + k * math.sqrt(n_arms - 1.0)) ** 2 / n_arms


@part()
def threshold_constant(n_arms: int, k: float, delta: float) -> float:
    """l = (sqrt(g) + sqrt(k^2 / (2 log(pi^2 n^3 / (6 delta)))))^2, in the threshold's radius."""
    log_term = math.log(math.pi**2 * float(n_arms) ** 3 / (6.0 * delta))
    correction = k**2 / (2.0 * log_term)
    return (math.sqrt(variance_constant(n_arms, k)) + math.sqrt(correction)) ** 2


@part()
def quota_step(n_arms: int, k: float, delta: float) -> float:
    """rho = ((n - 1)^2 / l)^(1/3), the pulls of an undecided arm per visit of WRR."""
    return float(((n_arms - 1.0) ** 2 / threshold_constant(n_arms, k, delta)) ** (1.0 / 3.0))


@part()
def mean_std_interval(spec: Spec, state: State, side: int) -> None:
    """Interval of mean + k * std (RR and WRR), from the estimates and pulls."""
    estimate = state.estimate[side]
    bounds = state.bounds[side]
    n = spec.n_arms
    total = 0.0
    pulls = 0.0  # Includes pulls from before the run, which the counter excludes.
    inverse_pulls = 0.0
    for i in range(n):
        if state.pulls[i] == 0:
            return
        total += estimate[i]
        pulls += state.pulls[i]
        inverse_pulls += 1.0 / state.pulls[i]
    mean = total / n
    squares = 0.0
    for i in range(n):
        squares += (estimate[i] - mean) ** 2
    centre = mean + spec.k * math.sqrt(squares / n)
    harmonic = n / inverse_pulls
    log_term = math.log(math.pi**2 * n * pulls**2 / (3.0 * spec.delta))
    inflation = threshold_constant(n, spec.k, spec.delta)
    radius = spec.sigma * math.sqrt(2.0 * inflation * log_term / harmonic)
    bounds[THRESHOLD_LOWER] = centre - radius
    bounds[THRESHOLD_UPPER] = centre + radius
