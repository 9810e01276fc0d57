"""Why an arm may be decided although its interval reaches into the threshold's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from standout.results.interval import Interval

NEAR = "reaches into the threshold's by less than the tolerance of"
TOGETHER = (
    "alone still reaches into the threshold's; the rewards of all arms together rule out the "
    "other verdict"
)
"""The dashboard uses the same words (`service/static/verdicts.js`)."""
_NORMAL, _OUTLIER = 1, 2


def outside_words(names: Sequence[object], means: Any, lower: Any, upper: Any) -> str | None:
    """Why an estimate may lie outside its own interval; None if none does."""
    import numpy as np

    room = 1e-9 * np.maximum(1.0, np.abs(means))
    outside = np.flatnonzero((means < lower - room) | (means > upper + room))
    if not len(outside):
        return None
    first = int(outside[0])
    is_one = len(outside) == 1
    arms = "1 arm has its" if is_one else f"{len(outside):,} arms have their"
    what = "estimate outside its own interval" if is_one else "estimates outside their intervals"
    return (
        f"{arms} {what} ({names[first]}: {means[first]:.4g}, interval {lower[first]:.4g} to "
        f"{upper[first]:.4g}). An interval is the intersection of all earlier ones, so either the "
        "mean moved or the noise is not as stated. Do not rely on these arms."
    )


def overlap_words(
    verdict: Any,
    means: Any,
    lower: Any,
    upper: Any,
    thresholds: Sequence[Interval],
    median: float,
    side: str,
    tolerance: float,
) -> str | None:
    """A remark for a picture or table with such intervals; None if there are none.

    The arrays have one entry per arm. Verdicts are 0 undecided, 1 normal, 2 outlier.
    """
    import numpy as np

    reach = np.zeros(len(verdict))
    for place, band in enumerate(thresholds):
        is_low = side == "low" or place == 1
        inside = band.upper - lower, upper - band.lower
        # An outlier was decided against its side's threshold, a normal arm against both.
        own = (means < median) == is_low if side == "both" else True
        is_out = (verdict == _OUTLIER) & own
        reach = np.maximum(reach, np.where(is_out, inside[1 if is_low else 0], 0.0))
        reach = np.maximum(reach, np.where(verdict == _NORMAL, inside[0 if is_low else 1], 0.0))
    count = int(np.count_nonzero(reach > 0.0))
    if count == 0:
        return None
    one = count == 1
    what = TOGETHER if reach.max() > tolerance * (1 + 1e-9) else f"{NEAR} {tolerance:g}"
    arms = f"{count:,} decided arm{' touches' if one else 's touch'}"
    return f"{arms} the threshold's interval. {'Its' if one else 'Each'} interval {what}."
