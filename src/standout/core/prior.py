"""What is given about arms before the first pull: costs, earlier rewards, known means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from standout.core.intervals import MOMENTS
from standout.core.kinds import IntervalKind
from standout.core.method import Method
from standout.core.noise import Bernoulli
from standout.core.order import sort_ends
from standout.core.problem import Problem
from standout.core.state import TOUCHED, State
from standout.core.typing import Floats
from standout.errors import MethodError, ProblemError

KNOWN_PULLS = 2**40
"""Stands for a known mean among the pulls: more than any arm is ever pulled."""
MOST_PULLS = 10**15
"""Earlier rewards of one arm, beyond which not every number of them can be represented."""
LOWEST_COST, HIGHEST_COST = 1e-12, 1e12

Earlier = tuple[int, float] | tuple[int, float, float]
"""Earlier rewards of an arm: their number, their sum and, perhaps, their standard deviation."""


@dataclass(frozen=True)
class PriorFacts:
    """Facts about some arms, by name.

    `costs`: what one pull of an arm costs (1 where not given); cheap arms are
    preferred where it helps. `prior`: earlier rewards of the same arm, as
    (number, sum) or, for noise of unknown scale, (number, sum, standard deviation
    with n - 1); they count for the intervals, not for the budget. `known`:
    means that are known exactly, such as a control's; these arms are never pulled.
    """

    costs: Mapping[str, float] = field(default_factory=dict)
    prior: Mapping[str, Earlier] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)

    def cost_array(self, index: Mapping[str, int]) -> Floats | None:
        """Costs of all arms, or None where all are alike."""
        if not self.costs:
            return None
        costs = np.ones(len(index))
        for arm, cost in self.costs.items():
            if not LOWEST_COST <= cost <= HIGHEST_COST:
                raise ProblemError(
                    f"the cost of arm {arm!r} must be a positive number between "
                    f"{LOWEST_COST:g} and {HIGHEST_COST:g}, not {cost}; choose another unit"
                )
            costs[_position(index, arm)] = cost
        return costs

    def apply(
        self, problem: Problem, method: Method, state: State, index: Mapping[str, int]
    ) -> list[int]:
        """Put prior rewards and known means into a fresh state; positions of the known."""
        interval = method.interval_for(problem)
        if self.prior and interval in MOMENTS and interval is not IntervalKind.STUDENT:
            raise ProblemError(
                f"the interval in use ({interval.name.lower()}) needs every earlier reward in its "
                "order, not only their number and sum: give them as a table to standout.analyse, "
                "or choose focus:interval=beta-binomial where rewards are bounded"
            )
        for arm, earlier in self.prior.items():
            i = _position(index, arm)
            if arm in self.known:
                raise ProblemError(f"arm {arm!r} has both a known mean and earlier rewards")
            pulls, total = earlier[0], earlier[1]
            _check_prior(problem, arm, pulls, total)
            if pulls > 0:
                state.origin[i] = 0.0 if isinstance(problem.noise, Bernoulli) else total / pulls
                state.pulls[i], state.sums[i] = pulls, total - pulls * state.origin[i]
                if interval is IntervalKind.STUDENT:
                    state.moments[i, 0] = _squares(arm, earlier)
                state.is_touched[i] = True
                state.touched[state.counters[TOUCHED]] = i
                state.counters[TOUCHED] += 1
        if self.known and not method.spares_known:
            raise MethodError(f"{method.name} pulls every arm; known means need focus")
        known = []
        for arm, mean in self.known.items():
            i = _position(index, arm)
            problem.noise.check_mean(arm, mean)
            known.append(i)
            state.pulls[i], state.origin[i], state.sums[i] = KNOWN_PULLS, mean, 0.0
            state.costs[i] = math.inf
            for side, sign in enumerate(state.signs):
                for row in (state.lower, state.upper, state.estimate):
                    row[side, i] = sign * mean
        for side in range(len(state.signs)):
            sort_ends(state, side)
        return known


def _squares(arm: str, earlier: Earlier) -> float:
    """The sum of squared differences of earlier rewards from their mean."""
    if len(earlier) < 3:
        raise ProblemError(
            f"with noise of unknown scale, the earlier rewards of arm {arm!r} need their standard "
            "deviation, too: give (number, sum, standard deviation), or the rewards themselves as "
            "a table to standout.analyse"
        )
    deviation = float(earlier[2])
    if earlier[0] == 1 and math.isnan(deviation):
        return 0.0
    if not 0 <= deviation < math.inf:
        raise ProblemError(
            f"the standard deviation of earlier rewards of arm {arm!r} must be a number of at "
            f"least 0, not {deviation:g}"
        )
    return (earlier[0] - 1) * deviation**2


def _check_prior(problem: Problem, arm: str, pulls: int, total: float) -> None:
    if not 0 <= pulls <= MOST_PULLS or pulls != int(pulls):
        raise ProblemError(
            f"the number of earlier rewards of arm {arm!r} must be a whole number "
            f"of at most {MOST_PULLS:g}, not {pulls}"
        )
    if not math.isfinite(total):
        raise ProblemError(f"the sum of earlier rewards of arm {arm!r} is not finite: {total}")
    if pulls == 0 and total != 0:
        raise ProblemError(f"arm {arm!r} has no earlier rewards, but a sum of them: {total:g}")
    if pulls > 0:
        problem.noise.check_mean(arm, total / pulls)
    if isinstance(problem.noise, Bernoulli) and total != int(total):
        raise ProblemError(
            f"the sum of earlier rewards of arm {arm!r} must be a number of ones, not {total:g}"
        )


def _position(index: Mapping[str, int], arm: str) -> int:
    if arm not in index:
        raise ProblemError(f"no arm {arm!r} among the arms")
    return index[arm]
