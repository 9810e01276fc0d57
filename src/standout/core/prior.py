"""Facts about arms before the first pull: costs, earlier rewards, known means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from standout.core.intervals import MOMENTS
from standout.core.kinds import IntervalKind
from standout.core.method import Method
from standout.core.noise import LARGEST, Bernoulli
from standout.core.order import sort_ends
from standout.core.problem import Problem
from standout.core.state import TOUCHED, State
from standout.core.typing import Floats, Ints
from standout.errors import MethodError, ProblemError

KNOWN_PULLS = 2**40
"""The number of pulls that represents a known mean; larger than that of any measured arm."""
MOST_PULLS = 10**15
"""The largest number of earlier rewards of an arm; beyond it not all numbers are exact."""
LOWEST_COST, HIGHEST_COST = 1e-12, 1e12

Earlier = tuple[int, float] | tuple[int, float, float]
"""Earlier rewards of an arm: their number, their sum and, perhaps, their standard deviation."""


@dataclass(frozen=True)
class PriorFacts:
    """Facts about some arms, by name.

    `costs` are the costs of one pull (default 1); rules prefer cheap arms where it helps. `prior`
    are earlier rewards of the same arm: (number, sum) or, for noise of unknown scale, (number, sum,
    standard deviation with n - 1). They count for the intervals, not for the budget. `known` are
    exactly known means, such as a control's; these arms are never pulled.
    """

    costs: Mapping[Any, float] = field(default_factory=dict)
    prior: Mapping[Any, Earlier] = field(default_factory=dict)
    known: Mapping[Any, float] = field(default_factory=dict)

    def cost_array(self, index: Mapping[Any, int]) -> Floats | None:
        """Costs of all arms; None if all are equal."""
        if not self.costs:
            return None
        costs = np.ones(1 + max(index.values()))
        for arm, cost in self.costs.items():
            if not LOWEST_COST <= cost <= HIGHEST_COST:
                raise ProblemError(
                    f"the cost of arm {arm!r} must be a positive number between "
                    f"{LOWEST_COST:g} and {HIGHEST_COST:g}, not {cost}; choose another unit"
                )
            costs[_position(index, arm)] = cost
        return costs

    def apply(
        self, problem: Problem, method: Method, state: State, index: Mapping[Any, int]
    ) -> list[int]:
        """Put prior rewards and known means into a fresh state; return known arms' positions."""
        if both := self.prior.keys() & self.known.keys():
            raise ProblemError(
                f"arm {min(both, key=str)!r} has both a known mean and earlier rewards"
            )
        if self.prior:
            names = tuple(self.prior)
            places = np.array([_position(index, arm) for arm in names], dtype=np.int64)
            rows = [(*map(float, earlier), math.nan)[:3] for earlier in self.prior.values()]
            put_earlier(problem, method, state, names, places, *np.array(rows).T)
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


def put_earlier(
    problem: Problem,
    method: Method,
    state: State,
    names: Sequence[Any],
    places: Ints,
    counts: Floats,
    totals: Floats,
    deviations: Floats,
) -> None:
    """Put earlier rewards of arms into a fresh state: their number, sum and standard deviation.

    `names` and `places` are the arms' names and positions. A deviation (with n - 1) may be NaN if
    the scale of the noise is known or the arm has at most one reward.
    """
    interval = method.interval_for(problem)
    if interval in MOMENTS and interval is not IntervalKind.STUDENT:
        raise ProblemError(
            f"the interval in use ({interval.name.lower()}) needs every earlier reward in its "
            "order, not only their number and sum: give them as a table to standout.analyse, "
            "or choose focus:interval=beta-binomial where rewards are bounded"
        )
    _check_earlier(problem, names, counts, totals)
    some = counts > 0
    places, counts, totals = places[some], counts[some], totals[some]
    is_binary = isinstance(problem.noise, Bernoulli)
    state.origin[places] = 0.0 if is_binary else totals / counts
    state.pulls[places] = counts.astype(np.int64)
    state.sums[places] = totals - counts * state.origin[places]
    if interval is IntervalKind.STUDENT:
        deviations = np.where((counts == 1) & np.isnan(deviations[some]), 0.0, deviations[some])
        _check_deviations([names[i] for i in np.flatnonzero(some).tolist()], deviations)
        state.moments[places, 0] = (counts - 1) * deviations**2
    state.is_touched[places] = True
    state.touched[: len(places)] = places
    state.counters[TOUCHED] = len(places)


def _check_deviations(names: Sequence[Any], deviations: Floats) -> None:
    for i in np.flatnonzero(~((deviations >= 0) & (deviations < math.inf)))[:1].tolist():
        if math.isnan(deviations[i]):
            raise ProblemError(
                f"with noise of unknown scale, the earlier rewards of arm {names[i]!r} need their "
                "standard deviation, too: give (number, sum, standard deviation), or the rewards "
                "themselves as a table to standout.analyse"
            )
        raise ProblemError(
            f"the standard deviation of earlier rewards of arm {names[i]!r} must be a number of "
            f"at least 0, not {deviations[i]:g}"
        )


def _check_earlier(problem: Problem, names: Sequence[Any], counts: Floats, totals: Floats) -> None:
    """Check all arms at once; raise the error of the first invalid one."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        means = np.where(counts > 0, totals / counts, 0.0)
        low, high = problem.noise.support
        inside = (np.abs(means) <= LARGEST) & (low <= means) & (means <= high)
        right = (counts >= 0) & (counts <= MOST_PULLS) & (counts == np.floor(counts))
        right &= np.isfinite(totals) & np.where(counts > 0, inside, totals == 0)
        if isinstance(problem.noise, Bernoulli):
            right &= totals == np.floor(totals)
    for i in np.flatnonzero(~right)[:1].tolist():
        _check_prior(problem, names[i], float(counts[i]), float(totals[i]))


def _check_prior(problem: Problem, arm: Any, pulls: float, total: float) -> None:
    if not 0 <= pulls <= MOST_PULLS or pulls != int(pulls):
        raise ProblemError(
            f"the number of earlier rewards of arm {arm!r} must be a whole number "
            f"of at most {MOST_PULLS:g}, not {pulls:g}"
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


def _position(index: Mapping[Any, int], arm: Any) -> int:
    if arm not in index:
        raise ProblemError(f"no arm {arm!r} among the arms")
    return index[arm]
