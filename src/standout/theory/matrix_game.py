"""The value of a matrix game, by an interior-point method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Floats

MAX_STEPS = 100


@dataclass(frozen=True, eq=False)
class GameSolution:
    """Mixed strategies and their guaranteed values."""

    columns: Floats
    """w, of the maximising player: every row is worth at least `floor`"""
    rows: Floats
    """p, of the minimising player: no column is worth more than `ceiling`"""
    floor: float
    ceiling: float


def solve_game(payoffs: Floats, accuracy: float = 1e-6) -> GameSolution:
    """max over w of min over p of p' A w, to a relative `accuracy`, for A >= 0.

    Follows the central path of the two linear programs, both feasible throughout,
    so that `floor` and `ceiling` hold (up to rounding) however early it ends. A
    rough accuracy leaves w in the middle of the good ones, which suits cutting planes.
    """
    scale = float(np.median(payoffs.max(axis=1))) or 1.0
    a = np.minimum(payoffs / scale, 1e12)
    j, n = a.shape
    w, p = np.full(n, 1 / n), np.full(j, 1 / j)
    spread = max(float(np.ptp(a @ w)), float(np.ptp(p @ a)), 1e-3 * float((a @ w).max()), 1e-300)
    v, u = float((a @ w).min()) - spread, float((p @ a).max()) + spread
    for _ in range(MAX_STEPS):
        s, x = a @ w - v, u - p @ a
        gap = float(w @ x + p @ s)
        if gap <= accuracy * max(float((p @ a).max()), 1e-300):
            break
        dw, dp, dv, du = _newton(a, w, p, s, x, 0.1 * gap / (n + j))
        dx, ds = du - dp @ a, a @ dw - dv
        step = min(1.0, 0.95 * min(map(_longest, (w, p, s, x), (dw, dp, ds, dx))))
        w, p = w + step * dw, p + step * dp
        w, p = w / w.sum(), p / p.sum()
        v = min(v + step * dv, float((a @ w).min()) * (1 - 1e-15))
        u = max(u + step * du, float((p @ a).max()) * (1 + 1e-15))
        if step < 1e-9:
            break
    return GameSolution(w, p, scale * float((a @ w).min()), scale * float((p @ a).max()))


def _newton(
    a: Floats, w: Floats, p: Floats, s: Floats, x: Floats, target: float
) -> tuple[Floats, Floats, float, float]:
    """The step towards w x = p s = target, for strategies and values."""
    first, second = target / x - w, target / s - p
    inverse, weight = x / w, p / s
    matrix = (a.T * weight) @ a
    matrix[np.diag_indices_from(matrix)] += inverse
    right = np.stack([inverse * first + a.T @ second, -np.ones(w.size), a.T @ weight], axis=1)
    start, by_u, by_v = np.linalg.solve(matrix, right).T
    # dw = start + du by_u + dv by_v and dp = second - weight (a dw - dv) must sum to 0.
    sums = np.array(
        [
            [by_u.sum(), by_v.sum()],
            [-(weight @ (a @ by_u)), weight.sum() - weight @ (a @ by_v)],
        ]
    )
    constants = np.array([-start.sum(), weight @ (a @ start) - second.sum()])
    du, dv = np.linalg.solve(sums, constants)
    dw = start + du * by_u + dv * by_v
    return dw, second - weight * (a @ dw - dv), float(dv), float(du)


def _longest(value: Floats, change: Floats) -> float:
    """The longest step along `change` that keeps `value` positive."""
    falls = change < 0
    return float(np.min(-value[falls] / change[falls], initial=np.inf))
