"""What a picture of arms shows: range, ticks, order, who is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.core.noise import Bernoulli, Bounded
from standout.core.problem import Side
from standout.pictures import arms
from standout.pictures.arms import LeftOut, lines, singled_out
from standout.pictures.scale import Line, ticks, value_range
from standout.results import Interval
from tests.pictures.answers import answer, found, picture

NONE = np.zeros(0)
WILD = (-math.inf, -1e308, -1e300, -1.0, -1e-300, -5e-324, 0.0, 5e-324, 1e-9, 1.0, 1e9, 1e308)


class TestRange:
    def test_all_estimates_and_the_threshold_are_seen(self) -> None:
        shown = picture(found(radius=0.01))
        assert shown.low <= 0.0
        assert 0.9 <= shown.high < 1.1

    def test_very_wide_intervals_do_not_squeeze_the_means(self) -> None:
        shown = picture(found(radius=math.inf))
        assert -0.1 < shown.low < 0.01
        assert 0.9 < shown.high < 1.0

    def test_one_wide_interval_gets_a_third_of_the_spread_many_get_all_of_it(self) -> None:
        estimate = np.linspace(0.0, 1.0, 100)
        lower = estimate.copy()
        lower[0] = -50.0
        low, _ = value_range(estimate, lower, estimate, ())
        assert low == pytest.approx(-1 / 3, abs=0.1)
        low, _ = value_range(estimate, estimate - 50, estimate, ())
        assert low == pytest.approx(-1.0, abs=0.1)

    def test_a_threshold_far_off_does_not_squeeze_the_means(self) -> None:
        estimate = np.array([0.0, 1.0, 2.0])
        _, high = value_range(estimate, estimate, estimate, (Interval(1.0, 1e6),))
        assert high < 3.0

    @pytest.mark.parametrize(
        ("noise", "low", "high"), [(Bernoulli(), 0.0, 1.0), (Bounded(-2.0, 5.0), -2.0, 5.0)]
    )
    def test_nothing_beyond_what_rewards_can_be(
        self, noise: Bernoulli | Bounded, low: float, high: float
    ) -> None:
        shown = picture(found(n=5, radius=40.0), noise=noise)
        span = high - low
        assert low - 0.02 * span <= shown.low
        assert shown.high <= high + 0.02 * span

    def test_nothing_known_yet(self) -> None:
        nothing = np.full(3, math.nan)
        ends = np.full(3, math.inf)
        assert value_range(nothing, -ends, ends, ()) == (0.0, 1.0)
        assert value_range(nothing, -ends, ends, (), (2.0, 3.0)) == (2.0, 3.0)
        assert value_range(NONE, NONE, NONE, (Interval(4.0, 5.0),))[0] < 4.0

    @pytest.mark.parametrize("first", WILD)
    @pytest.mark.parametrize("second", WILD)
    def test_any_numbers_have_a_range_with_ticks(self, first: float, second: float) -> None:
        values = np.array([first, second, second])
        low, high = value_range(values, values, values, (Interval(first, second),))
        assert math.isfinite(high - low)
        assert high > low
        for wanted in (2, 8):
            found = ticks(low, high, wanted)
            assert 1 <= len(found) <= 2 * wanted + 2
            assert all(math.isfinite(value) and len(label) < 20 for value, label in found)
            labels = [label for _, label in found]
            assert len(set(labels)) == len(labels)
        scale = Line(low, high, 10.0, 90.0)
        for value in (*WILD, math.nan, math.inf):
            assert 10.0 <= scale(value) <= 90.0


@pytest.mark.parametrize(
    ("low", "high", "wanted", "labels"),
    [
        (0.0, 1.0, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-30.0, 30.0, 3, ["-20", "0", "20"]),
        (0.0, 1.2, 5, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (0.0, 1e12, 2, ["0", "5e+11", "1e+12"]),
    ],
)
def test_ticks_are_round(low: float, high: float, wanted: int, labels: list[str]) -> None:
    assert [label for _, label in ticks(low, high, wanted)] == labels


class TestOrder:
    def test_from_the_side_that_is_asked(self) -> None:
        means, names = [0.5, math.nan, 0.9, 0.1, 0.5], "abcde"
        for side, wanted in ((Side.HIGH, "caedb"), (Side.BOTH, "caedb"), (Side.LOW, "daecb")):
            shown = picture(answer(means, names), side)
            assert "".join(names[i] for i in shown.order) == wanted

    def test_side_by_side_they_go_up(self) -> None:
        shown = picture(answer([0.5, math.nan, 0.9, 0.1], "abcd"), Side.LOW)
        assert shown.measured.tolist() == [3, 0, 2]

    def test_outliers_have_a_side(self) -> None:
        shown = picture(answer([0.0, 0.1, 0.2, 9.0, -9.0], "abcde", "de"), Side.BOTH)
        assert [shown.word(i) for i in (0, 3, 4)] == ["normal", "high outlier", "low outlier"]
        assert picture(answer([0.0, 0.1, 9.0], "abc", "c")).word(2) == "outlier"


class TestLines:
    def test_outliers_and_the_arms_nearest_to_the_threshold(self) -> None:
        shown = picture(found())
        got = lines(shown, 11)
        verdicts = [shown.word(line) for line in got if isinstance(line, int)]
        assert verdicts == ["outlier"] * 3 + ["normal"] * 7
        assert got[3] == 39
        (rest,) = [line for line in got if isinstance(line, LeftOut)]
        assert len(rest.arms) == 30

    def test_undecided_arms_come_before_normal_ones(self) -> None:
        shown = picture(found(undecided=5))
        words = [shown.word(line) for line in lines(shown, 9) if isinstance(line, int)]
        assert sorted(words) == ["outlier"] * 3 + ["undecided"] * 5

    @pytest.mark.parametrize("most", [1, 2, 3, 5, 8, 13, 60])
    @pytest.mark.parametrize("side", list(Side))
    def test_never_more_lines_than_asked_and_no_arm_is_lost(self, most: int, side: Side) -> None:
        rng = np.random.default_rng(most)
        names = [f"arm {i}" for i in range(50)]
        kinds = rng.permutation(50)
        shown = picture(
            answer(
                rng.normal(size=50), names,
                [names[i] for i in kinds[:9]], [names[i] for i in kinds[9:25]],
            ),
            side,
        )  # fmt: skip
        got = lines(shown, most)
        assert len(got) <= most
        every = [i for line in got for i in ([line] if isinstance(line, int) else line.arms)]
        assert every == shown.order.tolist()

    def test_few_arms_are_all_shown(self) -> None:
        assert all(isinstance(line, int) for line in lines(picture(found(n=10)), 10))


class TestCrowd:
    def test_all_of_few(self) -> None:
        assert singled_out(picture(found(n=400))).all()

    @pytest.mark.parametrize(
        ("outliers", "undecided", "single"), [(30, 100, 130), (30, 900, 30), (900, 0, 400)]
    )
    def test_of_many_those_that_matter(self, outliers: int, undecided: int, single: int) -> None:
        shown = picture(found(n=1000, outliers=outliers, undecided=undecided))
        assert shown.is_crowded
        assert np.count_nonzero(singled_out(shown)) == single
        assert arms.MOST_SINGLE == 400
