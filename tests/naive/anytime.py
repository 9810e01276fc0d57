"""Anytime-valid bounds as likelihood ratios: a mean is kept while its ratio is below 1/alpha."""

from __future__ import annotations

import math


def mixture_radius(s: int, alpha: float, sigma: float, rho: float) -> float:
    """sigma sqrt((s + rho)(log(1 + s/rho) + 2 log(1/alpha)))/s."""
    inside = (s + rho) * (math.log(1 + s / rho) + 2 * math.log(1 / alpha))
    return sigma * math.sqrt(inside) / s


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def bernoulli_log_ratio(successes: int, failures: int, q: float, rho: float) -> float:
    """A Beta(rho q, rho (1 - q)) mixture against q."""
    a, b = rho * q, rho * (1 - q)
    mixed = log_beta(a + successes, b + failures) - log_beta(a, b)
    return mixed - successes * math.log(q) - failures * math.log(1 - q)


def student_log_ratio(rewards: list[float], y: float, c: float) -> float:
    s = len(rewards)
    mean = sum(rewards) / s
    squares = sum((x - mean) ** 2 for x in rewards)
    d = (mean - y) ** 2
    ratio = (s + c) * (squares + s * d) / ((s + c) * squares + s * c * d)
    return 0.5 * math.log(c / (s + c)) + s / 2 * math.log(ratio)


def bernstein_radius(rewards: list[float], alpha: float, strengths: list[float]) -> float:
    """Rewards in [0, 1]; the best of a grid, alpha / 2 shared over it and both sides."""
    s = len(rewards)
    variation = 0.0
    total = 0.0
    for t, x in enumerate(rewards):
        variation += (x - (total + 0.5) / (t + 1)) ** 2
        total += x
    share = alpha / (2 * len(strengths))
    return min(
        (math.log(1 / share) + (-math.log(1 - strength) - strength) * variation) / (strength * s)
        for strength in strengths
    )
