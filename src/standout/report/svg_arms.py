"""The picture of the answer: every arm's interval against the threshold's band.

Few arms get a line each, with their names. Many are drawn side by side from the
smallest estimate to the largest; where they are too many for that, normal arms
become a band of their own, and the others more room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from standout.core.kinds import Verdict
from standout.core.typing import Floats, Ints
from standout.report import svg
from standout.report.phrases import Digits, count, plural, short
from standout.report.study_facts import WORDS, Facts
from standout.report.svg import Line, n
from standout.results import Interval

MOST_ROWS = 60
"""Up to so many arms have a line and a name each."""
WIDE, NARROW = 760.0, 360.0
ROW = 19.0


@dataclass(frozen=True)
class Shape:
    """What differs between the picture for a page and that for a phone."""

    kind: str
    width: float
    names: float
    letters: int


SHAPES = (Shape("wide", WIDE, 170.0, 23), Shape("narrow", NARROW, 104.0, 14))


def arms_picture(facts: Facts, digits: Digits) -> str:
    """The picture, once for wide and once for narrow screens."""
    if facts.seen.counts.pulls == 0:
        return ""
    if len(facts.seen.names) <= MOST_ROWS:
        return "".join(_rows(facts, digits, shape) for shape in SHAPES)
    from standout.report.svg_many import many_arms

    return many_arms(facts, digits, WIDE, "wide") + many_arms(facts, digits, NARROW, "narrow")


def bands(facts: Facts) -> list[Interval]:
    """The thresholds that are known, at least on one end."""
    both = (facts.seen.threshold, facts.seen.threshold_low)
    return [
        band
        for band in both
        if band is not None and (math.isfinite(band.lower) or math.isfinite(band.upper))
    ]


def value_range(facts: Facts) -> tuple[float, float]:
    """All estimates and thresholds, and intervals as far as they leave the rest its room."""
    seen = facts.seen
    inner = seen.estimate[np.isfinite(seen.estimate)].tolist()
    spread = float(np.ptp(inner)) if inner else 0.0
    middle = float(np.median(inner)) if inner else 0.0
    for band in bands(facts):
        for end in (band.lower, band.upper):
            if math.isfinite(end) and abs(end - middle) <= 3 * (spread or abs(middle) or 1.0):
                inner.append(end)
    low, high = (min(inner), max(inner)) if inner else (0.0, 1.0)
    room = (high - low) / 3 or abs(low) / 2 or 0.5
    ends = np.concatenate([seen.lower, seen.upper])
    ends = ends[(ends >= low - room) & (ends <= high + room)]
    low, high = min(low, float(ends.min(initial=low))), max(high, float(ends.max(initial=high)))
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def describe(facts: Facts, digits: Digits) -> str:
    """The picture in words, for those who do not see it."""
    counts, seen = facts.seen.counts, facts.seen
    words = [
        f"{plural(counts.arms, 'arm')} sorted by estimate, each with its interval: "
        f"{plural(counts.outliers, 'outlier')}, {count(counts.normal)} normal, "
        f"{count(counts.undecided)} undecided."
    ]
    if seen.threshold_low is not None:
        words.append(f"High threshold {_ends(seen.threshold, digits)}.")
        words.append(f"Low threshold {_ends(seen.threshold_low, digits)}.")
    else:
        words.append(f"Threshold {_ends(seen.threshold, digits)}.")
    return " ".join(words)


def _ends(band: Interval, digits: Digits) -> str:
    return f"between {digits(band.lower)} and {digits(band.upper)}"


def arm_words(facts: Facts, i: int, digits: Digits) -> str:
    """One arm in words: what a pointer over it shows."""
    seen = facts.seen
    verdict = {"outlier": "stands out"}.get(kind := kind_of(facts, i), kind)
    return (
        f"{short(seen.names[i])}: {verdict}, {digits(float(seen.estimate[i]))} "
        f"({digits.interval(float(seen.lower[i]), float(seen.upper[i]))}), "
        f"{plural(int(seen.pulls[i]), 'pull')}"
    )


def kind_of(facts: Facts, i: int) -> str:
    """`outlier`, `normal` or `undecided`."""
    return WORDS[Verdict(int(facts.seen.verdict[i]))]


def sorted_arms(facts: Facts) -> Ints:
    """All arms from the largest estimate down, those without one last."""
    estimate: Floats = facts.seen.estimate
    return np.argsort(-np.where(np.isnan(estimate), -np.inf, estimate), kind="stable")


def _rows(facts: Facts, digits: Digits, shape: Shape) -> str:
    order = sorted_arms(facts)
    top = 26.0
    bottom = top + ROW * len(order) + 4
    scale = Line(*value_range(facts), shape.names, shape.width - 8)
    parts = svg.bottom_axis(scale, top, bottom, 90.0 if shape.kind == "wide" else 70.0)
    parts += _vertical_bands(facts, scale, top, bottom)
    name = f"arms-{shape.kind}"
    parts.append(
        f'<clipPath id="{name}-c"><rect x="0" y="0" width="{n(shape.names - 10)}" '
        f'height="{n(bottom)}"/></clipPath>'
    )
    for place, i in enumerate(order.tolist()):
        y = top + ROW * (place + 0.5) + 2
        parts.append(_row(facts, digits, scale, i, y, shape, name))
    return svg.picture(
        name, shape.kind, shape.width, bottom + 20,
        "Every arm's interval against the threshold", describe(facts, digits), parts,
    )  # fmt: skip


def _row(
    facts: Facts, digits: Digits, scale: Line, i: int, y: float, shape: Shape, name: str
) -> str:
    seen, kind = facts.seen, kind_of(facts, i)
    lower, upper, estimate = float(seen.lower[i]), float(seen.upper[i]), float(seen.estimate[i])
    parts = [f'<g class="{kind}"><title>{svg.text(arm_words(facts, i, digits))}</title>']
    parts.append(
        f'<g clip-path="url(#{name}-c)">'
        + svg.label(0, y + 4, short(seen.names[i], shape.letters), kind="name")
        + "</g>"
    )
    if math.isfinite(estimate):
        left, right = scale(lower), scale(upper)
        parts.append(f'<path class="line" d="M{n(left)} {n(y)}H{n(right)}"/>')
        parts += [
            f'<path class="line" d="M{n(x)} {n(y - 3.5)}v7"/>'
            for x, value in ((left, lower), (right, upper))
            if scale.holds(value)
        ]
        parts.append(svg.mark(kind, scale(estimate), y))
    else:
        parts.append(svg.label(scale.start + 4, y + 4, "not measured yet"))
    return "".join(parts) + "</g>"


def _vertical_bands(facts: Facts, scale: Line, top: float, bottom: float) -> Iterable[str]:
    parts = []
    seen = facts.seen
    if math.isfinite(seen.median) and scale.holds(seen.median):
        x = scale(seen.median)
        parts.append(f'<path class="median" d="M{n(x)} {n(top)}V{n(bottom)}"/>')
    for band in bands(facts):
        left, right = scale(band.lower), scale(band.upper)
        parts.append(
            f'<rect class="band" x="{n(left)}" y="{n(top)}" width="{n(max(1.0, right - left))}" '
            f'height="{n(bottom - top)}"/>'
        )
        half = 28.0
        middle = min(max((left + right) / 2, scale.start + half), scale.end - half)
        parts.append(svg.label(middle, top - 10, "threshold", "middle", "bandname"))
    return parts
