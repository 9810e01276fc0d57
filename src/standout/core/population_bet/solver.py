"""The population of a convex set that is hardest to distinguish from a given population.

For each class g of arms the input is the distribution f_g of the readings (as masses of bins), the
share nu_g of the class, and the masses K_g[y, j] of the bins for a mean from cell j. The result is
the weights w_g of the cells that minimise

    sum over g of nu_g KL(f_g || K_g w_g),   w_g >= 0, sum of w_g = 1,
    sum over g of nu_g a_gi . w_g >= b_i     for a few sets i of cells (a is 0 or 1),

The method is an interior-point method: Newton steps with a decreasing logarithmic barrier. It
solves many problems at once, which share bins and shares and differ in the sets and in a few cells
of each class. Any weights give a valid bet (`standout.core.population_bet`), so validity does not
depend on convergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Floats

_STEPS = 90
_SHRINK = 0.2
_BACK = 0.95
_START = 0.3
"""Initial weight of the barrier, over all cells together."""
_CLOSE = 0.7
"""The barrier is lowered where the Newton decrement, in units of its weight, is below this."""
_HALVINGS = 12


@dataclass(frozen=True, eq=False)
class Class:
    """Arms with about the same standard error: their bins, cells and share of all arms."""

    share: float
    target: Floats
    """f_g, one mass per bin"""
    cells: Floats
    """K_g: (bins, cells), common to all problems"""
    own: Floats
    """(problems, bins, cells): the cells of each problem alone"""
    sets: Floats
    """(problems, sets, cells of both kinds): 1 where the cell lies in the set"""


def hardest(classes: list[Class], needed: Floats, start: list[Floats], gap: float) -> list[Floats]:
    """Weights of the cells, (problems, cells) for each class.

    `needed` are the b_i, `start` is a strictly feasible point, and `gap` is the accepted distance
    from the minimum, in nats.
    """
    count = sum(weights.shape[1] for weights in start) + len(needed[0])
    kernels = [_kernel(one) for one in classes]
    w = [weights.copy() for weights in start]
    mu = np.full((len(needed), 1), _START / count)
    for _ in range(_STEPS):
        s = _sums(classes, w) - needed
        dw, decrement = _direction(classes, kernels, w, s, mu)
        is_close = decrement < _CLOSE * mu
        if bool((is_close & (mu * count <= gap)).all()):
            break
        step = _longest([*zip(w, dw, strict=True), (s, _sums(classes, dw))])
        step = _shortened(classes, kernels, w, dw, needed, mu, step, decrement)
        w = [each + step * change for each, change in zip(w, dw, strict=True)]
        mu = np.where(is_close, np.maximum(_SHRINK * mu, 0.9 * gap / count), mu)
    return w


def _kernel(one: Class) -> Floats:
    common = np.broadcast_to(one.cells, (len(one.own), *one.cells.shape))
    found: Floats = np.ascontiguousarray(np.concatenate([common, one.own], axis=2))
    return found


def _sums(classes: list[Class], weights: list[Floats]) -> Floats:
    """The share of all arms in each set, (problems, sets)."""
    parts = [
        one.share * (one.sets @ w[:, :, None])[:, :, 0]
        for one, w in zip(classes, weights, strict=True)
    ]
    found: Floats = np.add.reduce(parts)
    return found


def _direction(
    classes: list[Class], kernels: list[Floats], w: list[Floats], s: Floats, mu: Floats
) -> tuple[list[Floats], Floats]:
    """The Newton step for the weights, and the squared decrement (a column).

    The system has one block per class, coupled only by the sets. If t is the change of the sets'
    sums, the step is p - Q (mu / s^2) t, and t solves a small linear system.
    """
    plain, tilted, slopes = [], [], []
    coupling = np.zeros((len(s), s.shape[1], s.shape[1]))
    along = np.zeros_like(s)
    for g, one in enumerate(classes):
        k = kernels[g]
        q = (k @ w[g][:, :, None])[:, :, 0]
        ratio = one.target / q
        matrix = np.matmul(k.transpose(0, 2, 1), k * (one.share * ratio / q)[:, :, None])
        diagonal = np.arange(matrix.shape[1])
        matrix[:, diagonal, diagonal] += mu / w[g] ** 2
        sets = one.share * one.sets
        downhill = one.share * (ratio[:, None, :] @ k)[:, 0, :]
        downhill += ((mu / s)[:, None, :] @ sets)[:, 0, :] + mu / w[g]
        sides = np.concatenate(
            [downhill[:, :, None], sets.transpose(0, 2, 1), np.ones((*w[g].shape, 1))], axis=2
        )
        solved = np.linalg.solve(matrix, sides)
        even = solved[:, :, -1:]
        solved = solved[:, :, :-1] - even * (
            solved[:, :, :-1].sum(axis=1, keepdims=True) / even.sum(axis=1, keepdims=True)
        )
        slopes.append(downhill)
        plain.append(solved[:, :, 0])
        tilted.append(solved[:, :, 1:])
        coupling += sets @ solved[:, :, 1:]
        along += (sets @ solved[:, :, :1])[:, :, 0]
    weight = mu / s**2
    system = np.eye(s.shape[1]) + coupling * weight[:, None, :]
    t = np.linalg.solve(system, along[:, :, None])
    steps = [
        p - (q @ (weight[:, :, None] * t))[:, :, 0] for p, q in zip(plain, tilted, strict=True)
    ]
    decrement = np.add.reduce(
        [(a * b).sum(axis=1, keepdims=True) for a, b in zip(slopes, steps, strict=True)]
    )
    return steps, decrement


def _shortened(
    classes: list[Class],
    kernels: list[Floats],
    w: list[Floats],
    dw: list[Floats],
    needed: Floats,
    mu: Floats,
    step: Floats,
    decrement: Floats,
) -> Floats:
    """The step after backtracking: halved until the objective with the barrier decreases."""
    before = _objective(classes, kernels, w, needed, mu)
    for _ in range(_HALVINGS):
        tried = [each + step * change for each, change in zip(w, dw, strict=True)]
        after = _objective(classes, kernels, tried, needed, mu)
        is_worse = after > before - 1e-3 * step * decrement + 1e-12
        if not is_worse.any():
            break
        step = np.where(is_worse, 0.5 * step, step)
    return step


def _objective(
    classes: list[Class], kernels: list[Floats], w: list[Floats], needed: Floats, mu: Floats
) -> Floats:
    total: Floats = -mu * np.log(_sums(classes, w) - needed).sum(axis=1, keepdims=True)
    for one, k, weights in zip(classes, kernels, w, strict=True):
        q = (k @ weights[:, :, None])[:, :, 0]
        total = total - one.share * (one.target * np.log(q)).sum(axis=1, keepdims=True)
        total = total - mu * np.log(weights).sum(axis=1, keepdims=True)
    return total


def _longest(pairs: list[tuple[Floats, Floats]]) -> Floats:
    """The longest step, at most 1, that keeps all values positive (a column)."""
    step = np.full((len(pairs[0][0]), 1), np.inf)
    for values, changes in pairs:
        with np.errstate(divide="ignore"):
            ratio = np.where(changes < 0, -values / np.minimum(changes, -1e-300), np.inf)
        step = np.minimum(step, ratio.min(axis=1, keepdims=True))
    return np.minimum(1.0, _BACK * step)


def divergences(classes: list[Class], weights: list[Floats]) -> Floats:
    """KL(f || K w) per arm of each problem, in nats."""
    total = np.zeros(len(weights[0]))
    for one, w in zip(classes, weights, strict=True):
        q = (_kernel(one) @ w[:, :, None])[:, :, 0]
        target = one.target
        seen = target > 0
        total += one.share * (target[seen] * np.log(target[seen] / q[:, seen])).sum(axis=1)
    return total
