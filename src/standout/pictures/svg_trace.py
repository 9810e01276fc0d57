"""The progress of a study: the threshold's interval and the undecided arms over the pulls."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from standout.core.typing import Floats
from standout.pictures import svg
from standout.pictures.scale import Line, trace_range
from standout.pictures.svg import NARROW, WIDE, n
from standout.results import Trace
from standout.text import Digits, count, plural, rounded

LEFT = 52.0


def trace_pictures(trace: Trace, digits: Digits) -> str:
    """Two panels over the same pulls, for wide and narrow screens; empty for one moment."""
    if len(trace) < 2:
        return ""
    return _panels(trace, digits, WIDE, "wide") + _panels(trace, digits, NARROW, "narrow")


def _panels(trace: Trace, digits: Digits, width: float, kind: str) -> str:
    first, last = float(trace.pulls[0]), float(trace.pulls[-1])
    across = Line(math.log10(first), math.log10(last), LEFT, width - 12)
    x = [across(math.log10(float(pulls))) for pulls in trace.pulls]
    values = Line(*trace_range(trace), 150.0, 22.0)
    arms = Line(0.0, float(max(trace.undecided.max(), 1)), 262.0, 192.0)
    parts = [svg.label(LEFT, 14, "threshold lies between", kind="heading")]
    parts += svg.left_axis(values, LEFT, width - 12, 32)
    parts += [_band(x, trace.lower, trace.upper, values)]
    if np.isfinite(trace.lower_low).any():
        parts += [_band(x, trace.lower_low, trace.upper_low, values)]
    parts.append(svg.label(LEFT, 184, "undecided arms", kind="heading"))
    parts += _count_axis(arms, LEFT, width - 12)
    parts.append(_steps(x, trace.undecided.astype(np.float64), arms))
    parts += _pulls_axis(first, last, across)
    parts.append(svg.label((LEFT + width) / 2, 296, "pulls (log scale)", "middle"))
    return svg.picture(
        f"trace-{kind}", kind, width, 302,
        "Threshold and undecided arms over the pulls", _words(trace, digits), parts,
    )  # fmt: skip


def _words(trace: Trace, digits: Digits) -> str:
    return (
        f"Over {plural(int(trace.pulls[-1]), 'pull')} the threshold's interval narrowed to "
        f"{digits.interval(float(trace.lower[-1]), float(trace.upper[-1]))}, and the "
        f"undecided arms went from {count(int(trace.undecided[0]))} "
        f"to {count(int(trace.undecided[-1]))}."
    )


def _band(x: Sequence[float], lower: Floats, upper: Floats, scale: Line) -> str:
    there = [f"{n(a)} {n(scale(float(v)))}" for a, v in zip(x, upper, strict=True)]
    back = [f"{n(a)} {n(scale(float(v)))}" for a, v in zip(x[::-1], lower[::-1], strict=True)]
    return f'<path class="band edge" d="M{"L".join([*there, *back])}z"/>'


def _steps(x: Sequence[float], values: Floats, scale: Line) -> str:
    """A step line: each value holds until the next one."""
    path = [f"M{n(x[0])} {n(scale(float(values[0])))}"]
    path += [
        f"H{n(a)}V{n(scale(float(v)))}" for a, v in zip(x[1:], values[1:].tolist(), strict=True)
    ]
    return f'<path class="steps" d="{"".join(path)}"/>'


def _count_axis(scale: Line, left: float, right: float) -> list[str]:
    parts = []
    for value in (0.0, scale.high):
        y = scale(value)
        parts.append(f'<path class="grid" d="M{n(left)} {n(y)}H{n(right)}"/>')
        parts.append(svg.label(left - 6, y + 4, count(value), "end"))
    return parts


def _pulls_axis(first: float, last: float, across: Line) -> list[str]:
    """A few round numbers on a logarithmic axis."""
    steps = (1, 2, 5) if last / first < 200 else (1,)
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    marks = [step * 10.0**power for power in powers for step in steps]
    parts, free = [], -math.inf
    for value in marks:
        if first <= value <= last and across(math.log10(value)) > free:
            x = across(math.log10(value))
            parts.append(f'<path class="grid" d="M{n(x)} 22V150M{n(x)} 192V262"/>')
            parts.append(svg.label(x, 277, rounded(value), "middle"))
            free = x + svg.TEXT_WIDTH * (len(rounded(value)) + 2)
    return parts
