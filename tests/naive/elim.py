"""The sets of ROAIElim."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.threshold import Ranges, meets


def at_median(
    lower: Sequence[float], upper: Sequence[float], ranges: Ranges, omega: Sequence[int]
) -> set[int]:
    return {i for i in omega if meets(lower[i], upper[i], ranges.median)}


def at_mad(ranges: Ranges, omega: Sequence[int]) -> set[int]:
    low, high = ranges.deviation_lower, ranges.deviation_upper
    return {i for i in omega if meets(low[i], high[i], ranges.mad)}


def at_threshold(
    lower: Sequence[float], upper: Sequence[float], theta: tuple[float, float]
) -> set[int]:
    return {i for i in range(len(lower)) if meets(lower[i], upper[i], theta)}
