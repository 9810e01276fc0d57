"""One arm's interval over its pulls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def interval_path(
    rewards: Sequence[float],
    at: Sequence[int],
    radius: Callable[[Sequence[float]], float],
    *,
    is_cut: bool,
    support: tuple[float, float] = (-math.inf, math.inf),
) -> list[tuple[float, float]]:
    """The interval after each number of rewards in `at`, from all rewards until then anew.

    Where intervals are cut, a mean has to lie in this one and in the one shown before; one
    that contradicts the one before stands alone.
    """
    path: list[tuple[float, float]] = []
    for number in at:
        seen = rewards[:number]
        mean = sum(seen) / number
        lower = max(mean - radius(seen), support[0])
        upper = min(mean + radius(seen), support[1])
        if is_cut and path:
            before = path[-1]
            if max(lower, before[0]) <= min(upper, before[1]):
                lower, upper = max(lower, before[0]), min(upper, before[1])
        path.append((lower, upper))
    return path
