"""One mark, one colour and one word for each verdict, wherever arms are shown.

The terminal, the report and the pages of the service all take theirs from here:
drawings read the table, style sheets and scripts get it as `css` and `script`. A
verdict differs from the others by its shape, in the terminal by its character;
colour only helps. docs/report.md has the table for readers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from standout.core.kinds import Verdict

Point = tuple[float, float]


@dataclass(frozen=True)
class Colour:
    """A colour on light and on dark grounds, as `#rrggbb`, or `#rrggbbaa` to shine through."""

    light: str
    dark: str


@dataclass(frozen=True)
class Glyph:
    """A character, and what stands for it where only ASCII can be written."""

    fine: str
    plain: str


@dataclass(frozen=True)
class Mark:
    """How arms with one verdict look and what they are called.

    `corners` are those of its shape, in units of its size around (0, 0) with y
    pointing down; none for a disc of `radius`. `is_open`: drawn as an outline.
    `low` is the character of an arm that stands out for being low; its shape is
    turned upside down.
    """

    name: str
    """The word for one arm; also its class in style sheets and the name of its colour."""
    many: str
    corners: tuple[Point, ...]
    radius: float
    is_open: bool
    glyph: Glyph
    low: Glyph
    style: str
    """Rich's style in a terminal."""
    colour: Colour


OUTLIER = Mark(
    name="outlier",
    many="outliers",
    corners=((0.0, -1.1), (1.1, 0.8), (-1.1, 0.8)),
    radius=0.0,
    is_open=False,
    glyph=Glyph("▲", "^"),
    low=Glyph("▼", "v"),
    style="bold yellow",
    colour=Colour("#bd3a00", "#ff9a52"),
)
UNDECIDED = Mark(
    name="undecided",
    many="undecided arms",
    corners=((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    radius=0.0,
    is_open=True,
    glyph=Glyph("□", "?"),
    low=Glyph("□", "?"),
    style="bold bright_blue",
    colour=Colour("#0e50cc", "#6fa8ff"),
)
NORMAL = Mark(
    name="normal",
    many="normal arms",
    corners=(),
    radius=0.8,
    is_open=False,
    glyph=Glyph("●", "o"),
    low=Glyph("●", "o"),
    style="",
    colour=Colour("#676a70", "#b0b4ba"),
)
MARKS = {Verdict.UNDECIDED: UNDECIDED, Verdict.NORMAL: NORMAL, Verdict.OUTLIER: OUTLIER}


@dataclass(frozen=True)
class Band:
    """The interval in which the threshold lies: a filled band with lines at its ends."""

    name: str = "threshold"
    glyph: Glyph = Glyph("░", ":")
    style: str = "dim"
    fill: Colour = Colour("#f2c94c59", "#eab30838")
    line: Colour = Colour("#8f6109", "#e7b93c")


THRESHOLD = Band()


def word(verdict: Verdict, is_low: bool, both_sides: bool) -> str:
    """What an arm is called; where both sides are asked, an outlier with its side."""
    if verdict is Verdict.OUTLIER and both_sides:
        return f"{'low' if is_low else 'high'} {OUTLIER.name}"
    return MARKS[verdict].name


def outline(mark: Mark, is_low: bool, x: float, y: float, size: float) -> str:
    """The path of a mark around (x, y), for SVG; `size` is about half its height."""
    if not mark.corners:
        r = _short(mark.radius * size)
        left, across = _short(x - mark.radius * size), _short(2 * mark.radius * size)
        return f"M{left} {_short(y)}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0z"
    turn = -1.0 if is_low and mark is OUTLIER else 1.0
    points = (f"{_short(x + a * size)} {_short(y + turn * b * size)}" for a, b in mark.corners)
    return f"M{'L'.join(points)}z"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def colours(theme: str) -> dict[str, str]:
    """The colours of `light` or `dark`, by the names of their CSS properties."""
    found = {mark.name: getattr(mark.colour, theme) for mark in MARKS.values()}
    return found | {
        "band": getattr(THRESHOLD.fill, theme),
        "band-line": getattr(THRESHOLD.line, theme),
    }


def css(theme: str) -> str:
    """The same as declarations: what stands between the braces of a rule."""
    return " ".join(f"--{name}: {value};" for name, value in colours(theme).items())


def script() -> str:
    """The table as a JavaScript module: `MARKS`, one entry per number of `Verdict`."""
    table = [
        {
            "name": MARKS[verdict].name,
            "many": MARKS[verdict].many,
            "corners": MARKS[verdict].corners,
            "radius": MARKS[verdict].radius,
            "isOpen": MARKS[verdict].is_open,
        }
        for verdict in sorted(MARKS)
    ]
    numbers = "".join(f"export const {kind.name} = {int(kind)};\n" for kind in sorted(MARKS))
    return f"{numbers}export const MARKS = {json.dumps(table)};\n"


def style_sheet() -> str:
    """The colours for pages that say their theme in `data-theme`."""
    return f':root {{ {css("light")} }}\n:root[data-theme="dark"] {{ {css("dark")} }}\n'
