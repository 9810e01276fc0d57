"""ADE: adaptive double exploration, of the arms and of the threshold.

Zhang, Zhuang, Zhang and Zhou, *Adaptive Double-Exploration Tradeoff for Outlier Detection*, AAAI
2020. Threshold: mean + k * population standard deviation of all means, k never scaled. Guarantee:
with probability at least 1 - delta every verdict is right for that threshold, for rewards in a
bounded interval; half of delta is for the arms' intervals and half for the threshold's.

As in the paper,

- undecided arms are pulled in sequence, and decided arms are not pulled again;
- the threshold is explored by pulling arms at random, and its radius does not depend on the number
  of arms;
- the less certain of the two is explored next.

The paper's constants were not available, so these details are our own:

- The threshold's interval is that of `standout.core.threshold.drawn`: Hoeffding's bound for two
  moments, and the exact range of theta over them.
- The arms' intervals are those of Zhu et al. (2020), for rewards in an interval.
- The threshold is explored while its interval is wider than the widest interval of an undecided
  arm; otherwise that arm is pulled.
- Rewards that explore the threshold count for their arm, too.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.kinds import RangeKind, Verdict
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.state import (
    DRAWN_ARM,
    DRAWN_WAITS,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)

_UNDECIDED = int(Verdict.UNDECIDED)


@rule()
def double_exploration(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The second pull of a pair, else the widest undecided arm, else a random arm."""
    notes = state.guesses[0]
    if notes[DRAWN_WAITS] == 0.0:
        notes[DRAWN_ARM] = 0.0
        arm = _widest(spec, state)
        if arm < 0 or _is_threshold_wider(state, state.upper[0, arm] - state.lower[0, arm]):
            arm = int(rng.random() * spec.n_arms)
            notes[DRAWN_ARM] = arm + 1.0
    else:
        arm = int(notes[DRAWN_ARM]) - 1
    state.chosen[0] = arm
    return 1


@part()
def _widest(spec: Spec, state: State) -> int:
    """The undecided arm with the widest interval; -1 if there is none."""
    best = -1
    widest = -np.inf
    for arm in range(spec.n_arms):
        width = state.upper[0, arm] - state.lower[0, arm]
        if state.verdict[arm] == _UNDECIDED and width > widest:
            best = arm
            widest = width
    return best


@part()
def _is_threshold_wider(state: State, width: float) -> bool:
    for side in range(len(state.signs)):
        bounds = state.bounds[side]
        if not bounds[THRESHOLD_UPPER] - bounds[THRESHOLD_LOWER] <= width:
            return True
    return False


METHODS = (
    Method(
        name="ade",
        rule=double_exploration,
        range=RangeKind.DRAWN,
        summary="pulls the less certain of undecided arm and mean + k std threshold (not robust)",
        reference="Zhang, Zhuang, Zhang & Zhou 2020",
        keeps_decisions=True,
        needs_bounded_rewards=True,
    ),
)
