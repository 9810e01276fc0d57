"""Drawing a `Picture` with characters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.text import Text

from standout.report.picture import ArmLine, LeftOut, Picture

NAME_WIDTH = 20
STYLES = {"outlier": "bold yellow", "normal": "cyan", "undecided": "bold red"}
WORDS = {"outlier": "stands out", "normal": "normal", "undecided": "undecided"}
PLURALS = {"outlier": "outliers", "normal": "normal arms", "undecided": "undecided arms"}


@dataclass(frozen=True)
class Glyphs:
    """The characters of a picture."""

    points: dict[str, str]
    left: str
    right: str
    line: str
    band: str
    axis: str
    tick: str
    bars: str
    dots: str
    bar: str


UNICODE = Glyphs(
    {"outlier": "◆", "normal": "●", "undecided": "?"}, "├", "┤", "─", "░", "─", "┴", "▁▂▃▄▅▆▇█",
    "…", "█",
)  # fmt: skip
ASCII = Glyphs(
    {"outlier": "#", "normal": "o", "undecided": "?"}, "[", "]", "-", ":", "-", "+", ".,-=+*%@",
    "...", "=",
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """From values to columns of a strip of characters."""

    low: float
    high: float
    width: int

    def column(self, value: float) -> int:
        """The column of `value`, at the strip's ends for what lies outside."""
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        if not math.isfinite(share):
            share = 0.0 if share < 0 else 1.0
        return round(min(max(share, 0.0), 1.0) * (self.width - 1))


def draw(picture: Picture, width: int = 80, glyphs: Glyphs = UNICODE) -> list[Text]:
    """The picture's lines: names, means, pulls, intervals around the shaded threshold."""
    arms = [line for line in picture.lines if isinstance(line, ArmLine)]
    name_width = min(NAME_WIDTH, max([8, *(len(arm.name) for arm in arms)]))
    pulls_width = max([5, *(len(f"{arm.pulls:,}") for arm in arms)])
    margin = name_width + 2 + 7 + 2 + pulls_width + 2
    axis = Axis(picture.low, picture.high, max(20, min(width, 120) - margin - 1))

    title = f"{'arm':<{name_width}}  {'mean':>7}  {'pulls':>{pulls_width}}  "
    lines = [Text(title, style="dim") + _band_title(picture, axis)]
    for line in picture.lines:
        if isinstance(line, ArmLine):
            head = Text(_fit(line.name, name_width, glyphs).ljust(name_width))
            head.stylize(STYLES[line.verdict])
            head.append(f"  {_number(line.mean)}  {line.pulls:>{pulls_width},}  ")
            lines.append(head + _strip(line, picture, axis, glyphs))
        else:
            words = _fit(_left_out_words(line, glyphs), margin - 2, glyphs)
            head = Text(words.ljust(margin), style="dim")
            lines.append(head + _histogram(line, picture, axis, glyphs))
    lines += [Text(" " * margin) + part for part in _scale(axis, glyphs)]
    return [_trimmed(line) for line in lines]


def legend(picture: Picture, glyphs: Glyphs = UNICODE) -> Text:
    """What the characters mean, of those that are used."""
    text = Text()
    used = {line.verdict for line in picture.lines if isinstance(line, ArmLine)}
    for verdict, point in glyphs.points.items():
        if verdict in used:
            text.append(point, style=STYLES[verdict]).append(f" {WORDS[verdict]}   ")
    text.append(f"{glyphs.left}{glyphs.line}{glyphs.right} interval   ")
    return text.append(f"{glyphs.band * 2} threshold")


def bars(values: dict[str, int], width: int = 80, glyphs: Glyphs = UNICODE) -> list[Text]:
    """Numbers as bars, on one scale."""
    name_width = max(len(name) for name in values)
    number_width = max(len(f"{value:,}") for value in values.values())
    room = max(5, min(width, 120) - name_width - number_width - 5)
    most = max([1, *values.values()])
    lines = []
    for name, value in values.items():
        length = max(1, round(value / most * room))
        lines.append(Text(f"  {name:<{name_width}} {value:>{number_width},} {glyphs.bar * length}"))
    return lines


def _number(value: float) -> str:
    if not math.isfinite(value):
        return f"{'-':>7}"
    text = f"{value:.3f}" if abs(value) < 1000 else f"{value:.4g}"
    return f"{text:>7}"


def _fit(text: str, width: int, glyphs: Glyphs) -> str:
    return text if len(text) <= width else text[: width - len(glyphs.dots)] + glyphs.dots


