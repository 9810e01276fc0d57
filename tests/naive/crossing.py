"""The crossing bet, word for word: every batch of every arm, one reward after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from standout.core import robust
from standout.core.state import State


def gaussian(before: Sequence[float], batch: Sequence[float], p: float, sigma: float, kappa: float):
    """Logarithm of the likelihood ratio of a batch, and whether the estimate lies above p."""
    off = (sum(before) / len(before) - p) / sigma
    z = len(before) * off**2
    stake = off * z / (z + kappa)
    return sum(stake * (x - p) / sigma - stake**2 / 2 for x in batch), off > 0


def bernoulli(before: Sequence[float], batch: Sequence[float], p: float, _: float, kappa: float):
    """The same of rewards in [0, 1], by their mean alone."""
    mean = (sum(before) + 0.5) / (len(before) + 1)
    if (p >= 1 - 1e-9) if mean > p else (p <= 1e-9):
        return 0.0, mean > p
    p = min(max(p, 1e-9), 1 - 1e-9)
    z = len(before) * (mean - p) ** 2 / max(mean * (1 - mean), p * (1 - p))
    other = p + z / (z + kappa) * (mean - p)
    value = sum(x * math.log(other / p) + (1 - x) * math.log((1 - other) / (1 - p)) for x in batch)
    return value, mean > p


def bounded(before: Sequence[float], batch: Sequence[float], p: float, _: float, kappa: float):
    """The same with a variance."""
    n = len(before)
    mean = (sum(before) + 0.5) / (n + 1)
    squares = sum(x * x for x in before) - sum(before) ** 2 / n
    variance = (max(squares, 0.0) + 0.25) / (n + 1)
    is_above = mean > p
    if (p >= 1) if is_above else (p <= 0):
        return 0.0, is_above
    p = min(max(p, 0.0), 1.0)
    off = abs(mean - p)
    far = p if is_above else 1 - p
    stake = off / (variance + off**2) * (z := n * off**2 / variance) / (z + kappa)
    stake = min(stake, 0.5 / far) if far > 0 else stake
    c = stake * far
    psi = 0.5 + c if c < 1e-3 else (-math.log1p(-c) - c) / c**2
    steps = [(x - p) if is_above else (p - x) for x in batch]
    return sum(stake * s - psi * (stake * s) ** 2 for s in steps), is_above


GAINS = {"gaussian": gaussian, "bernoulli": bernoulli, "bounded": bounded}


def evidence(
    noise: str, rewards: Sequence[float], ends: Sequence[int], p: float, sigma: float, kappa: float
) -> tuple[float, float]:
    """Nats that p is too low for the mean, and that it is too high; `ends` of batches, the first
    of which is where the stage begins."""
    too_low = too_high = 0.0
    for begin, end in zip(ends, [*ends[1:], len(rewards)], strict=True):
        gain, is_above = GAINS[noise](rewards[:begin], rewards[begin:end], p, sigma, kappa)
        too_low += gain if is_above else 0.0
        too_high += 0.0 if is_above else gain
    return too_low, too_high


def cell(x: float, means: np.ndarray, factor: float, tolerance: float) -> tuple[float, float]:
    """The lower and the upper end of the cell that x is in."""
    m, d = robust.median(means), robust.mad(means)
    edge = m + factor * d
    lower, upper = -math.inf, math.inf
    for boundary in (m - d, m, m + d):
        if x <= boundary:
            upper = min(upper, boundary)
        if x >= boundary:
            lower = max(lower, boundary)
    for boundary in (edge - tolerance, edge + tolerance):
        if x <= boundary:
            upper = min(upper, boundary)
        else:
            lower = max(lower, boundary)
    return lower, upper


def grid_of(low: float, step: float) -> np.ndarray:
    """All points of an arm's grid."""
    close = low + step * np.arange(384)
    far = 16 * step * np.arange(1, 65)
    return np.concatenate([low - far[::-1], close, close[-1] + far])


def cost(
    points: np.ndarray, too_low: np.ndarray, too_high: np.ndarray, ends: tuple[float, float],
    share: float,
) -> float:  # fmt: skip
    """An arm's cost in the cell with these ends: the bets against the next points outside."""
    lower, upper = ends
    value = 0.0
    if upper < math.inf and (above := np.flatnonzero(points >= upper)).size:
        value += too_low[above[0]]
    if lower > -math.inf and (below := np.flatnonzero(points <= lower)).size:
        value += too_high[below[-1]]
    return math.log(1 - share + share * math.exp(value)) if value < 600 else value


def points_of(state: State, stage: int, arm: int) -> np.ndarray:
    """All points of an arm's grid."""
    bet = state.crossing
    return state.origin[arm] + grid_of(bet.low[stage, arm], bet.step[stage, arm])


def joint(
    state: State, stage: int, side: int, oriented: np.ndarray, tolerance: float, share: float
) -> float:
    """J of these means, in a side's orientation, from tables that are up to date."""
    sign, bet = state.signs[side], state.crossing
    total = 0.0
    for arm, x in enumerate(oriented):
        if state.costs[arm] == math.inf or bet.step[stage, arm] <= 0.0:
            continue
        lower, upper = cell(x, oriented, float(state.factors[side]), tolerance)
        ends = (lower, upper) if sign > 0 else (-upper, -lower)
        points = points_of(state, stage, arm)
        total += cost(points, bet.too_low[arm], bet.too_high[arm], ends, share)
    return total
