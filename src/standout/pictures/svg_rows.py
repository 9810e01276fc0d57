"""Few arms as SVG: a line with its name for each, across the threshold's band."""

from __future__ import annotations

import math
from dataclasses import dataclass

from standout.pictures import svg
from standout.pictures.arms import Picture, arm_words, describe
from standout.pictures.marks import MARKS, THRESHOLD
from standout.pictures.scale import Line
from standout.pictures.svg import NARROW, WIDE, n
from standout.text import Digits, printable

MOST_ROWS = 60
"""Up to so many arms have a line and a name each."""
ROW = 19.0
TOP = 26.0


@dataclass(frozen=True)
class Shape:
    """What differs between the picture for a page and that for a phone."""

    kind: str
    width: float
    names: float
    letters: int
    apart: float


SHAPES = (Shape("wide", WIDE, 170.0, 23, 90.0), Shape("narrow", NARROW, 104.0, 14, 70.0))


def rows(picture: Picture, digits: Digits) -> str:
    """The picture, once for wide and once for narrow screens."""
    return "".join(_rows(picture, digits, shape) for shape in SHAPES)


def _rows(picture: Picture, digits: Digits, shape: Shape) -> str:
    bottom = TOP + ROW * len(picture.order) + 4
    scale = Line(picture.low, picture.high, shape.names, shape.width - 8)
    parts = svg.bottom_axis(scale, TOP, bottom, shape.apart)
    parts += _bands(picture, scale, bottom)
    name = f"arms-{shape.kind}"
    parts.append(
        f'<clipPath id="{name}-c"><rect x="0" y="0" width="{n(shape.names - 10)}" '
        f'height="{n(bottom)}"/></clipPath>'
    )
    for place, arm in enumerate(picture.order.tolist()):
        y = TOP + ROW * (place + 0.5) + 2
        words = printable(picture.names[arm], shape.letters)
        parts.append(f'<g class="{MARKS[picture.kind(arm)].name}">')
        parts.append(f"<title>{svg.text(arm_words(picture, arm, digits))}</title>")
        parts.append(f'<g clip-path="url(#{name}-c)">{svg.label(0, y + 4, words, kind="name")}</g>')
        parts += [*_interval(picture, arm, scale, y), "</g>"]
    return svg.picture(
        name, shape.kind, shape.width, bottom + 20,
        "Every arm's interval against the threshold", describe(picture, digits), parts,
    )  # fmt: skip


def _interval(picture: Picture, arm: int, scale: Line, y: float) -> list[str]:
    """Interval and mark; an interval that goes on beyond the picture has an open end."""
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


def _bands(picture: Picture, scale: Line, bottom: float) -> list[str]:
    parts = []
    if math.isfinite(picture.median) and scale.holds(picture.median):
        x = scale(picture.median)
        parts.append(f'<path class="median" d="M{n(x)} {n(TOP)}V{n(bottom)}"/>')
    for estimate in picture.estimates():
        x = scale(estimate)
        parts.append(f'<path class="guess" d="M{n(x)} {n(TOP)}V{n(bottom)}"/>')
    for band in picture.bands:
        left, right = scale(band.lower), scale(band.upper)
        parts.append(
            f'<rect class="band" x="{n(left)}" y="{n(TOP)}" width="{n(max(1.0, right - left))}" '
            f'height="{n(bottom - TOP)}"/>'
            f'<path class="edge" d="M{n(left)} {n(TOP)}V{n(bottom)}'
            f'M{n(right)} {n(TOP)}V{n(bottom)}"/>'
        )
        half = 28.0
        middle = min(max((left + right) / 2, scale.start + half), scale.end - half)
        parts.append(svg.label(middle, TOP - 10, THRESHOLD.name, "middle", "bandname"))
    return parts
