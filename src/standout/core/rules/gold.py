"""GOLD: the arms that part from the rest first, high, low or in between.

Ban and He, *Generic Outlier Detection in Multi-Armed Bandit*, KDD 2020. There is no threshold and
no k. An arm stands out if it, or a small group that contains it, lies far from all other arms,
measured by the gaps between those. `standout.core.threshold.gaps` has the definition and the proof
of the guarantee: with probability at least 1 - delta, outliers by that definition part no later
than any other arm. The answer is the arms that part first, at least (1 - rho) n of them, with
rho = 0.9 by default. If there are fewer outliers, the answer includes normal arms. If no arm stands
out by the definition, there is no guarantee.

As in the authors' program,

- all arms begin in one group, and all arms that have not parted are pulled in turn;
- arms are neighbours while their estimates differ by less than b times the sum of their radii;
- a group of at most (1 - rho) n arms has parted, and (1 - rho) n such arms end the run.

The paper's text was not available, so these details are our own:

- Groups are computed after each turn, not after each pull, so all radii are equal.
- The radii are those of Zhu et al.'s program, with a union bound over an arm's own pulls and not
  over all pulls. They hold for any noise with a known sigma.
- The program returns a ranking by the time at which arms part; here its first arms are the answer.
"""

from __future__ import annotations

import numpy as np

from standout.core.kinds import IntervalKind, RangeKind
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.state import Spec, State


@rule()
def in_one_group(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """All arms that have not parted from the rest."""
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
