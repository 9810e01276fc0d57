"""Chances by a bell with a tail, by plain formulas, as `standout.core.threshold.doubt` has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

from tests.naive.order import kth_largest, median_rank


class Arm(NamedTuple):
    """An arm's pulls, oriented estimate and the variance of one reward."""

    pulls: int
    estimate: float
    variance: float


class Bell(NamedTuple):
    """The means' centre and scale, theta with its variance, and the rewards' mean variance."""

    centre: float
    scale: float
    theta: float
    doubt: float
    variance: float


def bell(
    arms: Sequence[Arm],
    centre: float,
    mad: float,
    factor: float,
    certain: tuple[float, float],
    caution: float,
) -> Bell:
    """The bell of arms that all have rewards; `mad` is that of their estimates."""
    n, m = len(arms), median_rank(len(arms))
    variance = sum(arm.variance for arm in arms) / n
    noise = kth_largest([arm.variance / arm.pulls for arm in arms], m)
    square = _scale(arms, centre, 1.4826 * mad, variance) ** 2
    known = [square / (square + variance / arm.pulls) for arm in arms]
    of_centre = 0.5 * math.pi / sum(known)
    of_scale = (factor / 1.4826) ** 2 / sum(2 * each**2 for each in known)
    doubt = square * (of_centre + of_scale) * noise / (noise + square)
    theta = centre + factor / 1.4826 * math.sqrt(square) + caution * math.sqrt(doubt)
    theta = min(max(theta, certain[0]), certain[1])
    return Bell(centre, math.sqrt(square), theta, doubt, variance)


def _square_error(arm: Arm, variance: float) -> float:
    return (arm.pulls * arm.variance + 5 * variance) / (arm.pulls + 5) / arm.pulls


def _scale(arms: Sequence[Arm], centre: float, spread: float, variance: float) -> float:
    scales = [1.2 * 0.8**j * spread for j in range(11)]
    logs = []
    for scale in scales:
        total = -6 * math.log(scale / spread) ** 2
        for arm in arms:
            own = _square_error(arm, variance)
            near, far = (
                stats.norm(centre, math.sqrt(wide**2 + own)).pdf(arm.estimate)
                for wide in (scale, 5 * scale)
            )
            total += math.log(0.95 * near + 0.05 * far)
        logs.append(total)
    weights = [math.exp(each - max(logs)) for each in logs]
    return sum(w * scale for w, scale in zip(weights, scales, strict=True)) / sum(weights)


def chance(arm: Arm, known: Bell) -> float:
    """P(the arm's mean > theta)."""
    own = _square_error(arm, known.variance)
    total, weights = 0.0, 0.0
    for share, scale in ((0.95, known.scale), (0.05, 5 * known.scale)):
        weight = share * stats.norm(known.centre, math.hypot(scale, math.sqrt(own))).pdf(
            arm.estimate
        )
        part = scale**2 / (scale**2 + own)
        middle = known.centre + part * (arm.estimate - known.centre)
        spread = math.sqrt(part * own + known.doubt)
        total += weight * stats.norm(middle, spread).sf(known.theta)
        weights += weight
    return float(total / weights)


def refined(
    arms: Sequence[Arm], known: Bell, mad: float, factor: float
) -> tuple[float, float, list[float]]:
    """Theta without caution, its doubt, and the square by which each arm's mean moves it.

    `mad` is that of the estimates.
    """
    noise = kth_largest([arm.variance / arm.pulls for arm in arms], median_rank(len(arms)))
    square = known.scale**2
    share = noise / (noise + square)
    own = math.sqrt(max(mad**2 - 0.4549 * noise, 0.25 * mad**2))
    off = share * known.scale / 1.4826 + (1 - share) * own
    errors = [_square_error(arm, known.variance) for arm in arms]
    means = [
        stats.norm(
            square / (square + error) * (arm.estimate - known.centre),
            math.sqrt(square * error / (square + error)),
        )
        for arm, error in zip(arms, errors, strict=True)
    ]
    middle, above, below = ([mean.pdf(at) for mean in means] for at in (0.0, off, -off))
    around = sum(above) + sum(below)
    of_median = 1 - factor * (sum(above) - sum(below)) / around
    moves = [
        (of_median * m / sum(middle) + factor * (a - b) / around) ** 2
        for m, a, b in zip(middle, above, below, strict=True)
    ]
    doubt = sum(move * mean.var() for move, mean in zip(moves, means, strict=True))
    return known.centre + factor * off, max(known.doubt, doubt), moves
