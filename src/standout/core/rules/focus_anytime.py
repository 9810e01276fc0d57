"""focus with the goal `anytime`: the lowest error at any time, not the earliest certificate.

What all arms together say of each (`standout.core.threshold.population`) gives each arm's chance
to stand out, and so the wrong arms to expect: the sum of min(chance, 1 - chance). Most pulls keep
all arms even, which is what median and MAD need; the others go to the arm of which that sum
expects most for its pulls and cost: an arm that is still in doubt after so many pulls takes about
as many more to become clear. Every arm is pulled for ever, so the certificate
comes too, only later.
"""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.rules.base import rule
from standout.core.state import RULED, Spec, State
from standout.core.threshold.population import rule_chances

EVEN = 0.6
"""Part of the pulls that goes to the arm with the fewest."""


@rule("interval")
def anytime(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arm with the fewest pulls, or the most doubtful one; none if none can be pulled."""
    picked = -1
    if rng.random() >= EVEN:
        rule_chances(spec, state)
        picked = _most_doubtful(spec, state)
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


@part()
def _most_doubtful(spec: Spec, state: State) -> int:
    """The arm with the largest min(chance, 1 - chance) / (pulls * cost).

    -1 if no arm that can be pulled is in doubt.
    """
    picked = -1
    best = 0.0
    for i in range(spec.n_arms):
        doubt = min(state.chance[RULED, i], 1.0 - state.chance[RULED, i])
        score = doubt / (max(state.pulls[i], 1) * state.costs[i])
        if score > best:
            best = score
            picked = i
    return picked
