"""One mark, one colour and one word for each verdict, wherever arms are shown.

The terminal, the report and the service's pages use this table; style sheets and scripts get it
as `css` and `script`. Verdicts differ by shape, and in the terminal by character; colour is only
an addition. docs/report.md shows the table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from standout.core.kinds import Verdict

Point = tuple[float, float]


@dataclass(frozen=True)
class Colour:
    """A colour for light and for dark backgrounds, as `#rrggbb` or, if transparent, `#rrggbbaa`."""

    light: str
    dark: str


@dataclass(frozen=True)
class Glyph:
    """A character, and its replacement in ASCII."""

    fine: str
    plain: str


@dataclass(frozen=True)
class Mark:
    """The shape and the name of arms with one verdict.

    `corners` are those of its shape, in units of its size around (0, 0) with y pointing down; a
    disc of `radius` has none. `is_open` means drawn as an outline. `low` is the character of a low
    outlier, whose shape is turned upside down.
    """

    name: str
    """The word for one arm; also its class in style sheets and its colour's name."""
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
LIKELY = Band(name="likely threshold", glyph=Glyph("▒", ";"))
"""Where the threshold probably lies: an estimate, drawn over the certain band."""


def word(verdict: Verdict, is_low: bool, both_sides: bool) -> str:
    """The word for an arm; if both sides are asked, an outlier's with its side."""
    if verdict is Verdict.OUTLIER and both_sides:
        return f"{'low' if is_low else 'high'} {OUTLIER.name}"
    return MARKS[verdict].name


def outline(mark: Mark, is_low: bool, x: float, y: float, size: float) -> str:
    """The SVG path of a mark around (x, y); `size` is about half its height."""
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
    """The colours as declarations for a CSS rule."""
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
    """The colours for pages that set their theme in `data-theme`."""
    return f':root {{ {css("light")} }}\n:root[data-theme="dark"] {{ {css("dark")} }}\n'
