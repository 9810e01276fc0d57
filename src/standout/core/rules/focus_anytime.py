"""focus with the goal `anytime`: the lowest error at any time, not the earliest certificate.

A normal distribution with a heavy tail (`standout.core.threshold.doubt`) gives each arm's chance to
stand out. The expected number of wrong arms is the sum of min(chance, 1 - chance).

Most pulls keep the numbers of pulls equal, which the median and the MAD need. While there are too
few pulls for all arms, only a subset is kept equal. The subset is the largest whose arms' noise
does not exceed the spread of the means, where a pull is most informative about the MAD. The other
pulls go to the arm whose next pull reduces the sum most for its cost. A pull makes the arm's own
mean more precise. It also makes theta more precise if the arm may be the median or one MAD from it,
and so the verdicts of all arms near theta. Each arm is pulled infinitely often, so a certificate is
reached, only later.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.rules.base import rule
from standout.core.state import PULLING, PULLS, RULED, Spec, State
from standout.core.threshold.doubt import DOUBT, VARIANCE, own_part, pulls_to_see, rule_chances
from standout.core.typing import Floats

EVEN = 0.6
"""Share of the pulls that goes to the arm with the fewest."""
ROUND, PART = 0.005, 0.05
"""The largest round, as shares of the pulls so far and of the arms. With rounds, many arms are not
computed again after each pull, and processes can measure in parallel."""
FEWEST = 30
"""The smallest number of arms whose pulls are kept equal."""
GOLDEN = 0.6180339887498949
"""The fractional parts of its multiples are evenly spread, so the first arms by them are an evenly
spaced subset in any order of the arms."""


@rule("interval")
def anytime(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arms with the fewest pulls and the most doubtful arms; none if none can be pulled.

    The first rounds pull one arm. Rounds grow with the pulls and contain an arm at most once.
    """
    learnt = False
    size = min(1.0 + ROUND * state.counters[PULLS], max(1.0, PART * spec.n_arms))
    is_chosen = state.scratch
    for i in range(spec.n_arms):
        is_chosen[i] = 0.0 if state.costs[i] < np.inf else 1.0
    count = 0
    while count < int(size):
        picked = -1
        if rng.random() >= EVEN:
            if not learnt:
                rule_chances(spec, state)
                learnt = True
            picked = _most_doubtful(spec, state, is_chosen)
        if picked < 0:
            picked = _fewest(spec, state, rng, _even_share(spec, state), is_chosen)
        if picked < 0:
            picked = _fewest(spec, state, rng, 1.0, is_chosen)
        if picked < 0:
            break
        is_chosen[picked] = 1.0
        state.chosen[count] = picked
        count += 1
    return count


@part()
def _even_share(spec: Spec, state: State) -> float:
    """The share of the arms whose pulls are kept equal."""
    pulls = EVEN * state.counters[PULLS] / spec.n_arms
    return float(max(pulls / max(pulls_to_see(state), 1.0), FEWEST / spec.n_arms))


@part()
def _fewest(
    spec: Spec, state: State, rng: np.random.Generator, share: float, is_chosen: Floats
) -> int:
    """The arm of the subset with the fewest pulls per cost, ties at random.

    -1 if no arm of the subset can be pulled, or all are chosen.
    """
    picked = -1
    best = np.inf
    ties = 1
    for i in range(spec.n_arms):
        if is_chosen[i] > 0.0 or i * GOLDEN % 1.0 > share:
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
def _most_doubtful(spec: Spec, state: State, is_chosen: Floats) -> int:
    """The arm whose next pull reduces the doubt most for its cost; -1 if there is none.

    The doubt about an arm grows with the variance of its distance from theta, which is the sum of
    its own variance and theta's. The evidence of all arms counts as `pulls_to_see` further pulls.
    """
    picked = -1
    best = 0.0
    seen = pulls_to_see(state)
    whole = 0.0
    for i in range(spec.n_arms):
        whole += _doubt(state, i) * (1.0 - own_part(state, state.pulls[i] + seen))
    if state.learnt[0, DOUBT] > 0.0:
        whole *= state.learnt[0, VARIANCE] / state.learnt[0, DOUBT]
    for i in range(spec.n_arms):
        if is_chosen[i] > 0.0:
            continue
        pulls = state.pulls[i] + seen
        score = _doubt(state, i) * own_part(state, pulls)
        score += whole * state.chance[PULLING, i] / pulls
        score /= pulls * state.costs[i]
        if score > best:
            best = score
            picked = i
    return picked


@part()
def _doubt(state: State, arm: int) -> float:
    """The chance that an arm is on the other side than it seems."""
    return float(min(state.chance[RULED, arm], 1.0 - state.chance[RULED, arm]))
