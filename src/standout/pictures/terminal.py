"""The picture of arms, drawn with characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from standout.core.kinds import Verdict
from standout.pictures.arms import LeftOut, Picture, lines
from standout.pictures.marks import LIKELY, MARKS, OUTLIER, THRESHOLD, Glyph
from standout.pictures.scale import Line, ticks
from standout.results import Interval
from standout.text import printable

NAME_WIDTH = 20
WIDEST = 120
MOST_LINES = 19


@dataclass(frozen=True)
class Glyphs:
    """The characters of a picture, apart from its marks."""

    left: str
    right: str
    line: str
    axis: str
    tick: str
    bars: str
    dots: str
    bar: str

    def of(self, glyph: Glyph) -> str:
        """A mark's character."""
        return glyph.fine if self is UNICODE else glyph.plain


UNICODE = Glyphs("├", "┤", "─", "─", "┴", "▁▂▃▄▅▆▇█", "…", "█")
ASCII = Glyphs("[", "]", "-", "-", "+", ".,-=+*%@", "...", "=")


def all_characters() -> str:
    """Every character that a picture with `UNICODE` may contain."""
    marks = "".join(mark.glyph.fine + mark.low.fine for mark in MARKS.values())
    return marks + THRESHOLD.glyph.fine + LIKELY.glyph.fine + "".join(vars(UNICODE).values())


@dataclass(frozen=True)
class Strip:
    """The columns of characters in which intervals are drawn."""

    picture: Picture
    width: int
    glyphs: Glyphs

    def column(self, value: float) -> int:
        """The column of `value`; a value outside lies at an end."""
        scale = Line(self.picture.low, self.picture.high, 0.0, self.width - 1.0)
        return round(scale(value))

    def band(self, band: Interval) -> tuple[int, int]:
        """The first and last column of a threshold's interval."""
        return self.column(band.lower), self.column(band.upper)

    def ground(self) -> tuple[list[str], list[str]]:
        """Characters and styles of a strip with the thresholds only."""
        cells, styles = [" "] * self.width, [""] * self.width
        certain = [(band, THRESHOLD) for band in self.picture.bands]
        for band, look in [*certain, *((band, LIKELY) for band in self.picture.likely)]:
            first, last = self.band(band)
            for i in range(first, last + 1):
                cells[i], styles[i] = self.glyphs.of(look.glyph), look.style
        return cells, styles


