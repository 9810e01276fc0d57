"""The information limit of a question, and how far above it a method lies. Pure data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from standout import theory
from standout.core.method import Method
from standout.core.problem import Problem
from standout.errors import ProblemError
from standout.results import Result
from standout.simulation import Instance


@dataclass(frozen=True)
class PlannedLimit(Result):
    """Expected pulls that no method can go below, or why they are not known.

    The exact limit lies between `lower`, which every method takes at least, and
    `upper`. Both are infinite if no number of pulls suffices, and None if not known.
    """

    lower: float | None
    upper: float | None
    remark: str = ""

    def ratio(self, method: Method, pulls: float) -> float | None:
        """How many times `lower` so many pulls are; None without a limit for this method."""
        asks_another = method.subset is not None or not method.is_robust
        if not self.lower or math.isinf(self.lower) or asks_another:
            return None
        return pulls / self.lower


def plan_limit(instance: Instance, problem: Problem) -> PlannedLimit:
    """The limit for these means, to 2 %; a remark where there is none."""
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
