"""Why an arm may be decided though its interval reaches into the threshold's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import standout
from standout import Identification, Problem, identify
from standout.results import Interval
from standout.results.overlap import NEAR, TOGETHER, overlap_words

MEANS = dict(zip("abcdefghi", [0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 6.0, -6.0], strict=True))


def answer(method: str, side: str, tolerance: float) -> Identification:
    rng = np.random.default_rng(3)
    problem = Problem(noise="gaussian:0.3", k=2, side=side, tolerance=tolerance)
    return identify(lambda arm: rng.normal(MEANS[arm], 0.3), list(MEANS), problem, method)


@pytest.mark.parametrize("side", ["high", "low", "both"])
def test_where_intervals_decide_none_reaches_farther_than_the_tolerance(side: str) -> None:
    assert answer("focus", side, 0.0).overlap_lines() == []
    (words,) = answer("focus", side, 0.3).overlap_lines()
    assert f"{NEAR} 0.3." in words


def test_arms_that_are_certain_together_are_said_to_be() -> None:
    found = answer("joint", "high", 0.0)
    (words,) = found.overlap_lines()
    assert TOGETHER in words
    assert words in found.summary().splitlines()


@pytest.mark.parametrize(
    ("verdict", "mean", "side", "reaches"),
    [
        (2, 2.0, "high", True),  # lower end 1.5 below the threshold's upper end
        (1, 0.0, "high", False),
        (0, 2.0, "high", False),  # undecided: nothing to explain
        (2, 0.0, "low", True),
        (1, 3.0, "low", False),
        (1, 2.0, "both", True),  # against the high threshold
        (2, 2.0, "both", True),
        (2, -3.0, "both", False),  # low, and clear of the low threshold
    ],
)
def test_each_side_is_looked_at(verdict: int, mean: float, side: str, reaches: bool) -> None:
    high, low = Interval(1.0, 1.8), Interval(-2.0, -1.0)
    one = Interval(0.2, 0.8)
    bands = {"high": (high,), "low": (one,), "both": (high, low)}[side]
    means = np.array([mean])
    words = overlap_words(
        np.array([verdict]), means, means - 0.5, means + 0.5, bands, 0.0, side, 0.0
    )
    assert (words is not None) == reaches
    assert words is None or words.startswith("1 decided arm touches")


def test_the_dashboard_says_the_same() -> None:
    """Each has its own way of putting it together, so that only the sentences are compared."""
    page = Path(standout.__file__).parent / "service/static/verdicts.js"
    text = page.read_text("utf-8").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert f"Its interval {NEAR} " in text
    assert f"Its interval {TOGETHER}." in text
