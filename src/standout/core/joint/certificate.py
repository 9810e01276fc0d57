"""The search for an alternative that the joint bet does not refute, and the proof that none exists.

For each side and direction of a flip, a local search updates the cheapest known alternative in each
round. While it lies in the region, no arm can be certified in this direction. When the search finds
no alternative in the region, a branch and bound runs over the whole range of median and MAD. It
either proves that none exists, which certifies the arms, or returns a better start of the search.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.crossing.stages import begin_stage, is_due
from standout.core.crossing.tables import close_batches
from standout.core.joint.bounds import (
    BOUND,
    CHEAPEST,
    IN,
    OUT,
    SKIPPED,
    is_flippable,
    sharpen,
)
from standout.core.joint.costs import use_scale
from standout.core.joint.pricing import (
    BETS,
    is_bet,
    log_bet_part,
    prepare,
    price,
)
from standout.core.joint.region import find_root, joint_limit, narrow_sides
from standout.core.kinds import Verdict
from standout.core.state import (
    AT_MAD,
    AT_MEDIAN,
    COST,
    FLIPPED,
    FOLLOW,
    JOINT_BOXES,
    MARGIN,
    PROVE,
    PROVE_SOME,
    PULLS,
    RESCALE,
    RESTART,
    SCALE,
    THRESHOLD,
    THRESHOLD_LOWER,
    UNDECIDED,
    Spec,
    State,
    Y,
    Z,
)
from standout.core.typing import Floats

DEPTH = JOINT_BOXES - 2
"""The largest number of waiting boxes; two more are the whole range and the current box."""
_MOST_BOXES = 4000
"""The number of boxes after which a proof is postponed to the next round."""
_SOME_BOXES = 600
"""The same for a proof for a subset of the arms."""
_AMPLE = 0.05
"""A proof for all arms starts this many nats above the limit, where it takes fewer boxes."""
_GRID = 8
_RESTART = 1.1
"""Growth of pulls after which the search starts again."""
_STEPS = 16
"""The number of places that a search examines in a round."""
_FIRST_STEP = 24.0
"""The range divided by this is the first step of the search."""
_FINEST = 1e-3
"""The smallest step of the search, as a share of the MAD."""
_FOLLOW = 1.01
"""Growth of pulls after which the neighbourhood of an alternative is searched again."""
_PROVE = 1.01
"""Growth of pulls from a postponed proof to the next attempt."""
_EARLY_BETS = (0, 2)
"""Bets on the means that refute flips of clear arms early."""
_PROVE_SOME = 1.2
"""Growth of pulls until a proof for a subset of the arms is tried again."""
_MARGIN = 1.0
"""Nats beyond the limit that an arm must cost for such a proof."""
_MOST_MARGIN = 20.0
"""Largest such margin; it grows after a failed proof."""
_RESCALE = 1.03
"""Growth of pulls after which another bet is tried."""
_NORMAL = int(Verdict.NORMAL)
_OUTLIER = int(Verdict.OUTLIER)


@part("interval")
def certify(spec: Spec, state: State) -> None:
    """Certify what the joint bet proves, and update the cheapest alternatives."""
    if not spec.flips:
        return
    pulls = state.counters[PULLS]
    if spec.crosses and state.crossing.begun[0] > 0:
        close_batches(spec, state, False)
        if is_due(spec, state, 0.0):
            begin_stage(spec, state)
    if not pulls < state.alternatives[0, RESCALE]:
        state.alternatives[0, RESCALE] = _RESCALE * pulls
        _choose_bet(spec, state)
    for side in range(len(state.signs)):
        prepare(spec, state, side)
        root = state.boxes[DEPTH]
        if not find_root(spec, state, side, root):
            state.alternatives[2 * side + OUT, COST] = -np.inf
            state.alternatives[2 * side + IN, COST] = -np.inf
            continue
        _certify_side(spec, state, side, root)
    if not pulls < state.alternatives[0, PROVE_SOME]:
        state.alternatives[0, PROVE_SOME] = _PROVE_SOME * pulls
        _certify_some(spec, state)
    _settle(spec, state)
    if state.counters[UNDECIDED] == 0:
        narrow_sides(spec, state)  # For display at the end; no verdict depends on it.


@part("interval")
def _certify_side(spec: Spec, state: State, side: int, root: Floats) -> None:
    pulls = state.counters[PULLS]
    least = np.inf
    for way in (OUT, IN):
        row = state.alternatives[2 * side + way]
        row[COST] = np.inf
        if _has_flippable(spec, state, side, way):
            _look(spec, state, side, way, row, root)
        least = min(least, row[COST])
    limit = joint_limit(spec, state)
    for way in (OUT, IN):
        # Postpone the more expensive direction, unless both may be certified.
        row = state.alternatives[2 * side + way]
        is_near_end = limit <= row[COST] < np.inf and not pulls < row[PROVE]
        if is_near_end or (row[COST] == least and not pulls < row[FOLLOW]):
            row[FOLLOW] = _FOLLOW * pulls
            _follow(spec, state, side, way, row, root)
        ample = limit + _AMPLE if spec.crosses else limit
        if ample <= row[COST] < np.inf and not pulls < row[PROVE]:
            row[PROVE] = _PROVE * pulls
            _prove(spec, state, side, way, row, root)


@part("interval")
def _choose_bet(spec: Spec, state: State) -> None:
    """Switch to the bet with the largest cost of the cheapest alternative."""
    row = 0
    for other in range(1, len(state.alternatives)):
        if state.alternatives[other, COST] < state.alternatives[row, COST]:
            row = other
    found = state.alternatives[row]
    now = int(state.alternatives[0, SCALE])
    if not np.isfinite(found[COST]):
        return
    node = state.boxes[DEPTH + 1]
    if spec.crosses and is_due(spec, state, found[COST]):
        begin_stage(spec, state)
    best = now
    most = -np.inf
    for bet in range(BETS):
        if not is_bet(spec, state, bet):
            continue
        use_scale(state, bet)
        prepare(spec, state, row // 2)
        node[Y] = found[Y]
        node[Z] = found[Z]
        cost, _ = _evaluate(spec, state, row // 2, row % 2, found[AT_MEDIAN], found[AT_MAD], node)
        cost += log_bet_part(spec, state)
        if cost > most:
            most = cost
            best = bet
    use_scale(state, best)
    if best != now:
        for other in range(len(state.alternatives)):
            state.alternatives[other, FOLLOW] = 0.0
            state.alternatives[other, PROVE] = 0.0


@part()
def _has_flippable(spec: Spec, state: State, side: int, way: int) -> bool:
    for a in range(spec.n_arms):
        if is_flippable(state, side, way, a, state.bounds[side, THRESHOLD]):
            return True
    return False


@part("interval")
def _evaluate(
    spec: Spec, state: State, side: int, way: int, m: float, d: float, node: Floats
) -> tuple[float, int]:
    """The smallest bound of a flip at this median and MAD, and the arm that is flipped."""
    for a in range(spec.n_arms):
        state.joint[SKIPPED, a] = 0.0
    price(spec, state, side, way, m, m, d, d)
    theta = state.bounds[side, THRESHOLD]
    arm = sharpen(state, spec.n_arms, side, way, theta, node, np.inf)
    return (state.joint[BOUND, arm], arm) if arm >= 0 else (np.inf, -1)


@part("interval")
def _look(spec: Spec, state: State, side: int, way: int, row: Floats, root: Floats) -> None:
    """Price the current alternative again; from time to time, search everywhere."""
    node = state.boxes[DEPTH + 1]
    if not state.counters[PULLS] < row[RESTART]:
        row[RESTART] = _RESTART * state.counters[PULLS]
        row[AT_MEDIAN] = min(max(row[AT_MEDIAN], root[0]), root[1])
        row[AT_MAD] = min(max(row[AT_MAD], root[2]), root[3])
        for i in range(_GRID * _GRID):
            m = root[0] + (i // _GRID + 0.5) / _GRID * (root[1] - root[0])
            d = root[2] + (i % _GRID + 0.5) / _GRID * (root[3] - root[2])
            _try(spec, state, side, way, m, d, row, node)
    _try(spec, state, side, way, row[AT_MEDIAN], row[AT_MAD], row, node)


@part("interval")
def _follow(spec: Spec, state: State, side: int, way: int, row: Floats, root: Floats) -> None:
    """Search for a cheaper alternative around the current one."""
    node = state.boxes[DEPTH + 1]
    step = max(root[1] - root[0], root[3] - root[2]) / _FIRST_STEP
    count = 0
    while count < _STEPS and step > _FINEST * row[AT_MAD]:
        m = row[AT_MEDIAN]
        d = row[AT_MAD]
        is_better = False
        for k in range(8):
            dm = (1.0, -1.0, 0.0, 0.0, 1.0, 1.0, -1.0, -1.0)[k]
            dd = (0.0, 0.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0)[k]
            if d + dd * step >= 0.0:
                count += 1
                is_better = _try(spec, state, side, way, m + dm * step, d + dd * step, row, node)
                if is_better:
                    break
        if not is_better:
            step *= 0.5


@part("interval")
def _try(
    spec: Spec,
    state: State,
    side: int,
    way: int,
    m: float,
    d: float,
    row: Floats,
    node: Floats,
) -> bool:
    """Adopt (m, d) as the alternative if it is cheaper there."""
    node[Y] = row[Y]
    node[Z] = row[Z]
    cost, arm = _evaluate(spec, state, side, way, m, d, node)
    if not cost < row[COST]:
        return False
    row[AT_MEDIAN] = m
    row[AT_MAD] = d
    row[COST] = cost
    row[Y] = node[Y]
    row[Z] = node[Z]
    row[FLIPPED] = arm
    return True


@part("interval")
def _certify_some(spec: Spec, state: State) -> None:
    """Certify arms that are far from a flip, while others are near one.

    The bet in use is best against the cheapest alternative of all. Flips of clear arms are often
    refuted earlier by bets on the means.
    """
    used = int(state.alternatives[0, SCALE])
    for bet in range(BETS):
        if not is_bet(spec, state, bet) or bet not in (used, *_EARLY_BETS):
            continue
        use_scale(state, bet)
        for side in range(len(state.signs)):
            prepare(spec, state, side)
            root = state.boxes[DEPTH]
            if find_root(spec, state, side, root):
                _prove_some(spec, state, side, OUT, root)
                _prove_some(spec, state, side, IN, root)
    use_scale(state, used)


@part("interval")
def _prove_some(spec: Spec, state: State, side: int, way: int, root: Floats) -> None:
    """Certify the arms whose flips cost more than the limit by a margin, if few boxes show it.

    The proof for an arm near the limit would take many boxes, so such arms are left out. The margin
    grows after a failed proof.
    """
    if not _has_flippable(spec, state, side, way):
        return
    row = state.alternatives[2 * side + way]
    limit = joint_limit(spec, state)
    margin = max(row[MARGIN], _MARGIN)
    _find_cheapest(spec, state, side, way, root)
    for a in range(spec.n_arms):
        is_far = state.joint[CHEAPEST, a] >= limit + margin
        state.joint[SKIPPED, a] = 0.0 if is_far else 1.0
    if not _has_targets(spec, state, side, way):
        return
    # The alternative belongs to the bet in use, so this search must not replace it.
    cost = row[COST]
    row[COST] = -np.inf
    is_proved = _search(spec, state, side, way, row, root, limit, _SOME_BOXES)
    row[COST] = cost
    if is_proved:
        row[MARGIN] = 0.7 * margin
        _note_proof(spec, state, side, way, row)
    elif _has_targets(spec, state, side, way):
        row[MARGIN] = min(2.0 * margin, _MOST_MARGIN)


@part("interval")
def _find_cheapest(spec: Spec, state: State, side: int, way: int, root: Floats) -> None:
    """Set CHEAPEST to the cost of each arm's cheapest flip on a grid of (median, MAD)."""
    theta = state.bounds[side, THRESHOLD]
    node = state.boxes[DEPTH + 1]
    node[Y] = 0.0
    node[Z] = 0.0
    for a in range(spec.n_arms):
        state.joint[CHEAPEST, a] = np.inf
        state.joint[SKIPPED, a] = 0.0
    for i in range(_GRID * _GRID):
        m = root[0] + (i // _GRID + 0.5) / _GRID * (root[1] - root[0])
        d = root[2] + (i % _GRID + 0.5) / _GRID * (root[3] - root[2])
        price(spec, state, side, way, m, m, d, d)
        sharpen(state, spec.n_arms, side, way, theta, node, np.inf)
        for a in range(spec.n_arms):
            state.joint[CHEAPEST, a] = min(state.joint[CHEAPEST, a], state.joint[BOUND, a])


@part("interval")
def _prove(spec: Spec, state: State, side: int, way: int, row: Floats, root: Floats) -> None:
    """Certify the arms whose flips are rejected in the whole box; store cheaper alternatives."""
    limit = joint_limit(spec, state)
    box = state.boxes[DEPTH + 1]
    box[Y] = row[Y]
    box[Z] = row[Z]
    _evaluate(spec, state, side, way, row[AT_MEDIAN], row[AT_MAD], box)
    for a in range(spec.n_arms):
        state.joint[SKIPPED, a] = 0.0 if state.joint[BOUND, a] >= limit else 1.0
    if not _has_targets(spec, state, side, way):
        return
    if _search(spec, state, side, way, row, root, limit, _MOST_BOXES):
        _note_proof(spec, state, side, way, row)


@part()
def _note_proof(spec: Spec, state: State, side: int, way: int, row: Floats) -> None:
    """Certify the arms that are not skipped."""
    theta = state.bounds[side, THRESHOLD]
    for a in range(spec.n_arms):
        if state.joint[SKIPPED, a] == 0.0 and is_flippable(state, side, way, a, theta):
            if way == OUT:
                state.verdict[a] = _OUTLIER
            else:
                state.crossing.is_normal[side, a] = True
    row[PROVE] = 0.0
    row[FOLLOW] = 0.0


@part("interval")
def _search(
    spec: Spec,
    state: State,
    side: int,
    way: int,
    row: Floats,
    root: Floats,
    limit: float,
    most: int,
) -> bool:
    """Whether the flips of all arms that remain are rejected in the whole root.

    An arm with an alternative is skipped from then on.
    """
    boxes = state.boxes
    _copy(root, boxes[0])
    boxes[0, Y] = row[Y]
    boxes[0, Z] = row[Z]
    box = boxes[DEPTH + 1]
    theta = state.bounds[side, THRESHOLD]
    waiting = 1
    for _ in range(most):
        if waiting == 0:
            return True
        waiting -= 1
        _copy(boxes[waiting], box)
        price(spec, state, side, way, box[0], box[1], box[2], box[3])
        arm = sharpen(state, spec.n_arms, side, way, theta, box, limit)
        if arm < 0 or state.joint[BOUND, arm] >= limit:
            continue
        m = 0.5 * (box[0] + box[1])
        d = 0.5 * (box[2] + box[3])
        y = box[Y]
        z = box[Z]
        price(spec, state, side, way, m, m, d, d)
        arm = sharpen(state, spec.n_arms, side, way, theta, box, limit)
        while arm >= 0 and state.joint[BOUND, arm] < limit:
            if state.joint[BOUND, arm] < row[COST]:
                row[AT_MEDIAN] = m
                row[AT_MAD] = d
                row[COST] = state.joint[BOUND, arm]
                row[Y] = box[Y]
                row[Z] = box[Z]
                row[FLIPPED] = arm
            state.joint[SKIPPED, arm] = 1.0
            arm = sharpen(state, spec.n_arms, side, way, theta, box, limit)
        if not _has_targets(spec, state, side, way) or waiting + 2 > DEPTH:
            return False
        for half in range(2):
            _copy(box, boxes[waiting])
            boxes[waiting, Y] = y
            boxes[waiting, Z] = z
            if box[1] - box[0] > box[3] - box[2]:
                boxes[waiting, 1 - half] = m
            else:
                boxes[waiting, 3 - half] = d
            waiting += 1
    return False


@part()
def _has_targets(spec: Spec, state: State, side: int, way: int) -> bool:
    for a in range(spec.n_arms):
        is_target = state.joint[SKIPPED, a] == 0.0
        if is_target and is_flippable(state, side, way, a, state.bounds[side, THRESHOLD]):
            return True
    return False


@part()
def _copy(source: Floats, target: Floats) -> None:
    for i in range(len(source)):
        target[i] = source[i]


@part()
def _settle(spec: Spec, state: State) -> None:
    """Decide that arms are normal if they are normal on every side."""
    sides = len(state.signs)
    undecided = 0
    for a in range(spec.n_arms):
        if state.verdict[a] == 0:
            normal = 0
            for side in range(sides):
                lower = state.bounds[side, THRESHOLD_LOWER] + spec.tolerance
                below = state.upper[side, a] <= lower
                normal += below or state.crossing.is_normal[side, a]
            if normal == sides:
                state.verdict[a] = _NORMAL
            else:
                undecided += 1
    state.counters[UNDECIDED] = undecided
