"""Order statistics in linear time, without a sort."""

from __future__ import annotations

import numpy as np

from standout.core.jit import kernel, part
from standout.core.typing import Floats

_WALK_LIMIT = 4


@kernel()
def kth_largest(values: Floats, count: int, rank: int, guess: float, work: Floats) -> float:
    """The `rank`-th largest (1 = largest) of `values[:count]`.

    `guess` only saves time: between two rounds a median rarely moves by more
    than a few ranks, so counting around its last value usually finds it again.
    The result never depends on it. `work` is scratch of at least `count`.
    """
    value = guess
    for _ in range(_WALK_LIMIT):
        above = 0
        equal = 0
        for j in range(count):
            above += values[j] > value
            equal += values[j] == value
        if equal > 0 and above < rank <= above + equal:
            return value
        if above >= rank:
            nearest = np.inf
            for j in range(count):
                x = values[j]
                if value < x < nearest:
                    nearest = x
        else:
            nearest = -np.inf
            for j in range(count):
                x = values[j]
                if nearest < x < value:
                    nearest = x
        if nearest == value or not np.isfinite(nearest):
            break
        value = nearest
    for j in range(count):
        work[j] = values[j]
    return _quickselect(work, count, rank)


@part()
def _quickselect(work: Floats, count: int, rank: int) -> float:
    """Hoare's selection with a median-of-three pivot; reorders `work[:count]`."""
    target = rank - 1
    left = 0
    right = count - 1
    while left < right:
        middle = (left + right) // 2
        a = work[left]
        b = work[middle]
        c = work[right]
        pivot = max(min(a, b), min(max(a, b), c))
        i = left
        j = right
        while i <= j:
            while work[i] > pivot:
                i += 1
            while work[j] < pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if target <= j:
            right = j
        elif target >= i:
            left = i
        else:
            break
    return float(work[target])
