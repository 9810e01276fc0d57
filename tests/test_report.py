from __future__ import annotations

import math

import numpy as np
import pytest

from standout.core.methods import METHODS, parse_method
from standout.core.noise import Bernoulli, Bounded, Gaussian
from standout.core.problem import Problem, Side
from standout.report import draw
from standout.report.picture import ArmLine, LeftOut, make_picture
from standout.report.plan import Bound, SidePlan, plan_side
from standout.results import Identification, Interval, StopReason
from standout.simulation import default_problem, parse_instance, simulate
from standout.simulation.forecast import forecast
from standout.simulation.instances import Instance, make_instance
from standout.simulation.watch import watch


def found(
    n: int = 40, outliers: int = 3, undecided: int = 0, radius: float = 0.02
) -> Identification:
    means = np.linspace(0.0, 0.4, n)
    means[:outliers] = np.linspace(0.8, 0.9, outliers)
    names = tuple(f"arm-{i:02d}" for i in range(n))
    waiting = names[outliers : outliers + undecided]
    return Identification(
        outliers=names[:outliers],
        normal=names[outliers + undecided :],
        undecided=waiting,
        best_guess=names[:outliers],
        threshold=Interval(0.55, 0.65),
        threshold_estimate=0.6,
        pulls=n * 10,
        rounds=10,
        reason=StopReason.BUDGET if undecided else StopReason.DECIDED,
        arms=names,
        means=means,
        lower=means - radius,
        upper=means + radius,
        pulls_by_arm=np.full(n, 10),
    )


def plain(picture_width: int, answer: Identification, glyphs: draw.Glyphs) -> list[str]:
    return [line.plain for line in draw.draw(make_picture(answer), picture_width, glyphs)]


class TestPicture:
    def test_shows_outliers_and_the_arms_nearest_to_the_threshold(self) -> None:
        picture = make_picture(found(), lines=10)
        arms = [line for line in picture.lines if isinstance(line, ArmLine)]
        rest = [line for line in picture.lines if isinstance(line, LeftOut)]
        assert [arm.verdict for arm in arms] == ["outlier"] * 3 + ["normal"] * 7
        assert arms[3].name == "arm-39"
        assert [line.verdicts for line in rest] == [{"normal": 30}]
        assert len(rest[0].means) == 30

    def test_lines_go_from_the_largest_mean_to_the_smallest(self) -> None:
        means = [line.mean for line in make_picture(found()).lines if isinstance(line, ArmLine)]
        assert means == sorted(means, reverse=True)

    def test_undecided_arms_come_before_normal_ones(self) -> None:
        picture = make_picture(found(undecided=5), lines=8)
        verdicts = [line.verdict for line in picture.lines if isinstance(line, ArmLine)]
        assert sorted(verdicts) == ["outlier"] * 3 + ["undecided"] * 5

    def test_few_arms_are_all_shown(self) -> None:
        assert all(isinstance(line, ArmLine) for line in make_picture(found(n=10)).lines)

    def test_very_wide_intervals_do_not_squeeze_the_means(self) -> None:
        answer = found(radius=math.inf)
        picture = make_picture(answer)
        assert (picture.low, picture.high) == (answer.means.min(), answer.means.max())

    def test_an_arm_never_pulled_has_no_mean(self) -> None:
        answer = found(undecided=1)
        answer.means[3] = math.nan
        answer.lower[3], answer.upper[3] = -math.inf, math.inf
        lines = plain(80, answer, draw.UNICODE)
        (line,) = [line for line in lines if line.startswith("arm-03")]
        assert "nan" not in line
        assert "─" * 30 in line


