"""The picture in a terminal."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from standout import Problem, analyse
from standout.core.problem import Side
from standout.pictures import terminal
from standout.pictures.arms import picture_of_answer
from standout.pictures.marks import LIKELY, THRESHOLD
from standout.pictures.svg_arms import many, rows
from standout.pictures.terminal import ASCII, UNICODE, Glyphs
from standout.results import Identification, Interval
from standout.text import Digits
from tests.pictures.answers import answer, found, picture


def plain(
    answer: Identification, width: int = 80, glyphs: Glyphs = UNICODE, side: Side = Side.HIGH
) -> list[str]:
    return [line.plain for line in terminal.draw(picture(answer, side), width, glyphs)]


@pytest.mark.parametrize("width", [32, 40, 45, 60, 80, 120, 200])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_it_fits_the_width(width: int, glyphs: Glyphs) -> None:
    lines = plain(found(undecided=2), width, glyphs)
    assert max(len(line) for line in lines) < width
    assert len(lines) == terminal.MOST_LINES + 3


def test_ascii_is_ascii() -> None:
    answer = found(undecided=3)
    text = "".join(plain(answer, glyphs=ASCII))
    text += terminal.legend(picture(answer), ASCII).plain
    assert text.isascii()
    assert "^ outlier" in text
    assert "? undecided" in text


def test_a_decided_arm_never_touches_the_band() -> None:
    # Ends that fall into the band's own columns are drawn beside it.
    answer = found(n=10)
    answer.upper[9] = 0.5499
    answer.lower[0] = 0.6501
    lines = plain(answer, glyphs=ASCII)
    for name in ("arm-09", "arm-00"):
        (line,) = [line for line in lines if line.startswith(name)]
        (other,) = [line for line in lines if line.startswith("arm-05")]
        assert line.count(THRESHOLD.glyph.plain) == other.count(THRESHOLD.glyph.plain)


def test_names_are_cut_by_the_columns_they_take_and_obey_nothing() -> None:
    names = ["x" * 60, "名前" * 30, "two\nlines\x1b[31m", "é" * 25, "plain"]
    lines = plain(answer([0.1, 0.2, 0.3, 0.4, 0.9], names))
    assert max(cell_len(line) for line in lines) < 80
    assert len(lines) == 5 + 3
    assert "\x1b" not in "".join(lines)
    starts = {cell_len(line[: line.index("0.")]) for line in lines[1:6]}
    assert len(starts) == 1


def test_an_arm_never_pulled_has_no_mean() -> None:
    answer = found(undecided=1)
    answer.means[3] = math.nan
    answer.lower[3], answer.upper[3] = -math.inf, math.inf
    (line,) = [line for line in plain(answer) if line.startswith("arm-03")]
    assert "nan" not in line
    assert "─" * 30 in line


def test_equal_means_have_a_picture() -> None:
    same = answer([0.25] * 5, "abcde", radius=0.0, threshold=Interval(0.25, 0.25))
    assert len(plain(same)) == 8


def test_both_sides_have_a_band_and_a_mark_each() -> None:
    both = answer(
        [0.0, 0.1, 0.2, 9.0, -9.0], "abcde", "de",
        threshold=Interval(3, 5), threshold_low=Interval(-5, -3),
    )  # fmt: skip
    lines = plain(both, side=Side.BOTH)
    assert lines[0].count("threshold") == 2
    assert "▲" in next(line for line in lines if line.startswith("d"))
    assert "▼" in next(line for line in lines if line.startswith("e"))
    words = terminal.legend(picture(both, Side.BOTH)).plain
    assert "▲ high outlier" in words
    assert "▼ low outlier" in words


def test_what_is_not_known_is_not_drawn() -> None:
    early = answer([0.1, 0.2, 0.3], "abc", (), "abc", threshold=Interval(-math.inf, math.inf))
    assert THRESHOLD.glyph.fine not in "".join(plain(early))
    assert "threshold" not in terminal.legend(picture(early)).plain
    half = answer([0.1, 0.2, 0.3], "abc", (), "abc", threshold=Interval(0.2, math.inf))
    assert THRESHOLD.glyph.fine in "".join(plain(half))


def test_bars_are_in_proportion() -> None:
    lines = [line.plain for line in terminal.bars({"a": 10, "long": 40}, 80, ASCII)]
    short, long = (line.count("=") for line in lines)
    assert long == pytest.approx(4 * short, abs=3)
    assert max(len(line) for line in lines) <= 80


def test_huge_numbers_keep_their_columns() -> None:
    wild = answer(np.array([-1e300, 1e300, 1234.5, -0.0001, 5.0]), "abcde")
    assert max(len(line) for line in plain(wild)) < 80


def test_the_likely_threshold_is_drawn_over_the_certain_one_while_arms_are_undecided() -> None:
    rng = np.random.default_rng(2)
    table = {f"arm {i}": rng.normal(i / 2, 1.0, 40).tolist() for i in range(6)}
    said = analyse(table, "gaussian:1")
    chances = said.found.chances
    assert chances is not None
    drawn = picture_of_answer(said.found, Problem(noise="gaussian:1"))
    assert drawn.likely == (chances.likely_threshold,)
    assert drawn.low <= drawn.likely[0].lower < drawn.likely[0].upper <= drawn.high
    for glyphs in (UNICODE, ASCII):
        text = "".join(line.plain for line in terminal.draw(drawn, 100, glyphs))
        assert glyphs.of(LIKELY.glyph) in text
        assert LIKELY.name in terminal.legend(drawn, glyphs).plain
    assert rows(drawn, Digits([1.0])).count('class="likely"') == 2
    assert many(drawn, Digits([1.0])).count('class="likely"') == 2
    without = picture_of_answer(replace(said.found, chances=None), Problem(noise="gaussian:1"))
    assert without.likely == ()