def _trimmed(line: Text) -> Text:
    line.rstrip()
    return line


def _band(picture: Picture, axis: Axis) -> tuple[int, int]:
    return axis.column(picture.threshold.lower), axis.column(picture.threshold.upper)


def _band_title(picture: Picture, axis: Axis) -> Text:
    """The word `threshold` above the band, as far as it fits."""
    first, last = _band(picture, axis)
    start = min(max(0, (first + last - len("threshold")) // 2), axis.width - len("threshold"))
    return Text(" " * start + "threshold", style="dim")


def _base(picture: Picture, axis: Axis, glyphs: Glyphs) -> tuple[list[str], list[str]]:
    """Characters and styles of a strip that shows only the band."""
    first, last = _band(picture, axis)
    inside = range(first, last + 1)
    cells = [glyphs.band if i in inside else " " for i in range(axis.width)]
    return cells, ["dim" if i in inside else "" for i in range(axis.width)]


def _joined(cells: list[str], styles: list[str]) -> Text:
    text = Text()
    for cell, style in zip(cells, styles, strict=True):
        text.append(cell, style=style or None)
    return text


def _strip(arm: ArmLine, picture: Picture, axis: Axis, glyphs: Glyphs) -> Text:
    cells, styles = _base(picture, axis, glyphs)
    first, last = _columns(arm, picture, axis)
    style = STYLES[arm.verdict]
    for i in range(first, last + 1):
        cells[i], styles[i] = glyphs.line, style
    if last > first:
        # An interval that goes on beyond the picture has an open end.
        cells[first] = glyphs.left if arm.lower >= axis.low else glyphs.line
        cells[last] = glyphs.right if arm.upper <= axis.high else glyphs.line
    if math.isfinite(arm.mean):
        middle = min(max(axis.column(arm.mean), first), last)
        cells[middle], styles[middle] = glyphs.points[arm.verdict], style
    return _joined(cells, styles)


def _columns(arm: ArmLine, picture: Picture, axis: Axis) -> tuple[int, int]:
    """First and last column of an interval; one apart from the threshold is drawn apart."""
    first, last = axis.column(arm.lower), axis.column(arm.upper)
    band_first, band_last = _band(picture, axis)
    if arm.upper < picture.threshold.lower:
        last = max(0, min(last, band_first - 1))
    elif arm.lower > picture.threshold.upper:
        first = min(axis.width - 1, max(first, band_last + 1))
    return min(first, last), max(first, last)


def _left_out_words(line: LeftOut, glyphs: Glyphs) -> str:
    parts = [f"{number} more {PLURALS[verdict]}" for verdict, number in line.verdicts.items()]
    return f"{glyphs.dots} {', '.join(parts)}"


def _histogram(line: LeftOut, picture: Picture, axis: Axis, glyphs: Glyphs) -> Text:
    """Where the means of the arms without a line of their own lie."""
    cells, styles = _base(picture, axis, glyphs)
    counts = np.zeros(axis.width, dtype=np.int64)
    for mean in line.means[np.isfinite(line.means)]:
        counts[axis.column(float(mean))] += 1
    most = max(1, int(counts.max()))
    for i in np.flatnonzero(counts):
        level = math.ceil(counts[i] / most * len(glyphs.bars)) - 1
        cells[i], styles[i] = glyphs.bars[level], STYLES["normal"]
    return _joined(cells, styles)


def _scale(axis: Axis, glyphs: Glyphs) -> Iterator[Text]:
    """The axis and its numbers."""
    marks = ticks(axis)
    cells = [glyphs.axis] * axis.width
    numbers = [" "] * (axis.width + 8)
    free_from = 0
    for value, label in marks:
        place = axis.column(value)
        cells[place] = glyphs.tick
        start = max(0, min(place - len(label) // 2, axis.width - len(label)))
        if start >= free_from:
            numbers[start : start + len(label)] = label
            free_from = start + len(label) + 1
    yield Text("".join(cells), style="dim")
    yield Text("".join(numbers).rstrip(), style="dim")


def ticks(axis: Axis) -> list[tuple[float, str]]:
    """Round numbers, about one in ten columns."""
    span = axis.high - axis.low
    if not (math.isfinite(span) and span > 0):
        return [(axis.low, f"{axis.low:g}")]
    rough = span / max(2, axis.width // 10)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(axis.low / step - 1e-9)
    last = math.floor(axis.high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (
        1 if f"{step / power:.1f}" == "2.5" else 0
    )
    return [(i * step, f"{i * step:.{digits}f}") for i in range(first, last + 1)]
