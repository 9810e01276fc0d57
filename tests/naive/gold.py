"""GOLD's groups, as a graph of arms whose stretched intervals meet."""

from __future__ import annotations

import math
from collections.abc import Sequence


def stretch(epsilon: float = 2.5) -> float:
    """The b for which (b + 1) / (b - 1) is (1 + epsilon) / e^(1/16)."""
    ratio = (1 + epsilon) / math.exp(1 / 16)
    return (ratio + 1) / (ratio - 1)


def groups(ends: Sequence[tuple[float, float]]) -> list[set[int]]:
    """Arms that chains of intervals connect."""
    left, found = set(range(len(ends))), []
    while left:
        group, border = set(), {left.pop()}
        while border:
            arm = border.pop()
            group.add(arm)
            near = {i for i in left if ends[i][0] <= ends[arm][1] and ends[arm][0] <= ends[i][1]}
            left -= near
            border |= near
        found.append(group)
    return found
