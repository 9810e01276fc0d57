"""Small pieces of SVG: texts, lines, marks and axes."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from standout.report.draw import Axis, ticks

TEXT_WIDTH = 6.2
"""Average width of a character of the small texts, in units of the picture."""


def text(value: str) -> str:
    """Any text, safe inside a page."""
    return html.escape(value, quote=True)


def n(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Line:
    """Maps values to coordinates, `start` for `low` and `end` for `high`; clipped."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        if math.isnan(value):
            return self.start
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value lies inside the picture."""
        return self.low <= value <= self.high

    def ticks(self, apart: float = 70.0) -> list[tuple[float, str]]:
        """Round values about `apart` units from each other, with their labels."""
        number = abs(self.end - self.start) / apart
        return ticks(Axis(self.low, self.high, max(20, round(10 * number))))


def mark(kind: str, x: float, y: float, size: float = 4.0) -> str:
    """An arm's estimate: a diamond, a hollow square or a dot, so that colour is not needed."""
    if kind == "outlier":
        s = size * 1.35
        return f'<path d="M{n(x)} {n(y - s)}l{n(s)} {n(s)}l{n(-s)} {n(s)}l{n(-s)} {n(-s)}z"/>'
    if kind == "undecided":
        s = size * 0.95
        return f'<path class="open" d="M{n(x - s)} {n(y - s)}h{n(2 * s)}v{n(2 * s)}h{n(-2 * s)}z"/>'
    return f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(size * 0.85)}"/>'


def picture(
    name: str, kind: str, width: float, height: float, title: str, about: str, parts: list[str]
) -> str:
    """A whole picture; `name` must be unique on the page, `kind` says on which screens it shows."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {n(width)} {n(height)}" role="img" '
        f'aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{text(title)}</title><desc id="{name}-d">{text(about)}</desc>'
        + "".join(parts)
        + "</svg>"
    )


def label(x: float, y: float, words: str, anchor: str = "start", kind: str = "small") -> str:
    """A text."""
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="{kind}" x="{n(x)}" y="{n(y)}"{side}>{text(words)}</text>'


def bottom_axis(scale: Line, top: float, bottom: float, apart: float = 70.0) -> list[str]:
    """Vertical grid lines with their numbers below."""
    parts = []
    for value, words in scale.ticks(apart):
        x = scale(value)
        parts.append(f'<path class="grid" d="M{n(x)} {n(top)}V{n(bottom)}"/>')
        parts.append(label(x, bottom + 14, words.replace("-", "−"), "middle"))
    return parts


def left_axis(scale: Line, left: float, right: float, apart: float = 50.0) -> list[str]:
    """Horizontal grid lines with their numbers on the left."""
    parts = []
    for value, words in scale.ticks(apart):
        y = scale(value)
        parts.append(f'<path class="grid" d="M{n(left)} {n(y)}H{n(right)}"/>')
        parts.append(label(left - 6, y + 4, words.replace("-", "−"), "end"))
    return parts
