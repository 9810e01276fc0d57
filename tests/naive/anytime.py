"""Anytime-valid bounds as likelihood ratios: a mean is kept while its ratio is below 1/alpha."""

from __future__ import annotations

import math
from collections.abc import Callable


def mixture_radius(s: int, alpha: float, sigma: float, rho: float) -> float:
    """sigma sqrt((s + rho)(log(1 + s/rho) + 2 log(1/alpha)))/s."""
    inside = (s + rho) * (math.log(1 + s / rho) + 2 * math.log(1 / alpha))
    return sigma * math.sqrt(inside) / s


def weights_of(s: int, rho: float, scales: int) -> list[tuple[float, float]]:
    """Each rho in use after s pulls, a tenth of the one before, and its weight: 3/4 for the first.

    In use are the largest for which s is 15 times as large (or the smallest), and its
    neighbours; the first alone, if it is that.
    """
    if scales == 1:
        return [(rho, 1.0)]
    all_of_them = [(rho / 10**j, 0.75 if j == 0 else 0.25 / (scales - 1)) for j in range(scales)]
    fits = [j for j, (each, _) in enumerate(all_of_them) if s >= 15 * each]
    best = fits[0] if fits else scales - 1
    return all_of_them[:1] if best == 0 else all_of_them[best - 1 : best + 2]


def averaged(log_ratio: Callable[[float], float], s: int, rho: float, scales: int) -> float:
    """Logarithm of the average of the ratios over all rho in use after s pulls."""
    terms = [math.log(weight) + log_ratio(r) for r, weight in weights_of(s, rho, scales)]
    most = max(terms)
    return most + math.log(sum(math.exp(term - most) for term in terms))


def mixture_log_ratio(off: float, s: int, sigma: float, rho: float) -> float:
    """The mixture over N(0, 1/rho) where the mean of s rewards lies `off` from y."""
    return 0.5 * math.log(rho / (s + rho)) + (s * off / sigma) ** 2 / (2 * (s + rho))


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


def bernstein_radius(rewards: list[float], alpha: float, terms: int = 80) -> float:
    """Rewards in [0, 1]; the best of lambda = 2^(-1 - .75 j), each at its share of alpha / 2.

    Half of it for the first twelve alike, half for the others: 1/2, 1/6, 1/12, ... of that.
    """
    s = len(rewards)
    variation = 0.0
    total = 0.0
    for t, x in enumerate(rewards):
        variation += (x - (total + 0.5) / (t + 1)) ** 2
        total += x
    best = math.inf
    for j in range(terms):
        i = j - 11
        share = alpha / 4 / (12 if j < 12 else i * (i + 1))
        strength = 2 ** (-1 - 0.75 * j)
        psi = -math.log1p(-strength) - strength
        best = min(best, (math.log(1 / share) + psi * variation) / (strength * s))
    return best


def betting_log_capital(rewards: list[float], y: float, strengths: list[float]) -> float:
    """What bets on rewards above y hold, averaged over the strengths with weights 1/(3 + |j - 10|).

    Rewards in [0, 1]; each reward multiplies a bet by 1 + lambda (x - y).
    """
    weights = [1 / (3 + abs(j - 10)) for j in range(len(strengths))]
    total = 0.0
    for weight, t in zip(weights, strengths, strict=True):
        bet = t / (1 + t * y)
        total += weight * math.prod(1 + bet * (x - y) for x in rewards)
    return math.log(total / sum(weights)) if total > 0 else -math.inf


def beta_binomial_ends(
    successes: float, failures: float, alpha: float, rho: float, scales: int
) -> tuple[float, float]:
    """The means whose ratio is below 1/alpha, by bisection on each side of the mean."""
    limit = math.log(1 / alpha)
    s = int(successes + failures)
    mean = successes / s

    def ratio(q: float) -> float:
        return averaged(lambda r: bernoulli_log_ratio(successes, failures, q, r), s, rho, scales)

    def end(outer: float) -> float:
        inner = min(max(mean, 1e-13), 1 - 1e-13)
        if ratio(outer) < limit:
            return round(outer)
        for _ in range(200):
            middle = (outer + inner) / 2
            if ratio(middle) >= limit:
                outer = middle
            else:
                inner = middle
        return outer

    return end(1e-13), end(1 - 1e-13)


def heavy_log_ratios(
    rewards: list[float], y: float, strengths: list[float], middle: float, sigma: float
) -> list[float]:
    """Each lambda's two log supermartingales at y; the first reward is only the first centre.

    The next centre is the mean of the former centres, each moved by psi / lambda
    of what came, with lambda = `middle`.
    """
    centres = [rewards[0]]
    moved = 0.0
    for t, x in enumerate(rewards[1:], start=1):
        moved += centres[-1] + _psi(middle * (x - centres[-1])) / middle
        centres.append(moved / t)
    logs = []
    for strength in strengths:
        up = down = 0.0
        for x, c in zip(rewards[1:], centres, strict=False):
            off = y - c
            spread = strength**2 * (sigma**2 + off**2) / 2
            up += _psi(strength * (x - c)) - strength * off - spread
            down += -_psi(strength * (x - c)) + strength * off - spread
        logs += [up, down]
    return logs


def _psi(x: float) -> float:
    return math.copysign(math.log(1 + abs(x) + x * x / 2), x)


def dubins_savage(s: int, share: float, slope: float, sigma: float) -> float:
    """Radius a/s + b sigma^2 with 1/(1 + a b) = share, on each side."""
    return (1 / share - 1) / slope / s + slope * sigma**2
