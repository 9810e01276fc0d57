"""The threshold's interval in the joint region: its least and its largest value.

Means with median m and MAD d have the threshold m + F d. Boxes of (m, d) are examined in the order
of the threshold at their lower (upper) corner. A box whose bound proves that all of its means are
rejected is dropped; other boxes are halved. The first small box that is not dropped gives the end.
The search may be stopped at any time: all means beyond the current box are proved to be rejected.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.joint.bounds import IN, OUT, bound_of, place_slip, tune
from standout.core.joint.pricing import log_bet_part, prepare, price
from standout.core.order import kth_largest
from standout.core.state import (
    BEYOND,
    JOINT_BOXES,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    NARROW,
    PULLS,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
    Y,
    Z,
)
from standout.core.typing import Floats

ROUNDING = 1e-3
"""The error of a sum of costs: likelihoods of up to 1e8 rewards each, of 300 arms."""
_NARROW = 1.05
"""Growth of pulls after which the ends are computed again."""
_FINE = 0.003
"""The accepted error of an end, as a share of the threshold's interval."""
_MOST_BOXES = 400


@part("interval")
def joint_limit(spec: Spec, state: State) -> float:
    """The value of the bet in use from which means are rejected."""
    return math.log(1.0 / spec.joint_delta) - log_bet_part(spec, state) + ROUNDING


@part()
def find_root(spec: Spec, state: State, side: int, root: Floats) -> bool:
    """Write the box of all (median, MAD) of means in the arms' intervals; whether it is finite."""
    low = state.bounds[side, MEDIAN_LOWER]
    high = state.bounds[side, MEDIAN_UPPER]
    if not (np.isfinite(low) and np.isfinite(high)):
        return False
    rank = (spec.n_arms + 1) // 2
    for a in range(spec.n_arms):
        lower = state.lower[side, a]
        upper = state.upper[side, a]
        state.scratch[a] = max(0.0, lower - high, low - upper)
        state.centre[a] = max(upper - low, high - lower)
    least = kth_largest(state.scratch, spec.n_arms, rank, 0.0, state.work)
    most = kth_largest(state.centre, spec.n_arms, rank, 0.0, state.work)
    slip = place_slip(low, high, most, state.factors[side])
    root[0] = low - slip
    root[1] = high + slip
    root[2] = max(0.0, least - slip)
    root[3] = most + slip
    return bool(np.isfinite(most))


@part("interval")
def narrow(spec: Spec, state: State) -> None:
    """Narrow the threshold in each round if arms are certified against it."""
    if not spec.flips:
        narrow_sides(spec, state)


@part("interval")
def narrow_sides(spec: Spec, state: State) -> None:
    """Narrow each side's threshold interval to the thresholds of the joint region."""
    pulls = state.counters[PULLS]
    for side in range(len(state.signs)):
        bounds = state.bounds[side]
        inner = state.alternatives[2 * side + IN]
        outer = state.alternatives[2 * side + OUT]
        root = state.boxes[JOINT_BOXES - 2]
        if not pulls < inner[NARROW] and find_root(spec, state, side, root):
            inner[NARROW] = _NARROW * pulls
            prepare(spec, state, side)
            fine = _FINE * (bounds[THRESHOLD_UPPER] - bounds[THRESHOLD_LOWER])
            inner[BEYOND] = max(inner[BEYOND], _find_end(spec, state, side, IN, root, fine))
            outer[BEYOND] = min(outer[BEYOND], -_find_end(spec, state, side, OUT, root, fine))
        lower = max(bounds[THRESHOLD_LOWER], inner[BEYOND])
        upper = min(bounds[THRESHOLD_UPPER], outer[BEYOND])
        # They cross only if the means have left the region, with probability delta.
        if lower <= upper:
            bounds[THRESHOLD_LOWER] = lower
            bounds[THRESHOLD_UPPER] = upper


@part()
def _key(box: Floats, factor: float, way: int) -> float:
    """The box's least threshold, or minus its largest."""
    if way == IN:
        return float(box[0] + factor * box[2])
    return float(-(box[1] + factor * box[3]))


@part("interval")
def _find_end(spec: Spec, state: State, side: int, way: int, root: Floats, fine: float) -> float:
    """The least key of the means that are not rejected, or a lower bound after many boxes."""
    factor = state.factors[side]
    boxes = state.boxes
    limit = joint_limit(spec, state)
    room = JOINT_BOXES - 2
    for i in range(len(root)):
        boxes[0, i] = root[i]
    boxes[0, Y] = boxes[0, Z] = 0.0
    waiting = 1
    box = boxes[JOINT_BOXES - 1]
    least = _key(root, factor, way)
    for _ in range(_MOST_BOXES):
        if waiting == 0:
            return least
        best = 0
        for i in range(1, waiting):
            if _key(boxes[i], factor, way) < _key(boxes[best], factor, way):
                best = i
        least = _key(boxes[best], factor, way)
        if waiting + 1 > room:
            return least
        waiting -= 1
        for i in range(len(box)):
            box[i] = boxes[best, i]
            boxes[best, i] = boxes[waiting, i]
        if _is_rejected(spec, state, side, way, box, limit):
            continue
        wide = box[1] - box[0]
        high = factor * (box[3] - box[2])
        if wide + high <= fine:
            return least
        for half in range(2):
            for i in range(len(box)):
                boxes[waiting, i] = box[i]
            if wide > high:
                boxes[waiting, 1 - half] = 0.5 * (box[0] + box[1])
            else:
                boxes[waiting, 3 - half] = 0.5 * (box[2] + box[3])
            waiting += 1
    return least


@part("interval")
def _is_rejected(spec: Spec, state: State, side: int, way: int, box: Floats, limit: float) -> bool:
    """Whether all means with median and MAD in the box are rejected; tunes its multipliers."""
    n = spec.n_arms
    price(spec, state, side, way, box[0], box[1], box[2], box[3])
    if bound_of(state, n, way, -1, box[Y], box[Z]) >= limit:
        return True
    y, z = tune(state, n, way, -1, box[Y], box[Z])
    box[Y] = y
    box[Z] = z
    return bool(bound_of(state, n, way, -1, y, z) >= limit)
