"""combined: focus while verdicts come easily, then joint; both certificates hold throughout.

Half of delta is spent on the arms' own intervals, half on the joint bet (`standout.core.joint`).
Each certificate holds on its own event: all intervals contain their means, and the true means stay
in the joint region. By the union bound both events hold together with probability at least
1 - delta. Then a verdict of either certificate is right, at any time and for any choice of arms. So
an arm may be certified by either. Halving delta costs a certificate log 2 nats.

The two rules have different goals: focus decides the next arms soon, joint ends the run soon. The
rule is that of focus until the share FIRST of the arms is decided, then that of joint.

Why it ends: the number of decided arms never falls, so the rule changes at most once, and each of
the two ends from any state.
"""

from __future__ import annotations

import numpy as np

from standout.core.kinds import RangeKind
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.rules.focus import METHODS as FOCUS
from standout.core.rules.focus_anytime import anytime
from standout.core.rules.joint import METHODS as JOINT
from standout.core.state import UNDECIDED, Spec, State

_focus = FOCUS[0].rule.choose
_joint = JOINT[0].rule.choose
FIRST = 0.7
"""Share of the arms that are decided before the rule changes."""


@rule("interval")
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The choice of focus; later, that of joint."""
    if state.counters[UNDECIDED] > (1.0 - FIRST) * spec.n_arms:
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
        box_part=0.5,
        spares_known=True,
        growth=0.05,
        summary="the early verdicts of focus, then the rule and the bet of joint",
        reference="standout, docs/combined.md",
    ),
)