def draw(
    picture: Picture, width: int = 80, glyphs: Glyphs = UNICODE, most: int = MOST_LINES
) -> list[Text]:
    """Names, means, pulls and intervals before the shaded thresholds, on at most `most` lines.

    Titles, axis and numbers take three more lines. If the width is small, names are cut and the
    column of pulls is left out.
    """
    shown = lines(picture, most)
    arms = [line for line in shown if isinstance(line, int)]
    longest = max(8, min(NAME_WIDTH, width // 3))
    names = {arm: _fit(printable(picture.names[arm], 200), longest, glyphs) for arm in arms}
    name_width = max([8, *(cell_len(name) for name in names.values())])
    pulls_width = max([5, *(len(f"{picture.pulls[arm]:,}") for arm in arms)])
    margin = name_width + 2 + 7 + 2
    has_pulls = width - margin - pulls_width - 3 >= 20
    margin += (pulls_width + 2) * has_pulls
    strip = Strip(picture, max(10, min(width, WIDEST) - margin - 1), glyphs)
    title = f"{'arm':<{name_width}}  {'mean':>7}  " + f"{'pulls':>{pulls_width}}  " * has_pulls
    found = [Text(title, style="dim") + _titles(strip)]
    for line in shown:
        if isinstance(line, LeftOut):
            words = _fit(_left_out_words(picture, line, glyphs), margin - 2, glyphs)
            found.append(Text(words.ljust(margin), style="dim") + _histogram(line, strip))
            continue
        head = Text(set_cell_size(names[line], name_width), MARKS[picture.kind(line)].style)
        mean, pulls = float(picture.estimate[line]), int(picture.pulls[line])
        numbers = f"  {_number(mean)}  " + f"{pulls:>{pulls_width},}  " * has_pulls
        found.append(Text() + head + numbers + _interval(line, strip))
    found += [Text(" " * margin) + part for part in _axis(strip)]
    for drawn in found:
        drawn.rstrip()
    return found


def legend(picture: Picture, glyphs: Glyphs = UNICODE) -> Text:
    """The meaning of the characters in use."""
    text = Text()
    for verdict in (Verdict.OUTLIER, Verdict.UNDECIDED, Verdict.NORMAL):
        used = np.flatnonzero(picture.verdict == verdict).tolist()
        for is_low in sorted({picture.is_low(arm) for arm in used}):
            mark = MARKS[verdict]
            (arm, *_) = [arm for arm in used if picture.is_low(arm) == is_low]
            text.append(_point(picture, arm, glyphs), style=mark.style)
            text.append(f" {picture.word(arm)}   ")
            if mark is not OUTLIER:
                break
    text.append(f"{glyphs.left}{glyphs.line}{glyphs.right} interval")
    if picture.bands:
        text.append(f"   {glyphs.of(THRESHOLD.glyph) * 2} {THRESHOLD.name}")
    if picture.likely:
        text.append(f"   {glyphs.of(LIKELY.glyph) * 2} {LIKELY.name}")
    return text


def bars(values: dict[str, int], width: int = 80, glyphs: Glyphs = UNICODE) -> list[Text]:
    """Numbers as bars on a common scale."""
    name_width = max(len(name) for name in values)
    number_width = max(len(f"{value:,}") for value in values.values())
    room = max(5, min(width, WIDEST) - name_width - number_width - 5)
    most = max([1, *values.values()])
    found = []
    for name, value in values.items():
        length = max(1, round(value / most * room))
        found.append(Text(f"  {name:<{name_width}} {value:>{number_width},} {glyphs.bar * length}"))
    return found


def _point(picture: Picture, arm: int, glyphs: Glyphs) -> str:
    mark = MARKS[picture.kind(arm)]
    return glyphs.of(mark.low if picture.is_low(arm) else mark.glyph)


def _number(value: float) -> str:
    if not math.isfinite(value):
        return f"{'-':>7}"
    text = f"{value:.3f}" if abs(value) < 1000 else f"{value:.4g}"
    return f"{text if len(text) <= 7 else f'{value:.1e}':>7}"


def _fit(text: str, width: int, glyphs: Glyphs) -> str:
    """The text in at most `width` columns; a Chinese character takes two."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - len(glyphs.dots)).rstrip() + glyphs.dots


def _titles(strip: Strip) -> Text:
    """The word `threshold` above each band, if there is room."""
    cells, free, name = [" "] * strip.width, 0, THRESHOLD.name
    for first, last in sorted(strip.band(band) for band in strip.picture.bands):
        start = min(max(0, (first + last - len(name)) // 2), strip.width - len(name))
        if start >= free:
            cells[start : start + len(name)] = name
            free = start + len(name) + 1
    return Text("".join(cells), style="dim")


def _joined(cells: list[str], styles: list[str]) -> Text:
    text = Text()
    for style, run in groupby(zip(cells, styles, strict=True), key=lambda pair: pair[1]):
        text.append("".join(cell for cell, _ in run), style=style or None)
    return text


def _interval(arm: int, strip: Strip) -> Text:
    picture, glyphs = strip.picture, strip.glyphs
    cells, styles = strip.ground()
    first, last = _columns(arm, strip)
    style = MARKS[picture.kind(arm)].style
    for i in range(first, last + 1):
        cells[i], styles[i] = glyphs.line, style
    if last > first:
        # An interval that extends beyond the picture has an open end.
        cells[first] = glyphs.left if picture.lower[arm] >= picture.low else glyphs.line
        cells[last] = glyphs.right if picture.upper[arm] <= picture.high else glyphs.line
    if math.isfinite(picture.estimate[arm]):
        middle = min(max(strip.column(float(picture.estimate[arm])), first), last)
        cells[middle], styles[middle] = _point(picture, arm, glyphs), style
    return _joined(cells, styles)


def _columns(arm: int, strip: Strip) -> tuple[int, int]:
    """The first and last column of an interval; one clear of a threshold is drawn clear of it."""
    lower, upper = float(strip.picture.lower[arm]), float(strip.picture.upper[arm])
    first, last = strip.column(lower), strip.column(upper)
    for band in strip.picture.bands:
        band_first, band_last = strip.band(band)
        if upper < band.lower:
            last = max(0, min(last, band_first - 1))
        elif lower > band.upper:
            first = min(strip.width - 1, max(first, band_last + 1))
    return min(first, last), max(first, last)


def _left_out_words(picture: Picture, line: LeftOut, glyphs: Glyphs) -> str:
    counts = Counter(picture.verdict[line.arms].tolist())
    parts = [f"{number:,} more {MARKS[Verdict(kind)].many}" for kind, number in counts.items()]
    return f"{glyphs.dots} {', '.join(parts)}"


def _histogram(line: LeftOut, strip: Strip) -> Text:
    """The distribution of the means of arms without a line of their own."""
    cells, styles = strip.ground()
    means = strip.picture.estimate[line.arms]
    columns = [strip.column(mean) for mean in means[np.isfinite(means)].tolist()]
    counts = np.bincount(np.array(columns, dtype=np.int64), minlength=strip.width)
    most = max(1, int(counts.max()))
    for i in np.flatnonzero(counts):
        level = math.ceil(counts[i] / most * len(strip.glyphs.bars)) - 1
        cells[i], styles[i] = strip.glyphs.bars[level], "dim"
    return _joined(cells, styles)


def _axis(strip: Strip) -> Iterator[Text]:
    """The axis and its numbers."""
    cells = [strip.glyphs.axis] * strip.width
    numbers = [" "] * (strip.width + 8)
    free = 0
    for value, label in ticks(strip.picture.low, strip.picture.high, max(2, strip.width // 10)):
        place = strip.column(value)
        cells[place] = strip.glyphs.tick
        start = max(0, min(place - len(label) // 2, strip.width - len(label)))
        if start >= free:
            numbers[start : start + len(label)] = label
            free = start + len(label) + 1
    yield Text("".join(cells), style="dim")
    yield Text("".join(numbers), style="dim")
