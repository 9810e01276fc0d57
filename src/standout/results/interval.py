"""Intervals of arms and of thresholds. A result with thresholds is a `HasThresholds`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from standout.results.serialisation import Lower, Maybe, Result, Upper


@dataclass(frozen=True)
class Interval(Result):
    """A closed interval, in the rewards' unit.

    Attributes:
        lower: The lower end; minus infinity while unknown, null in JSON.
        upper: The upper end; infinity while unknown, null in JSON.

    Example:
        >>> Interval(0.5, float("inf")).to_dict()
        {'lower': 0.5, 'upper': None}
        >>> Interval.from_dict({"lower": 0.5, "upper": None})
        Interval(lower=0.5, upper=inf)
    """

    lower: Lower
    upper: Upper


@dataclass(frozen=True)
class Threshold(Interval):
    """The threshold's interval and its estimate (NaN before the first round)."""

    estimate: Maybe


def possible_means(noise: str) -> tuple[float, float]:
    """The smallest and the largest mean that the noise allows, from its text.

    Example:
        >>> possible_means("bounded:1.0,7.0"), possible_means("gaussian")
        ((1.0, 7.0), (-inf, inf))
    """
    family, _, ends = noise.partition(":")
    if family == "bernoulli":
        return 0.0, 1.0
    if family == "bounded":
        low, _, high = ends.partition(",")
        return float(low), float(high)
    return -math.inf, math.inf


def words_of(
    lower: float, upper: float, low: float, high: float, show: Any = "{:.5g}".format
) -> str:
    """An interval of the threshold in words, without an end that no mean can reach.

    Example:
        >>> words_of(0.18, 1.33, 0.0, 1.0), words_of(0.18, 0.5, 0.0, 1.0)
        ('above 0.18', 'between 0.18 and 0.5')
    """
    if upper >= high and lower <= low:
        return "anywhere yet"
    if upper > high:
        return f"above {show(lower)}"
    if lower < low:
        return f"below {show(upper)}"
    return f"between {show(lower)} and {show(upper)}"


class HasThresholds:
    """A result with a threshold: `threshold`, and `threshold_low` if both sides are asked."""

    threshold: Interval
    threshold_low: Interval | None

    @property
    def thresholds(self) -> tuple[Interval, ...]:
        """The thresholds of the sides that are asked, the high one first."""
        low = self.threshold_low
        return (self.threshold,) if low is None else (self.threshold, low)

    def threshold_words(self) -> str:
        """The threshold's interval in words; both intervals if both sides are asked."""
        noise = getattr(getattr(self, "problem", None), "noise", "")
        low, high = possible_means(noise if isinstance(noise, str) else noise.spec())
        found = [
            words_of(each.lower, each.upper, low, high)
            for each in self.thresholds
            if each.upper - each.lower < math.inf
        ]
        words = f"threshold{'s' if len(self.thresholds) > 1 else ''}"
        return f"{words} {' and '.join(found)}" if found else "threshold not known yet"


def by_side(found: Sequence[object]) -> dict[str, Any]:
    """The fields of a `HasThresholds`, from one value per side, the high side first."""
    return {"threshold": found[0], "threshold_low": found[1] if len(found) > 1 else None}
