"""From values to coordinates: the range of a picture, its ticks, its scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from standout.core.typing import Floats
from standout.results import ArmHistory, Interval, Scale, Tick, Trace

LARGEST = 1e300
"""Larger values are drawn here, so that the width of a picture stays finite."""
MOST_TICKS = 8
"""More than most screens have room for; a page leaves some out."""
FAR = 3.0
"""A threshold's end farther from the arms than this many times their spread is cut off."""


@dataclass(frozen=True)
class Line:
    """Maps values to coordinates: `low` to `start` and `high` to `end`, clipped."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate of a value; infinite values lie at an end."""
        if math.isnan(value):
            return self.start
        if math.isinf(value):
            return self.start if value < 0 else self.end
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value lies inside the picture."""
        return self.low <= value <= self.high

    def ticks(self, apart: float = 70.0) -> list[tuple[float, str]]:
        """Round values about `apart` units from each other, with their labels."""
        return ticks(self.low, self.high, max(2, int(abs(self.end - self.start) / apart)))


def value_range(
    estimate: Floats,
    lower: Floats,
    upper: Floats,
    bands: Sequence[Interval],
    possible: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """The range to show: all estimates, the thresholds, and intervals where there is room.

    A wide interval may add a third of the estimates' spread to each side, and the whole spread if
    nearly all intervals are that wide. The rest is cut off.
    """
    inner = _clipped(estimate)
    middle, spread = (float(np.median(inner)), float(np.ptp(inner))) if len(inner) else (0.0, 0.0)
    near = FAR * (spread or abs(middle) or 1.0)
    ends = _clipped(np.array([end for band in bands for end in (band.lower, band.upper)]))
    if len(inner):
        ends = ends[np.abs(ends - middle) <= near]
    inner = np.concatenate([inner, ends])
    if not len(inner):
        return possible if all(math.isfinite(end) for end in possible) else (0.0, 1.0)
    low, high = float(inner.min()), float(inner.max())
    room = high - low
    if room <= 1e-9 * max(abs(low), abs(high)):
        room = 0.2 * max(abs(low), abs(high)) or 0.2
        low, high = low - room / 2, high + room / 2
    low, high = _widened(low, high, room, _clipped(lower), _clipped(upper))
    pad, edge = 0.04 * (high - low), 0.01 * (high - low)
    return max(low - pad, possible[0] - edge), min(high + pad, possible[1] + edge)


def _clipped(values: Floats) -> Floats:
    found: Floats = np.clip(values[np.isfinite(values)], -LARGEST, LARGEST)
    return found


def _widened(
    low: float, high: float, room: float, lower: Floats, upper: Floats
) -> tuple[float, float]:
    """The range with room for intervals' ends: near ones, or farther ones if most are far."""
    down, up = [low], [high]
    if len(lower):
        most = float(np.quantile(lower, 0.02))
        down += [max(low - room / 3, float(lower.min())), max(low - room, most)]
    if len(upper):
        most = float(np.quantile(upper, 0.98))
        up += [min(high + room / 3, float(upper.max())), min(high + room, most)]
    return min(down), max(up)


def trace_range(trace: Trace) -> tuple[float, float]:
    """The thresholds' range over the last two thirds of the trace; wider ones are cut off."""
    ends = (trace.lower, trace.upper, trace.lower_low, trace.upper_low)
    later = np.concatenate([column[len(trace) // 3 :] for column in ends])
    known = later if np.isfinite(later).any() else np.concatenate(ends)
    return value_range(known, known, known, ())


def path_range(
    path: ArmHistory, bands: Sequence[Interval], possible: tuple[float, float]
) -> tuple[float, float]:
    """The range of one arm's interval over its last two thirds, with thresholds near it."""
    begin = len(path.pulls) // 3
    ends = np.concatenate([path.mean[begin:], path.lower[begin:], path.upper[begin:]])
    return value_range(ends, ends, ends, bands, possible)


def scale(low: float, high: float) -> Scale:
    """The scale of a picture that a page draws."""
    marks = ticks(low, high, MOST_TICKS)
    return Scale(low, high, tuple(Tick(at, label.replace("-", "\u2212")) for at, label in marks))


def ticks(low: float, high: float, wanted: int) -> list[tuple[float, str]]:
    """Round values within [low, high] with their labels: about `wanted` of them, at least one."""
    span = high - low
    if not (1e-290 < span < math.inf):
        return [(low, f"{low:g}")]
    rough = span / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.95)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [i * step for i in range(first, last + 1)] or [low]
    if not 1e-7 < step < 1e9 or max(abs(low), abs(high)) > 1e12:
        return [(value, f"{value:.6g}") for value in values]
    half = 1 if f"{step / power:.1f}" == "2.5" else 0
    digits = max(0, -math.floor(math.log10(step) + 1e-9) + half)
    return [(value, f"{value:.{digits}f}") for value in values]
