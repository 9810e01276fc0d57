"""Sorted copies of the interval ends, kept up to date in linear time per change."""

from __future__ import annotations

from standout.core.jit import array_kernel, kernel
from standout.core.state import SIZE, State
from standout.core.typing import Floats


@kernel
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


@kernel
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


@array_kernel
def sort_ends(state: State, side: int) -> None:
    """Sort the ends of the intervals of the arms that make the threshold anew."""
    count = state.sampled[SIZE]
    lower = state.sorted_lower[side][:count]
    upper = state.sorted_upper[side][:count]
    for j in range(count):
        i = state.omega[j]
        lower[j] = state.lower[side, i]
        upper[j] = state.upper[side, i]
    lower.sort()
    upper.sort()
