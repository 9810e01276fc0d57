"""Rules: which arms to pull next. One file each.

A rule is a kernel `choose(spec, state, rng)` that writes arms into
`state.chosen` and gives their number. To add one: a file here, a member of
`RuleKind`, a line in `_RULES` below and an entry in `standout.core.methods`.
"""

from __future__ import annotations

from standout.core.jit import dispatch
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

_RULES = {
    RuleKind.LUCB: lucb.choose,
    RuleKind.ELIM: elim.choose,
    RuleKind.LUCB_RELEASED: lucb_released.choose,
    RuleKind.ELIM_RELEASED: elim_released.choose,
    RuleKind.RANDOM: random.choose,
    RuleKind.ROUND_ROBIN: round_robin.choose,
    RuleKind.WEIGHTED_ROUND_ROBIN: weighted_round_robin.choose,
    RuleKind.FOCUS: focus.choose,
    RuleKind.FOCUS_ANYTIME: anytime.choose,
}
choose = dispatch(lambda spec: _RULES[spec.rule])
"""Write the arms to pull into `state.chosen`, give their number; of (spec, state, rng)."""
