"""The picture as SVG: what it must not claim, and that nothing in it is no number."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from standout.core.identification import Interval
from standout.core.problem import Side
from standout.pictures.svg_arms import many, rows
from standout.text import Digits
from tests.pictures.answers import answer, found, picture

DIGITS = Digits([0.1])


def test_a_crowd_does_not_run_across_arms_of_another_verdict() -> None:
    # Undecided at both ends, normal in the middle: two bands of undecided arms.
    names = [f"arm {i}" for i in range(2000)]
    shown = picture(
        answer(np.linspace(-1, 1, 2000), names, (), names[:500] + names[-500:]), Side.BOTH
    )
    for kind, number in (("undecided", 2), ("normal", 1)):
        (band,) = re.findall(
            rf'<g class="{kind}"><path class="crowd" d="([^"]+)"', many(shown, DIGITS)
        )[:1]
        assert band.count("M") == band.count("z") == number


def test_each_verdict_has_its_mark() -> None:
    drawn = rows(picture(found(n=10, undecided=2)), DIGITS).split("</svg>")[0]
    assert len(re.findall(r'<path d="M[^"a]+z"/>', drawn)) == 3  # triangles
    assert drawn.count('class="open"') == 2
    assert len(re.findall(r'<path d="M[^"]+a[^"]+z"/>', drawn)) == 5  # discs


@pytest.mark.parametrize(
    "threshold",
    [
        Interval(-math.inf, math.inf),
        Interval(0.1, math.inf),
        Interval(0.2, 0.2),
        Interval(-1e308, 1e308),
    ],
)
def test_every_number_is_one(threshold: Interval) -> None:
    means = [math.nan, -1e308, 1e308, 0.0, 5e-324, 1.0, 1.0]
    wild = answer(means, "abcdefg", "c", "a", radius=math.inf, threshold=threshold)
    for draw in (rows, many):
        drawn = draw(picture(wild), DIGITS)
        inside = " ".join(re.findall(r' (?:d|x|y|width|height)="([^"]*)"', drawn))
        assert "nan" not in inside
        assert "inf" not in inside
        assert 'width="-' not in drawn
