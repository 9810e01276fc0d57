"""Small pieces of SVG: texts, lines, marks, axes and bars."""

from __future__ import annotations

import html

from standout.analysis.uniform_sampling import Uniform
from standout.pictures.arms import Picture
from standout.pictures.marks import MARKS, outline
from standout.pictures.scale import Line
from standout.text import count, rounded

TEXT_WIDTH = 6.2
"""Average width of a character of small text, in units of the picture."""
WIDE, NARROW = 760.0, 360.0
"""Widths of a picture for a page and for a phone."""


def text(value: str) -> str:
    """Any text, escaped for a page."""
    return html.escape(value, quote=True)


def n(value: float) -> str:
    """A coordinate with few digits."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def mark(picture: Picture, arm: int, x: float, y: float, size: float = 4.6) -> str:
    """The mark of an arm's verdict around (x, y)."""
    look = MARKS[picture.kind(arm)]
    kind = ' class="open"' if look.is_open else ""
    return f'<path{kind} d="{outline(look, picture.is_low(arm), x, y, size)}"/>'


def picture(
    name: str, kind: str, width: float, height: float, title: str, about: str, parts: list[str]
) -> str:
    """A whole picture; `name` must be unique on the page, `kind` is its CSS class."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {n(width)} {n(height)}" role="img" '
        f'aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{text(title)}</title><desc id="{name}-d">{text(about)}</desc>'
        + "".join(parts)
        + "</svg>"
    )


def label(x: float, y: float, words: str, anchor: str = "start", kind: str = "small") -> str:
    """A text that starts, ends or is centred at (x, y)."""
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


def effort_bars(pulls: int, uniform: Uniform) -> str:
    """The pulls used beside those that uniform sampling would have needed, for all screens."""
    return _bars(pulls, uniform, WIDE, "wide") + _bars(pulls, uniform, NARROW, "narrow")


def _bars(pulls: int, uniform: Uniform, width: float, kind: str) -> str:
    scale = Line(0.0, float(max(pulls, uniform.pulls)), 0.0, width - 130)
    more = "more than " if uniform.is_capped else "about "
    rows = [
        ("this study", pulls, count(pulls), "used"),
        ("all arms equally often", uniform.pulls, more + rounded(uniform.pulls), "uniform"),
    ]
    parts = []
    for place, (words, value, shown, which) in enumerate(rows):
        y, end = 40.0 * place, scale(float(value))
        parts.append(label(0, y + 12, words))
        parts.append(
            f'<rect class="{which}" x="0" y="{n(y + 17)}" width="{n(max(2.0, end))}" height="14"/>'
        )
        parts.append(label(end + 6, y + 28, shown, kind="name"))
    about = f"{rows[0][2]} pulls used; pulling equally often takes {rows[1][2]}."
    return picture(f"bars-{kind}", kind, width, 76, "Pulls used and needed", about, parts)
