"""A lower bound of the joint bet over boxes of (median, MAD), for each arm that may be flipped.

The orientation is such that outliers are high: S = {a : x_a > M + F d}, where the median M and the
MAD d are both r-th largest of n, r = (n + 1) // 2. An arm i is flipped *out* by x if
x_i <= M + F d, and *in* if x_i > M + F d. Such an x has, for its own M and some d,

- an arm p on M; of the others r - 1 at M or above (high) and n - r at M or below (low);
- flipped out: at least r arms at a distance of at least d from M (outer). Other conditions on d are
  not needed, since a d that is too small only lowers the edge M + F d;
- flipped in: at least n - r arms other than p at a distance of at most d (inner), for the same
  reason.

The counts are relaxed with the Lagrange multipliers y for high and z >= 0 for outer (inner). For
any y and z,

    y (r - 1) + z K + sum over arms of the cost of the cheapest place + the least that p adds

is a lower bound, with K = r (n - r). An arm's places are low or high, with or without the property
of z. The cost of a place is the arm's cost, less y if the place is high, less z if it has the
property. For M and d from a box, each cost is replaced by its minimum over the box, which is at a
corner. Arm i has only the places that agree with its flip. The other terms are common to all arms,
so bounds for all arms take no longer than a bound for one.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.joint.costs import MOST, falling, rising
from standout.core.order import quickselect
from standout.core.state import Spec, State
from standout.core.typing import Floats

OUT, IN = 0, 1
"""Directions of a flip."""

# Rows of State.joint. Places of any arm, then those of an arm that is flipped.
LOW_KEEN, LOW, HIGH, HIGH_KEEN, ON_MEDIAN = 0, 1, 2, 3, 4
OWN = 5
BOUND, TRIED = 9, 10
TUNED = 15
SKIPPED = 16
"""Nonzero for arms whose flip is not bounded now."""
CHEAPEST = 25
"""The cost of the cheapest flip that was found for each arm."""

_ROUNDS = 3
_GAIN = 1e-3
_MOST_TUNED = 6
"""Arms per box with tuned multipliers. The bounds of the other arms are valid but weaker."""
_HUGE = 1e4
"""Largest multiplier; larger ones only lose digits."""
_SLIP = 1e-14
"""The relative rounding error of a sum of places."""


@part()
def place_slip(m1: float, m2: float, d2: float, factor: float) -> float:
    """The rounding error of a place for a median and a MAD of the box."""
    return _SLIP * (max(abs(m1), abs(m2)) + (1.0 + factor) * d2)


@part("interval")
def price_means(
    spec: Spec, state: State, side: int, way: int, m1: float, m2: float, d1: float, d2: float
) -> None:
    """Fill the places' rows with the minimal costs over the box, for a flip in direction `way`.

    The places are moved slightly towards the arm, which allows for rounding: a known mean either
    lies on its place or costs the maximum.
    """
    factor = state.factors[side]
    rows = state.joint
    slip = place_slip(m1, m2, d2, factor) + _SLIP * spec.tolerance
    m1 -= slip
    m2 += slip
    for a in range(spec.n_arms):
        low = falling(spec, state, side, a, m2)
        high = rising(spec, state, side, a, m1)
        rows[ON_MEDIAN, a] = max(low, high)
        rows[LOW, a] = low
        rows[HIGH, a] = high
        if way == OUT:
            edge = falling(spec, state, side, a, m2 + factor * d2 - spec.tolerance)
            rows[LOW_KEEN, a] = falling(spec, state, side, a, m2 - d1)
            rows[HIGH_KEEN, a] = rising(spec, state, side, a, m1 + d1)
            rows[OWN + LOW_KEEN, a] = rows[LOW_KEEN, a]
            rows[OWN + LOW, a] = low
            rows[OWN + HIGH, a] = max(high, edge)
            rows[OWN + HIGH_KEEN, a] = max(rows[HIGH_KEEN, a], edge)
        else:
            edge = rising(spec, state, side, a, m1 + factor * d1 + spec.tolerance)
            rows[LOW_KEEN, a] = max(low, rising(spec, state, side, a, m1 - d2))
            rows[HIGH_KEEN, a] = max(high, falling(spec, state, side, a, m2 + d2))
            rows[OWN + LOW_KEEN, a] = MOST
            rows[OWN + LOW, a] = MOST
            rows[OWN + HIGH, a] = edge
            # If F >= 1, a mean above the edge is farther from M than d.
            rows[OWN + HIGH_KEEN, a] = max(rows[HIGH_KEEN, a], edge) if factor < 1.0 else MOST


@part()
def is_flippable(state: State, side: int, way: int, arm: int, theta: float) -> bool:
    """Whether `arm` is undecided and a flip in direction `way` would change its side of theta."""
    return bool(state.verdict[arm] == 0 and (state.estimate[side, arm] > theta) == (way == OUT))


@part()
def _cheapest(rows: Floats, first: int, arm: int, y: float, z: float) -> float:
    low = min(rows[first + LOW_KEEN, arm] - z, rows[first + LOW, arm])
    high = min(rows[first + HIGH, arm], rows[first + HIGH_KEEN, arm] - z)
    return float(min(low, high - y))


@part()
def _keen(n_arms: int, way: int) -> int:
    """K: the number of arms that must have the property of z."""
    rank = (n_arms + 1) // 2
    return rank if way == OUT else n_arms - rank


@part()
def bound_of(state: State, n_arms: int, way: int, arm: int, y: float, z: float) -> float:
    """The bound for flipping `arm`."""
    rows = state.joint
    total = y * ((n_arms + 1) // 2 - 1) + z * _keen(n_arms, way)
    extra = np.inf
    for a in range(n_arms):
        if a == arm:
            least = _cheapest(rows, OWN, a, y, z)
            # An arm that is flipped in lies above the median.
            more = rows[ON_MEDIAN, a] - least if way == OUT else np.inf
        else:
            least = _cheapest(rows, 0, a, y, z)
            more = rows[ON_MEDIAN, a] - least
        total += least
        extra = min(extra, more)
    return float(total + extra)


@part()
def bounds_of_all(
    state: State, n_arms: int, side: int, way: int, theta: float, y: float, z: float, row: int
) -> None:
    """Write the bound for flipping each arm into a row; infinite for arms that are not flipped."""
    rows = state.joint
    total = y * ((n_arms + 1) // 2 - 1) + z * _keen(n_arms, way)
    first = second = np.inf
    holder = -1
    for a in range(n_arms):
        least = _cheapest(rows, 0, a, y, z)
        rows[row, a] = least
        total += least
        more = rows[ON_MEDIAN, a] - least
        if more < first:
            second = first
            first = more
            holder = a
        elif more < second:
            second = more
    for a in range(n_arms):
        if rows[SKIPPED, a] != 0.0 or not is_flippable(state, side, way, a, theta):
            rows[row, a] = np.inf
            continue
        own = _cheapest(rows, OWN, a, y, z) + (second if a == holder else first)
        if way == OUT:
            own = min(own, rows[ON_MEDIAN, a])
        rows[row, a] = total - rows[row, a] + own


@part()
def cheapest_flip(state: State, n_arms: int) -> int:
    """The arm with the least bound in row BOUND, or -1 if there is none."""
    best = -1
    for a in range(n_arms):
        bound = state.joint[BOUND, a]
        if bound < np.inf and (best < 0 or bound < state.joint[BOUND, best]):
            best = a
    return best


@part()
def sharpen(
    state: State, n_arms: int, side: int, way: int, theta: float, node: Floats, stop: float
) -> int:
    """Write tuned bounds of all flips into row BOUND; return the arm with the least bound, or -1.

    The multipliers are tuned for the arm with the least bound, until that arm has been tuned. Each
    arm keeps its best bound. Entries 4 and 5 of `node` are the initial multipliers; they are
    replaced by those of the returned arm. Bounds of at least `stop` are not tuned. An arm whose
    tuned bound stays below a finite `stop` is returned at once.
    """
    rows = state.joint
    bounds_of_all(state, n_arms, side, way, theta, node[4], node[5], BOUND)
    arm = cheapest_flip(state, n_arms)
    for a in range(n_arms):
        rows[TUNED, a] = 0.0
    for _ in range(_MOST_TUNED):
        if arm < 0 or rows[BOUND, arm] >= stop or rows[TUNED, arm] != 0.0:
            break
        y, z = tune(state, n_arms, way, arm, node[4], node[5])
        node[4] = y
        node[5] = z
        rows[TUNED, arm] = 1.0
        bounds_of_all(state, n_arms, side, way, theta, y, z, TRIED)
        for a in range(n_arms):
            rows[BOUND, a] = max(rows[BOUND, a], rows[TRIED, a])
        if rows[BOUND, arm] < stop < np.inf:
            return arm
        arm = cheapest_flip(state, n_arms)
    return arm


@part()
def tune(state: State, n_arms: int, way: int, arm: int, y: float, z: float) -> tuple[float, float]:
    """Better multipliers for flipping `arm`, by line searches in four directions.

    Without p's term the bound has kinks only along lines of these directions, so a point that none
    of them improves is nearly optimal.
    """
    best = bound_of(state, n_arms, way, arm, y, z)
    for _ in range(_ROUNDS):
        before = best
        for direction in range(4):
            dy = 0.0 if direction == 1 else 1.0
            dz = 0.0 if direction == 0 else (-1.0 if direction == 3 else 1.0)
            count = _bends(state, n_arms, arm, y, z, direction)
            place = _place(n_arms, way, direction)
            old_y = y
            old_z = z
            for near in range(3):
                step = _near(state.bends, count, place, near)
                if old_z + dz * step < 0.0:
                    step = -old_z / dz
                if not abs(step) < _HUGE:
                    continue
                value = bound_of(state, n_arms, way, arm, old_y + dy * step, old_z + dz * step)
                if value > best:
                    best = value
                    y = old_y + dy * step
                    z = old_z + dz * step
        if best - before < _GAIN:
            break
    return y, z


@part()
def _place(n_arms: int, way: int, direction: int) -> int:
    """The rank of the bend along a direction at which the counts are right."""
    high = (n_arms + 1) // 2 - 1
    keen = _keen(n_arms, way)
    if direction == 0:
        return high
    if direction == 1:
        return keen
    return high + keen if direction == 2 else n_arms - keen + high


@part()
def _bends(state: State, n_arms: int, arm: int, y: float, z: float, direction: int) -> int:
    """Write the steps at which arms change places into `state.bends`; return their number."""
    rows = state.joint
    count = 0
    for a in range(n_arms):
        first = OWN if a == arm else 0
        low_keen = rows[first + LOW_KEEN, a] - z
        low = rows[first + LOW, a]
        high = rows[first + HIGH, a] - y
        high_keen = rows[first + HIGH_KEEN, a] - y - z
        if direction == 0:
            state.bends[count] = min(high, high_keen) - min(low, low_keen)
            count += 1
        elif direction == 1:
            state.bends[count] = min(low_keen, high_keen) - min(low, high)
            count += 1
        else:
            if direction == 2:
                start, middle, end = low, min(low_keen, high), high_keen
            else:
                start, middle, end = low_keen, min(low, high_keen), high
            straight = 0.5 * (end - start)
            is_straight = middle - start >= straight
            state.bends[count] = straight if is_straight else middle - start
            state.bends[count + 1] = straight if is_straight else end - middle
            count += 2
    return count


@part()
def _near(bends: Floats, count: int, place: int, near: int) -> float:
    """The bend of rank `place` (1 to count, ascending), the one before (1) or after it (2)."""
    place = min(max(place, 1), count)
    if near == 1:
        place = max(place - 1, 1)
    elif near == 2:
        place = min(place + 1, count)
    return quickselect(bends, count, count + 1 - place)
