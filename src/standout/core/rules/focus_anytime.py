"""focus with the goal `anytime`: the lowest error at any time, not the earliest certificate.

Most pulls keep all arms even, which is what the estimates of median and MAD
need; the others go to the arm whose side of theta is least clear, the one with
the smallest sqrt(pulls) * |estimate - theta| / sd (the index of APT; Locatelli,
Gutzeit & Carpentier 2016). Every arm is pulled for ever, so the certificate
comes too, only later.
"""

from __future__ import annotations

import numpy as np

from standout.core.intervals import reward_variance
from standout.core.jit import part
from standout.core.rules.base import rule
from standout.core.state import THRESHOLD, Spec, State
from standout.core.threshold.best_guess import shrunken

EVEN = 0.7
"""Part of the pulls that goes to the arm with the fewest."""


@rule("interval")
def anytime(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arm with the fewest pulls, or the least clear one; none if none can be pulled."""
    picked = -1
    if rng.random() >= EVEN:
        picked = _least_clear(spec, state)
    if picked < 0:
        picked = _fewest(spec, state, rng)
    state.chosen[0] = picked
    return 1 if picked >= 0 else 0


@part()
def _fewest(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arm with the fewest pulls per cost, ties at random; -1 if none can be pulled."""
    picked = -1
    best = np.inf
    ties = 1
    for i in range(spec.n_arms):
        value = state.pulls[i] * state.costs[i]
        if value < best:
            best = value
            picked = i
            ties = 1
        elif value == best and value < np.inf:
            ties += 1
            if rng.random() * ties < 1.0:
                picked = i
    return picked


@part("interval")
def _least_clear(spec: Spec, state: State) -> int:
    """The arm with the smallest pulls * (estimate - theta)^2 / variance (and cost).

    -1 while theta has no estimate, or no arm can be pulled.
    """
    picked = -1
    best = np.inf
    for i in range(spec.n_arms):
        scale = state.pulls[i] * state.costs[i] / max(reward_variance(spec, state, i), 1e-300)
        for side in range(len(state.signs)):
            off = shrunken(state, side, i) - state.bounds[side, THRESHOLD]
            if scale * off * off < best:
                best = scale * off * off
                picked = i
    return picked
