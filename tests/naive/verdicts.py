"""The verdict on one arm, from its intervals and the threshold's, a side at a time."""

from __future__ import annotations

from collections.abc import Sequence

Side = tuple[float, float, float, float, float, float]
"""The arm's lower and upper end and its estimate; the threshold's ends and its estimate."""


def verdict(sides: Sequence[Side], tolerance: float) -> str:
    """An outlier if it is one on any side, normal if it is so on all."""
    found = []
    for lower, upper, estimate, theta_lower, theta_upper, theta in sides:
        above, below = lower > theta_upper - tolerance, upper <= theta_lower + tolerance
        if above and below:
            found.append("outlier" if estimate > theta else "normal")
        elif above or below:
            found.append("outlier" if above else "normal")
        else:
            found.append("undecided")
    if "outlier" in found:
        return "outlier"
    return "undecided" if "undecided" in found else "normal"