class TestDraw:
    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    @pytest.mark.parametrize("glyphs", [draw.UNICODE, draw.ASCII])
    def test_fits_the_width(self, width: int, glyphs: draw.Glyphs) -> None:
        lines = plain(width, found(undecided=2), glyphs)
        assert max(len(line) for line in lines) < width
        assert len(lines) < 30

    def test_ascii_is_ascii(self) -> None:
        picture = make_picture(found())
        text = "".join(plain(80, found(), draw.ASCII)) + draw.legend(picture, draw.ASCII).plain
        assert text.isascii()

    def test_a_decided_arm_never_touches_the_band(self) -> None:
        # Ends that fall into the band's own columns are drawn beside it.
        answer = found(n=10)
        answer.upper[9] = 0.5499
        answer.lower[0] = 0.6501
        lines = plain(80, answer, draw.ASCII)
        for name in ("arm-09", "arm-00"):
            (line,) = [line for line in lines if line.startswith(name)]
            (other,) = [line for line in lines if line.startswith("arm-05")]
            assert line.count(draw.ASCII.band) == other.count(draw.ASCII.band)

    def test_long_names_are_cut(self) -> None:
        answer = found(n=5)
        object.__setattr__(answer, "arms", ("x" * 60, *answer.arms[1:]))
        object.__setattr__(answer, "outliers", ("x" * 60, *answer.outliers[1:]))
        assert max(len(line) for line in plain(80, answer, draw.UNICODE)) < 80

    def test_equal_means_have_a_picture(self) -> None:
        answer = found(n=5, outliers=0)
        answer.means[:] = 0.25
        answer.lower[:] = answer.upper[:] = 0.25
        object.__setattr__(answer, "threshold", Interval(0.25, 0.25))
        assert plain(80, answer, draw.UNICODE)

    @pytest.mark.parametrize(
        ("low", "high", "labels"),
        [
            (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            (-30.0, 30.0, ["-20", "0", "20"]),
            (0.0, 1.2, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        ],
    )
    def test_round_numbers_below(self, low: float, high: float, labels: list[str]) -> None:
        axis = draw.Axis(low, high, 50 if low == 0 else 30)
        assert [label for _, label in draw.ticks(axis)] == labels

    def test_bars_are_in_proportion(self) -> None:
        lines = [line.plain for line in draw.bars({"a": 10, "long": 40}, 80, draw.ASCII)]
        short, long = (line.count("=") for line in lines)
        assert long == pytest.approx(4 * short, abs=3)
        assert max(len(line) for line in lines) <= 80


def bound(plan: SidePlan, name: str) -> Bound:
    (one,) = [bound for bound in plan.bounds if bound.name == name]
    return one


def value(plan: SidePlan, name: str) -> float:
    amount = bound(plan, name).value
    assert amount is not None
    return amount


def fig1(gap: float = 0.4) -> tuple[Instance, Problem]:
    family = parse_instance(f"fig1:gap={gap}")
    return family.draw(np.random.default_rng(0)), default_problem(family)


class TestPlan:
    # The paper's curve (Fig. 1b, C = 10).
    @pytest.mark.parametrize(("gap", "pulls"), [(0.6, 12_925), (0.4, 29_288), (0.2, 100_886)])
    def test_upper_bound_is_the_papers(self, gap: float, pulls: int) -> None:
        plan = plan_side(*fig1(gap), Side.HIGH, constant=10)
        assert value(plan, "upper") == pytest.approx(pulls, abs=1)
        assert plan.shares.sum() == pytest.approx(1)

    def test_upper_bound_does_not_depend_on_the_unit(self) -> None:
        instance, problem = fig1()
        larger = make_instance("larger", instance.means * 100, Gaussian(50))
        wide = Problem(noise=Gaussian(50), k=problem.k)
        assert value(plan_side(larger, wide, Side.HIGH), "upper") == pytest.approx(
            value(plan_side(instance, problem, Side.HIGH), "upper")
        )

    def test_says_why_theorem_3_does_not_apply(self) -> None:
        lower = bound(plan_side(*fig1(), Side.HIGH), "lower")
        assert "top-n1" in lower.source
        assert "Theorem 3 does not apply" in lower.remark
        assert "gaussian" not in lower.remark

    def test_bernoulli_lower_bound_is_called_a_rough_guide(self) -> None:
        instance = make_instance("coins", [0.1, 0.2, 0.3, 0.4, 0.95], Bernoulli())
        plan = plan_side(instance, Problem(noise=Bernoulli(), k=2), Side.HIGH)
        assert "proved for gaussian rewards" in bound(plan, "lower").remark

    def test_mean_std_bounds_are_for_bounded_rewards(self) -> None:
        plan = plan_side(*fig1(), Side.HIGH)
        assert bound(plan, "rr").value is None
        assert "bounded" in bound(plan, "wrr").remark

    def test_bounded_rewards_are_brought_to_the_unit_interval(self) -> None:
        means = np.array([0.1, 0.2, 0.3, 0.4, 0.95])
        unit = plan_side(
            make_instance("u", means, Bounded(0, 1)), Problem(noise=Bounded(0, 1)), Side.HIGH
        )
        shifted = plan_side(
            make_instance("s", means * 20 - 10, Bounded(-10, 10)),
            Problem(noise=Bounded(-10, 10)),
            Side.HIGH,
        )
        for name in ("rr", "wrr", "upper", "lower"):
            assert value(shifted, name) == pytest.approx(value(unit, name))

    def test_subset_bound_is_the_same_with_the_same_seed(self) -> None:
        instance, problem = fig1()
        plans = [
            plan_side(instance, problem, Side.HIGH, subset=(2.0, 0.2), seed=seed) for seed in (3, 3)
        ]
        assert value(plans[0], "subset") == value(plans[1], "subset")
        assert "15 arms" in bound(plans[0], "subset").remark

    def test_a_mean_on_the_threshold(self) -> None:
        instance = make_instance("edge", [0.0, 1.0, 2.0, 3.0, 4.0], Gaussian(1.0))
        plan = plan_side(instance, Problem(noise=Gaussian(1.0), k=2, mad_scale=1), Side.HIGH)
        assert math.isinf(value(plan, "upper"))
        assert "on the threshold" in bound(plan, "upper").remark

    def test_to_dict_has_every_arm(self) -> None:
        instance, problem = fig1()
        values = plan_side(instance, problem, Side.HIGH).to_dict(instance)
        assert len(values["gaps"]) == 17
        assert values["outliers"] == ["arm-16", "arm-17"]
        assert values["min_gap"] == pytest.approx(0.4)


def test_watch_is_run_0_of_simulate() -> None:
    family = parse_instance("fig1:gap=0.6")
    problem = default_problem(family)
    seen: list[tuple[int, int]] = []
    answer = watch(family, problem, METHODS["roai-lucb"], 5, on_slice=lambda *now: seen.append(now))
    simulated = simulate(family, "roai-lucb", problem, runs=1, seed=5)
    assert answer.pulls == simulated.results[0].records[0].pulls
    assert answer.outliers == ("arm-16", "arm-17")
    assert answer.reason is StopReason.DECIDED
    assert seen[-1] == (answer.pulls, 0)


def test_watch_keeps_to_the_budget() -> None:
    family = parse_instance("fig1")
    answer = watch(family, default_problem(family), parse_method("random"), budget=100)
    assert answer.pulls == 100
    assert answer.reason is StopReason.BUDGET
    assert answer.undecided


def test_forecast_counts_the_runs_that_reach_the_budget() -> None:
    family = parse_instance("fig1")
    methods = [METHODS["random"], METHODS["roai-lucb"]]
    lines = forecast(family, methods, default_problem(family), runs=3, seed=0, budget=200)
    assert [line.method for line in lines] == ["random", "roai-lucb"]
    assert all(line.capped == 3 and line.pulls_mean == 200 for line in lines)
