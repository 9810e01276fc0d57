"""Rules: which arms to pull next. One file each.

A rule is a kernel `choose(spec, state, rng)` that writes arms into
`state.chosen` and gives their number. To add one: a file here, a member of
`RuleKind`, a line in `choose` below and an entry in `standout.core.methods`.
"""

from __future__ import annotations

import numpy as np

from standout.core.jit import kernel
from standout.core.kinds import RuleKind
from standout.core.rules import (
    anytime,
    elim,
    elim_released,
    focus,
    lucb,
    lucb_released,
    random,
    round_robin,
    weighted_round_robin,
)
from standout.core.state import Spec, State

_LUCB = int(RuleKind.LUCB)
_ELIM = int(RuleKind.ELIM)
_LUCB_RELEASED = int(RuleKind.LUCB_RELEASED)
_ELIM_RELEASED = int(RuleKind.ELIM_RELEASED)
_RANDOM = int(RuleKind.RANDOM)
_ROUND_ROBIN = int(RuleKind.ROUND_ROBIN)
_WEIGHTED_ROUND_ROBIN = int(RuleKind.WEIGHTED_ROUND_ROBIN)
_FOCUS = int(RuleKind.FOCUS)
_FOCUS_ANYTIME = int(RuleKind.FOCUS_ANYTIME)

_choose_lucb = lucb.choose
_choose_elim = elim.choose
_choose_lucb_released = lucb_released.choose
_choose_elim_released = elim_released.choose
_choose_random = random.choose
_choose_round_robin = round_robin.choose
_choose_weighted_round_robin = weighted_round_robin.choose
_choose_focus = focus.choose
_choose_anytime = anytime.choose


@kernel
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """Write the arms to pull into `state.chosen`, give their number."""
    if spec.rule == _LUCB:
        return _choose_lucb(spec, state, rng)
    if spec.rule == _ELIM:
        return _choose_elim(spec, state, rng)
    if spec.rule == _LUCB_RELEASED:
        return _choose_lucb_released(spec, state, rng)
    if spec.rule == _ELIM_RELEASED:
        return _choose_elim_released(spec, state, rng)
    if spec.rule == _RANDOM:
        return _choose_random(spec, state, rng)
    if spec.rule == _ROUND_ROBIN:
        return _choose_round_robin(spec, state, rng)
    if spec.rule == _WEIGHTED_ROUND_ROBIN:
        return _choose_weighted_round_robin(spec, state, rng)
    if spec.rule == _FOCUS:
        return _choose_focus(spec, state, rng)
    if spec.rule == _FOCUS_ANYTIME:
        return _choose_anytime(spec, state, rng)
    return 0
