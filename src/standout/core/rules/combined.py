"""combined: all certificates together; the rule is first that of focus, then that of joint.

A part of delta is spent on the arms' own intervals, the rest on bets on all means together: the bet
on the means (`standout.core.joint`) and the crossing bet (`standout.core.crossing`). Each of them
holds on its own event: all intervals contain their means, and the true means stay in the region of
the bet. By the union bound all events hold together with probability at least 1 - delta. Then a
verdict by any of them is right, at any time and for any choice of arms.

The two rules have different goals: focus decides the next arms soon, joint ends the run soon. The
rule is that of focus until half of the arms are decided. The crossing bet begins when the rule
changes, because it gains little from the pulls of focus.

Why it ends: the number of decided arms never falls, so the rule changes at most once, and each of
the two ends from any state.
"""

from __future__ import annotations

import numpy as np

from standout.core.crossing.stages import HALF
from standout.core.kinds import RangeKind
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.rules.focus import METHODS as FOCUS
from standout.core.rules.focus_anytime import anytime
from standout.core.rules.joint import METHODS as JOINT
from standout.core.state import UNDECIDED, Spec, State

_focus = FOCUS[0].rule.choose
_joint = JOINT[0].rule.choose


@rule("interval")
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The choice of focus; later, that of joint."""
    if state.counters[UNDECIDED] > (1.0 - HALF) * spec.n_arms:
        return int(_focus(spec, state, rng))
    return int(_joint(spec, state, rng))


METHODS = (
    Method(
        name="combined",
        rule=choose,
        fallback=FOCUS[0],
        anytime=anytime,
        interval=None,
        range=RangeKind.JOINT,
        keeps_decisions=True,
        intersects=True,
        refines=True,
        crosses=True,
        box_part=0.15,
        spares_known=True,
        growth=0.05,
        summary="intervals and bets on all means together; early verdicts like focus, an early end",
        reference="standout, docs/combined.md",
    ),
)
