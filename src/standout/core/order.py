"""Order statistics without a sort, and sorted copies of the interval ends."""

from __future__ import annotations

import numpy as np

from standout.core.compile import kernel, part
from standout.core.state import SIZE, State
from standout.core.typing import Floats

_WALK_LIMIT = 4
_RUN = 16
"""Values up to which moving them one by one beats merging."""


# A kernel, though only kernels call it: by itself, its loops are compiled to quicker code.
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
    return quickselect(work, count, rank)


@part()
def quickselect(work: Floats, count: int, rank: int) -> float:
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


@part()
def first_at_least(values: Floats, value: float) -> int:
    """Index of the first entry of ascending `values` that is >= `value`."""
    low = 0
    high = len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@part()
def replace_value(values: Floats, old: float, new: float) -> None:
    """Take one entry `old` out of ascending `values` and put `new` in its place in the order."""
    position = first_at_least(values, old)
    last = len(values) - 1
    if new > old:
        while position < last and values[position + 1] < new:
            values[position] = values[position + 1]
            position += 1
    else:
        while position > 0 and values[position - 1] > new:
            values[position] = values[position - 1]
            position -= 1
    values[position] = new


@part()
def merge_sort(values: Floats, work: Floats) -> None:
    """Sort `values`; `work` is scratch of at least their number.

    NumPy's own sort takes much longer to compile.
    """
    count = len(values)
    for start in range(0, count, _RUN):
        for i in range(start + 1, min(start + _RUN, count)):
            value = values[i]
            j = i
            while j > start and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
    width = _RUN
    while width < count:
        # Twice each time, so that it ends up where it began.
        _merge_runs(values, work, count, width)
        _merge_runs(work, values, count, 2 * width)
        width *= 4


@part()
def _merge_runs(source: Floats, target: Floats, count: int, width: int) -> None:
    """Merge sorted runs of `width` entries, two by two."""
    for start in range(0, count, 2 * width):
        i = start
        middle = min(start + width, count)
        j = middle
        end = min(start + 2 * width, count)
        for position in range(start, end):
            if j >= end or (i < middle and source[i] <= source[j]):
                target[position] = source[i]
                i += 1
            else:
                target[position] = source[j]
                j += 1


@part()
def sort_ends(state: State, side: int) -> None:
    """Sort the ends of the intervals of the arms that make the threshold."""
    count = state.sampled[SIZE]
    lower = state.sorted_lower[side][:count]
    upper = state.sorted_upper[side][:count]
    for j in range(count):
        i = state.omega[j]
        lower[j] = state.lower[side, i]
        upper[j] = state.upper[side, i]
    merge_sort(lower, state.work)
    merge_sort(upper, state.work)
