"""The least tolerance that decides all arms, arm by arm and side by side."""

from __future__ import annotations

from collections.abc import Sequence

Ends = Sequence[tuple[float, float]]


def needed(arm: Ends, thresholds: Ends) -> float:
    """Of one arm, its interval on each side: it stands out on one side, or is normal on all."""
    stands_out, is_normal = float("inf"), 0.0
    for (lower, upper), (low, high) in zip(arm, thresholds, strict=True):
        stands_out = min(stands_out, high - lower)
        is_normal = max(is_normal, upper - low)
    return max(0.0, min(stands_out, is_normal))


def least_tolerance(arms: Sequence[Ends], thresholds: Ends) -> float:
    return max(needed(arm, thresholds) for arm in arms)
