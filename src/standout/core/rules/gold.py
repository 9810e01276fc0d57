"""GOLD: the arms that part from the rest first, high, low or in between.

Ban and He, *Generic Outlier Detection in Multi-Armed Bandit*, KDD 2020. There is no threshold and
no k: an arm stands out if it, or a small group with it, lies far from all others, measured by the
gaps between those. `standout.core.threshold.gaps` has the definition, and the proof of what is
promised: with probability at least 1 - delta, outliers by that definition part no later than any
other arm. The answer is the arms that part first, (1 - rho) n of them or more, rho = 0.9 unless
told otherwise. With fewer outliers than that, normal arms are among them; if no arm stands out by
the definition, nothing is promised.

As in the authors' program, every arm begins in one group, all arms that have not parted are pulled
in turn, arms are neighbours while their estimates differ by less than b times the sum of their
radii, a group of at most (1 - rho) n arms has parted, and (1 - rho) n such arms end the run.
Decided here, where the paper's text was not at hand:

- The groups are looked at after each turn, not after each pull, so that all radii are equal.
- The radii are those of Zhu et al.'s program, whose union is over an arm's own pulls and not over
  all pulls, and hold for every noise with a known sigma.
- What the program gives is a ranking by when arms part; its first arms are the answer here.
"""

from __future__ import annotations

import numpy as np

from standout.core.kinds import IntervalKind, RangeKind
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.state import Spec, State


@rule()
def in_one_group(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """Every arm that has not parted from the rest."""
    count = 0
    for arm in range(spec.n_arms):
        if state.active[0, 0, arm]:
            state.chosen[count] = arm
            count += 1
    return count


METHODS = (
    Method(
        name="gold",
        rule=in_one_group,
        interval=IntervalKind.RELEASED,
        range=RangeKind.GAPS,
        summary="finds the tenth of all arms that wide gaps separate first (no threshold)",
        reference="Ban & He 2020",
        keeps_decisions=True,
        rho=0.9,
    ),
)
