"""Limits of every method: the number of pulls, and the width of the threshold's interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from standout import theory
from standout.analysis.thresholds import FEWEST_POSSIBLE, MOST
from standout.core.method import Method
from standout.core.noise import Bernoulli, Gaussian
from standout.core.population_bet import possible_of_means
from standout.core.problem import Problem, Side
from standout.errors import ProblemError
from standout.results import Result
from standout.simulation import Instance


@dataclass(frozen=True)
class PlannedLimit(Result):
    """The expected pulls that no method can beat, or why they are unknown.

    The exact limit lies between `lower`, which every method needs at least, and `upper`. Both are
    infinite if no number of pulls suffices, and None if unknown.
    """

    lower: float | None
    upper: float | None
    remark: str = ""

    def ratio(self, method: Method, pulls: float) -> float | None:
        """The number of pulls as a multiple of `lower`; None without a limit for this method."""
        asks_another = method.subset is not None or not method.is_robust
        if not self.lower or math.isinf(self.lower) or asks_another:
            return None
        return pulls / self.lower


def plan_limit(instance: Instance, problem: Problem) -> PlannedLimit:
    """The limit for these means, to 2 %; a remark if there is none."""
    try:
        found = theory.information_limit(instance.means, problem, instance.sigmas)
    except ProblemError as error:
        return PlannedLimit(None, None, str(error))
    if math.isinf(found.lower):
        return PlannedLimit(
            math.inf, math.inf, "a mean lies on the threshold: no number of pulls suffices"
        )
    if math.isinf(found.upper):
        return PlannedLimit(found.lower, math.inf, "how near this is to the exact limit is open")
    return PlannedLimit(found.lower, found.upper)


@dataclass(frozen=True)
class Possible(Result):
    """A side's narrowest possible interval of the threshold, for a number of rewards per arm.

    No method could prove a narrower one without assuming how the means lie.
    """

    side: Side
    per_arm: int
    lower: float
    upper: float


PER_ARM = (10, 100, 1000, 10_000)


def plan_possible(instance: Instance, problem: Problem) -> tuple[Possible, ...]:
    """For each side and each number of rewards in `PER_ARM`; none where it cannot be computed."""
    noise, n_arms = instance.noise, instance.n_arms
    if not (isinstance(noise, (Bernoulli, Gaussian)) and FEWEST_POSSIBLE <= n_arms < MOST):
        return ()
    sigma = math.nan if isinstance(noise, Bernoulli) else noise.sigma
    found: list[Possible] = []
    for side in problem.sides():
        sign, shift = (1.0, 0.0) if side is Side.HIGH else (-1.0, 1.0 if math.isnan(sigma) else 0.0)
        low, high = math.inf, -math.inf
        rows = []
        for per_arm in reversed(PER_ARM):
            ends = possible_of_means(
                sign * instance.means + shift, per_arm, sigma, problem.factor_of(side),
                math.log(1.0 / problem.delta),
            )  # fmt: skip
            if ends is not None:
                turned = sorted(sign * (end - shift) for end in ends)
                # What more rewards cannot exclude, fewer cannot either.
                low, high = min(low, turned[0]), max(high, turned[1])
            if low < high:
                rows.append(Possible(side, per_arm, low, high))
        found += reversed(rows)
    return tuple(found)
