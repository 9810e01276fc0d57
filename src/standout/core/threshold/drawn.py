"""The threshold mean + k * std from pairs of rewards of arms drawn at random.

An arm I is drawn uniformly and gives two rewards x, x', scaled to [-1/2, 1/2]. Then (x + x') / 2
has the mean mu of all means, and x x' the mean nu of their squares, since the two are independent
given I; so theta = mu + k sqrt(nu - mu^2). After m such pairs the first average lies within

    r = sqrt(log(2 pi^2 m^2 / (3 delta)) / (2 m))

of mu and the second within r / 2 of nu, for all m at once, except with probability delta
(Hoeffding: four tails, each with the share 6 delta / (4 pi^2 m^2)). r does not depend on the number
of arms. Theta's interval is its exact range over the remaining mu and nu, intersected with all
earlier intervals. For a given nu, theta is concave in mu, largest at mu = sqrt(nu / (1 + k^2)) and
smallest at an end of mu's interval or where nu = mu^2.

Only the first two rewards after each random draw count here, one pair per draw: other rewards are
not independent. Rewards that no rule asked for are not used for the threshold.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.state import (
    DRAWN_ARM,
    DRAWN_FIRST,
    DRAWN_PAIRS,
    DRAWN_PRODUCTS,
    DRAWN_SUM,
    DRAWN_WAITS,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)


@part()
def note_drawn(spec: Spec, state: State, arm: int, reward: float) -> None:
    """Count a reward for the threshold if the rule drew its arm for the threshold."""
    notes = state.guesses[0]
    if notes[DRAWN_ARM] != arm + 1.0:
        return
    # Relative to the middle, so that mirrored rewards give exactly mirrored shares.
    middle = 0.5 * spec.low + 0.5 * spec.high
    share = min(max((reward - middle) / (spec.high - spec.low), -0.5), 0.5)
    if notes[DRAWN_WAITS] == 0.0:
        notes[DRAWN_FIRST] = share
        notes[DRAWN_WAITS] = 1.0
        return
    notes[DRAWN_PAIRS] += 1.0
    notes[DRAWN_SUM] += 0.5 * (notes[DRAWN_FIRST] + share)
    notes[DRAWN_PRODUCTS] += notes[DRAWN_FIRST] * share
    notes[DRAWN_ARM] = 0.0
    notes[DRAWN_WAITS] = 0.0


@part()
def pairs_radius(pairs: float, delta: float) -> float:
    """r, the largest error of the average; that of the average product is half of it."""
    return math.sqrt(math.log(2.0 * math.pi**2 * pairs**2 / (3.0 * delta)) / (2.0 * pairs))


@part()
def _theta(mu: float, nu: float, k: float) -> float:
    return mu + k * math.sqrt(max(0.0, nu - mu * mu))


@part()
def drawn_interval(spec: Spec, state: State, side: int) -> None:
    """Theta's interval from the pairs so far; unchanged before the first pair."""
    notes = state.guesses[0]
    pairs = notes[DRAWN_PAIRS]
    if pairs == 0.0:
        return
    k = spec.k
    radius = pairs_radius(pairs, spec.delta)
    centre = state.signs[side] * notes[DRAWN_SUM] / pairs
    square = notes[DRAWN_PRODUCTS] / pairs
    least = max(0.0, square - 0.5 * radius)
    most = max(0.0, min(0.25, square + 0.5 * radius))
    farthest = math.sqrt(most)  # mu^2 is at most nu
    left = max(-farthest, centre - radius)
    right = min(farthest, centre + radius)
    if left > right:  # Some average was off by more than its radius.
        return
    highest = _theta(min(max(math.sqrt(most / (1.0 + k * k)), left), right), most, k)
    bend = min(max(math.sqrt(least), left), right)
    lowest = min(_theta(left, least, k), _theta(bend, least, k), _theta(right, least, k))
    span = spec.high - spec.low
    middle = state.signs[side] * (0.5 * spec.low + 0.5 * spec.high)
    bounds = state.bounds[side]
    lower = max(bounds[THRESHOLD_LOWER], middle + span * lowest)
    upper = min(bounds[THRESHOLD_UPPER], middle + span * highest)
    # They cross only if an average was off by more than its radius, with probability delta.
    if lower <= upper:
        bounds[THRESHOLD_LOWER] = lower
        bounds[THRESHOLD_UPPER] = upper
