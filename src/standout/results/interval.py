"""Intervals, of arms and of thresholds."""

from __future__ import annotations

from dataclasses import dataclass

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
