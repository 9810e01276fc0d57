"""focus with the goal `anytime`: the lowest error at any time, not the earliest certificate.

A bell with a tail around the estimates (`standout.core.threshold.doubt`) gives each arm's chance to
stand out, and the expected number of wrong arms: the sum of min(chance, 1 - chance). Most pulls
keep the numbers of pulls equal, which median and MAD need. While there are too few pulls for all
arms, this holds for a subset, chosen so large that each arm's noise is no larger than the spread of
the means, where a pull says most about the MAD. The other pulls go to the arm that contributes most
to the sum for its pulls and cost: an arm that is in doubt after some pulls takes about the same
number again to become clear. Every arm is pulled infinitely often, so the certificate comes, too,
but later.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.rules.base import rule
from standout.core.state import PULLS, RULED, Spec, State
from standout.core.threshold.doubt import own_part, pulls_to_see, rule_chances

EVEN = 0.6
"""Share of the pulls that goes to the arm with the fewest."""
FEWEST = 30
"""The smallest number of arms whose pulls are kept equal."""
GOLDEN = 0.6180339887498949
"""The fractional parts of its multiples are evenly spread, so the first arms by them are an evenly
spaced subset in any order of the arms."""


@rule("interval")
def anytime(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arm with the fewest pulls, or the most doubtful one; none if none can be pulled."""
    picked = -1
    if rng.random() >= EVEN:
        rule_chances(spec, state)
        picked = _most_doubtful(spec, state)
    if picked < 0:
        picked = _fewest(spec, state, rng, _even_share(spec, state))
    if picked < 0:
        picked = _fewest(spec, state, rng, 1.0)
    state.chosen[0] = picked
    return 1 if picked >= 0 else 0


@part()
def _even_share(spec: Spec, state: State) -> float:
    """The share of the arms that are kept even: no more than can be seen well."""
    pulls = EVEN * state.counters[PULLS] / spec.n_arms
    return float(max(pulls / max(pulls_to_see(state), 1.0), FEWEST / spec.n_arms))


@part()
def _fewest(spec: Spec, state: State, rng: np.random.Generator, share: float) -> int:
    """Of a share of the arms the one with the fewest pulls per cost, ties at random; or -1.

    -1 if none of them can be pulled.
    """
    picked = -1
    best = np.inf
    ties = 1
    for i in range(spec.n_arms):
        if i * GOLDEN % 1.0 > share:
            continue
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
    """The arm whose doubt falls most per pull and cost; -1 if none that can be pulled is in doubt.

    What all arms say counts as `pulls_to_see` pulls, so that with these an arm has to be pulled as
    often again to become clear. And no pulls of it help where theta is what is unclear.
    """
    picked = -1
    best = 0.0
    seen = pulls_to_see(state)
    for i in range(spec.n_arms):
        doubt = min(state.chance[RULED, i], 1.0 - state.chance[RULED, i])
        pulls = state.pulls[i] + seen
        score = doubt * own_part(state, pulls) / (pulls * state.costs[i])
        if score > best:
            best = score
            picked = i
    return picked
