"""The picture of arms as SVG: few arms with a line and a name each, many side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.core.kinds import Verdict
from standout.core.typing import Flags, Floats, Ints
from standout.pictures import svg
from standout.pictures.arms import Picture, arm_words, describe, singled_out
from standout.pictures.marks import LIKELY, MARKS, THRESHOLD
from standout.pictures.scale import Line
from standout.pictures.svg import NARROW, WIDE, n
from standout.text import Digits, printable

MOST_ROWS = 60
"""Up to this many arms have a line and a name each."""
ROW, ROWS_TOP = 19.0, 26.0
MOST_NAMED = 12
MOST_TITLED = 800
"""With more arms there are no tooltips, to keep the file small."""
LEFT, TOP = 52.0, 22.0
CROWDS = (Verdict.NORMAL, Verdict.UNDECIDED, Verdict.OUTLIER)


@dataclass(frozen=True)
class Shape:
    """The differences between the picture for a page and the one for a phone."""

    kind: str
    width: float
    names: float
    letters: int
    apart: float


SHAPES = (Shape("wide", WIDE, 170.0, 23, 90.0), Shape("narrow", NARROW, 104.0, 14, 70.0))


def rows(picture: Picture, digits: Digits) -> str:
    """The picture with a line per arm, for wide and for narrow screens."""
    return "".join(_rows(picture, digits, shape) for shape in SHAPES)


def _rows(picture: Picture, digits: Digits, shape: Shape) -> str:
    bottom = ROWS_TOP + ROW * len(picture.order) + 4
    scale = Line(picture.low, picture.high, shape.names, shape.width - 8)
    parts = svg.bottom_axis(scale, ROWS_TOP, bottom, shape.apart)
    parts += _upright_bands(picture, scale, bottom)
    if picture.axis:
        words = printable(picture.axis, 2 * shape.letters)
        parts.append(svg.label((scale.start + shape.width) / 2, bottom + 34, words, "middle"))
    name = f"arms-{shape.kind}"
    parts.append(
        f'<clipPath id="{name}-c"><rect x="0" y="0" width="{n(shape.names - 10)}" '
        f'height="{n(bottom)}"/></clipPath>'
    )
    for place, arm in enumerate(picture.order.tolist()):
        y = ROWS_TOP + ROW * (place + 0.5) + 2
        words = printable(picture.names[arm], shape.letters)
        parts.append(f'<g class="{MARKS[picture.kind(arm)].name}">')
        parts.append(f"<title>{svg.text(arm_words(picture, arm, digits))}</title>")
        parts.append(f'<g clip-path="url(#{name}-c)">{svg.label(0, y + 4, words, kind="name")}</g>')
        parts += [*_interval(picture, arm, scale, y), "</g>"]
    return svg.picture(
        name, shape.kind, shape.width, bottom + (38 if picture.axis else 20),
        "Every arm's interval against the threshold", describe(picture, digits), parts,
    )  # fmt: skip


def _interval(picture: Picture, arm: int, scale: Line, y: float) -> list[str]:
    """Interval and mark; an interval that extends beyond the picture has an open end."""
    if not math.isfinite(picture.estimate[arm]):
        return [svg.label(scale.start + 4, y + 4, "not measured yet")]
    lower, upper = float(picture.lower[arm]), float(picture.upper[arm])
    left, right = scale(lower), scale(upper)
    ends = [
        f'<path class="line" d="M{n(x)} {n(y - 3.5)}v7"/>'
        for x, value in ((left, lower), (right, upper))
        if scale.holds(value)
    ]
    return [
        f'<path class="line" d="M{n(left)} {n(y)}H{n(right)}"/>',
        *ends,
        svg.mark(picture, arm, scale(float(picture.estimate[arm])), y),
    ]


def _upright_bands(picture: Picture, scale: Line, bottom: float) -> list[str]:
    parts = []
    if math.isfinite(picture.median) and scale.holds(picture.median):
        x = scale(picture.median)
        parts.append(f'<path class="median" d="M{n(x)} {n(ROWS_TOP)}V{n(bottom)}"/>')
    for estimate in picture.estimates():
        x = scale(estimate)
        parts.append(f'<path class="guess" d="M{n(x)} {n(ROWS_TOP)}V{n(bottom)}"/>')
    for band in picture.bands:
        left, right = scale(band.lower), scale(band.upper)
        parts.append(
            f'<rect class="band" x="{n(left)}" y="{n(ROWS_TOP)}" '
            f'width="{n(max(1.0, right - left))}" height="{n(bottom - ROWS_TOP)}"/>'
            f'<path class="edge" d="M{n(left)} {n(ROWS_TOP)}V{n(bottom)}'
            f'M{n(right)} {n(ROWS_TOP)}V{n(bottom)}"/>'
        )
        half = 28.0
        middle = min(max((left + right) / 2, scale.start + half), scale.end - half)
        parts.append(svg.label(middle, ROWS_TOP - 10, THRESHOLD.name, "middle", "bandname"))
    for band in picture.likely:
        left, right = scale(band.lower), scale(band.upper)
        parts.append(
            f'<rect class="likely" x="{n(left)}" y="{n(ROWS_TOP)}" '
            f'width="{n(max(1.0, right - left))}" height="{n(bottom - ROWS_TOP)}">'
            f"<title>{LIKELY.name}</title></rect>"
        )
    return parts


def many(picture: Picture, digits: Digits) -> str:
    """The picture with arms side by side, a crowd as a band; for wide and for narrow screens."""
    return _many(picture, digits, WIDE, 420.0, "wide") + _many(
        picture, digits, NARROW, 340.0, "narrow"
    )


def _many(picture: Picture, digits: Digits, width: float, height: float, kind: str) -> str:
    order, single = picture.measured, singled_out(picture)
    x = places(single, LEFT + 6, width - 8)
    scale = Line(picture.low, picture.high, height - 30, TOP)
    parts = [*svg.left_axis(scale, LEFT, width), *_bands(picture, scale, width)]
    parts += _crowds(picture, single, x, scale)
    has_titles = len(order) <= MOST_TITLED
    for arm, at in zip(order[single].tolist(), x[single].tolist(), strict=True):
        words = f"<title>{svg.text(arm_words(picture, arm, digits))}</title>" if has_titles else ""
        parts.append(_arm(picture, arm, at, scale, words))
    parts += _names(picture, dict(zip(order.tolist(), x.tolist(), strict=True)), scale, kind)
    if picture.axis:
        parts.append(svg.label(2, 11, printable(picture.axis, 50)))
    words = "arms, from the smallest estimate to the largest"
    parts.append(svg.label((LEFT + width) / 2, height - 8, words, "middle"))
    return svg.picture(
        f"arms-{kind}", kind, width, height,
        "Every arm's interval against the threshold", describe(picture, digits), parts,
    )  # fmt: skip


def places(single: Flags, left: float, right: float) -> Floats:
    """The x coordinate of each arm; an arm drawn alone gets more room than one of a crowd."""
    weight = np.ones(len(single))
    alone = int(single.sum())
    if 0 < alone < len(single):
        # At most 10 units each, and at most half of the width together.
        share = min(0.5, 10.0 * alone / (right - left))
        weight[single] = max(1.0, share / (1 - share) * (len(single) - alone) / alone)
    middle = np.cumsum(weight) - weight / 2
    found: Floats = left + middle / weight.sum() * (right - left)
    return found


def _arm(picture: Picture, arm: int, x: float, scale: Line, words: str) -> str:
    top, bottom = scale(float(picture.upper[arm])), scale(float(picture.lower[arm]))
    kind = picture.kind(arm)
    size = 3.4 if kind is Verdict.OUTLIER else 2.4
    line = f'<path class="line" d="M{n(x)} {n(top)}V{n(bottom)}"/>'
    point = svg.mark(picture, arm, x, scale(float(picture.estimate[arm])), size)
    return f'<g class="{MARKS[kind].name}">{words}{line}{point}</g>'


def _crowds(picture: Picture, single: Flags, x: Floats, scale: Line) -> list[str]:
    """The arms that are not drawn one by one, as bands of their intervals."""
    verdict = picture.verdict[picture.measured]
    return [
        _crowd(picture, kind, found, x, scale)
        for kind in CROWDS
        if len(found := np.flatnonzero(~single & (verdict == kind)))
    ]


def _crowd(picture: Picture, kind: Verdict, crowd: Ints, x: Floats, scale: Line) -> str:
    arms = picture.measured[crowd]
    column = np.floor(x[crowd] / 3.0).astype(np.int64)
    edges = np.flatnonzero(np.diff(column, prepend=-1))
    sizes = np.diff(np.append(edges, len(crowd)))
    upper = np.maximum.reduceat(picture.upper[arms], edges)
    lower = np.minimum.reduceat(picture.lower[arms], edges)
    middle = np.add.reduceat(picture.estimate[arms], edges) / sizes
    at = x[crowd[edges]]
    outlines, middles = [], []
    # Other arms between them begin a new band.
    for run in np.split(np.arange(len(at)), np.flatnonzero(np.diff(column[edges]) > 2) + 1):
        # Half a column wider at both ends, so that a single column is visible.
        wide = np.concatenate([run[:1], run, run[-1:]])
        xs = np.concatenate([at[run[:1]] - 1.5, at[run], at[run[-1:]] + 1.5])
        there, back = _points(xs, upper[wide], scale), _points(xs[::-1], lower[wide][::-1], scale)
        outlines.append("L".join([*there, *back]))
        middles.append("L".join(_points(xs, middle[wide], scale)))
    return (
        f'<g class="{MARKS[kind].name}"><path class="crowd" d="M{"zM".join(outlines)}z"/>'
        f'<path class="line" d="M{"M".join(middles)}"/></g>'
    )


def _points(xs: Floats, values: Floats, scale: Line) -> list[str]:
    return [f"{n(a)} {n(scale(v))}" for a, v in zip(xs.tolist(), values.tolist(), strict=True)]


def _bands(picture: Picture, scale: Line, width: float) -> list[str]:
    parts = []
    if math.isfinite(picture.median) and scale.holds(picture.median):
        y = scale(picture.median)
        parts.append(f'<path class="median" d="M{n(LEFT)} {n(y)}H{n(width)}"/>')
    for estimate in picture.estimates():
        y = scale(estimate)
        parts.append(f'<path class="guess" d="M{n(LEFT)} {n(y)}H{n(width)}"/>')
    for band in picture.bands:
        top, bottom = scale(band.upper), scale(band.lower)
        parts.append(
            f'<rect class="band" x="{n(LEFT)}" y="{n(top)}" width="{n(width - LEFT)}" '
            f'height="{n(max(1.0, bottom - top))}"/>'
            f'<path class="edge" d="M{n(LEFT)} {n(top)}H{n(width)}'
            f'M{n(LEFT)} {n(bottom)}H{n(width)}"/>'
        )
        middle = (top + bottom) / 2 + 4
        parts.append(svg.label(LEFT + 8, middle, THRESHOLD.name, kind="bandname"))
    for band in picture.likely:
        top, bottom = scale(band.upper), scale(band.lower)
        parts.append(
            f'<rect class="likely" x="{n(LEFT)}" y="{n(top)}" width="{n(width - LEFT)}" '
            f'height="{n(max(1.0, bottom - top))}"><title>{LIKELY.name}</title></rect>'
        )
    return parts


def _names(picture: Picture, where: dict[int, float], scale: Line, kind: str) -> list[str]:
    """Names of the outliers, if they are few: left of high ones, right of low ones."""
    found = picture.measured[::-1]
    outliers = found[picture.verdict[found] == Verdict.OUTLIER].tolist()
    if len(outliers) > MOST_NAMED:
        return []
    letters = 26 if kind == "wide" else 14
    parts, taken = [], {True: -math.inf, False: -math.inf}
    for arm in outliers:
        is_low = picture.is_low(arm)
        y = max(scale(float(picture.estimate[arm])) + 4, taken[is_low] + 13)
        taken[is_low] = y
        at, anchor = (where[arm] + 9, "start") if is_low else (where[arm] - 9, "end")
        parts.append(svg.label(at, y, printable(picture.names[arm], letters), anchor, "name"))
    return parts
