"""Intervals, of arms and of thresholds; a result that has thresholds is a `HasThresholds`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from standout.results.serialisation import Lower, Maybe, Result, Upper


@dataclass(frozen=True)
class Interval(Result):
    """An interval with its ends included, in the rewards' unit.

    An end that is not known yet is infinite, and null in JSON.

    >>> Interval(0.5, float("inf")).to_dict()
    {'lower': 0.5, 'upper': None}
    >>> Interval.from_dict({"lower": 0.5, "upper": None})
    Interval(lower=0.5, upper=inf)
    """

    lower: Lower
    upper: Upper


@dataclass(frozen=True)
class Threshold(Interval):
    """The threshold's interval, and where it seems to be (NaN before the first round)."""

    estimate: Maybe


class HasThresholds:
    """A result with a threshold: that of the only side, or the high one and `threshold_low`."""

    threshold: Interval
    threshold_low: Interval | None

    @property
    def thresholds(self) -> tuple[Interval, ...]:
        """Those of the sides that are asked about, the high one first."""
        low = self.threshold_low
        return (self.threshold,) if low is None else (self.threshold, low)

    def threshold_words(self) -> str:
        """Where the threshold lies, or both where both sides are asked."""
        found = [
            f"between {each.lower:.5g} and {each.upper:.5g}"
            for each in self.thresholds
            if each.upper - each.lower < math.inf
        ]
        words = f"threshold{'s' if len(self.thresholds) > 1 else ''}"
        return f"{words} {' and '.join(found)}" if found else "threshold not known yet"


def by_side(found: Sequence[object]) -> dict[str, Any]:
    """The fields of a `HasThresholds`, from what there is of each side, the high one first."""
    return {"threshold": found[0], "threshold_low": found[1] if len(found) > 1 else None}
