from __future__ import annotations

import math

import numpy as np
import pytest

from standout.analysis.forecast import forecast
from standout.analysis.limit import PER_ARM, PlannedLimit, plan_limit, plan_possible
from standout.analysis.plan import Bound, SidePlan, plan_side
from standout.core import robust
from standout.core.methods import METHODS, parse_method
from standout.core.noise import Bernoulli, Bounded, Gaussian
from standout.core.problem import Problem, Side
from standout.results import StopReason
from standout.simulation import default_problem, parse_instance, simulate
from standout.simulation.instances import Instance, make_instance
from standout.simulation.runs import watch


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


class TestLimit:
    def test_limit_and_ratio(self) -> None:
        instance = make_instance("few", [0.0, 0.3, 5.0], Gaussian(0.7))
        limit = plan_limit(instance, Problem(noise=Gaussian(0.7), k=2))
        assert limit.lower is not None
        assert limit.upper is not None
        assert limit.lower < limit.upper < 1.03 * limit.lower
        assert limit.ratio(METHODS["focus"], 3 * limit.lower) == pytest.approx(3)

    @pytest.mark.parametrize("method", ["rr", "roai-lucb:lambda=2,epsilon=0.1"])
    def test_no_ratio_for_another_question(self, method: str) -> None:
        assert PlannedLimit(10.0, 10.0).ratio(parse_method(method), 20.0) is None

    def test_no_ratio_to_what_is_infinite_or_not_known(self) -> None:
        for amount in (None, math.inf, 0.0):
            assert PlannedLimit(amount, amount).ratio(METHODS["focus"], 20.0) is None

    def test_says_why_there_is_none(self) -> None:
        instance = make_instance("ratings", [0.0, 0.3, 0.5, 1.0], Bounded(0, 1))
        limit = plan_limit(instance, Problem(noise=Bounded(0, 1)))
        assert limit.lower is None
        assert "bounded noise" in limit.remark


class TestPossible:
    """How narrow the threshold's interval can be."""

    MEANS = np.random.default_rng(4).normal(0.3, 0.05, 600).clip(0.05, 0.9)

    @pytest.mark.parametrize("noise", ["bernoulli", "gaussian:0.4"])
    def test_narrower_with_more_pulls_and_mirrored(self, noise: str) -> None:
        problem = Problem(noise=noise, side="both", k=2, k_low=3)
        found = plan_possible(make_instance("many", self.MEANS, problem.noise), problem)
        low = plan_possible(
            make_instance("mirrored", 1 - self.MEANS, problem.noise),
            Problem(noise=noise, side="low", k=2),
        )
        high = [each for each in found if each.side is Side.HIGH]
        # With 10,000 pulls each, the arms' own rewards say more than the computed limit knows.
        assert [each.per_arm for each in high] == list(PER_ARM[: len(high)]) != []
        for one, other in zip(high, low, strict=True):
            assert (one.per_arm, other.side) == (other.per_arm, Side.LOW)
            assert (one.lower, one.upper) == pytest.approx((1 - other.upper, 1 - other.lower))
        widths = [each.upper - each.lower for each in high]
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < widths[0] / 1.5
        for each in found:
            theta = robust.threshold(self.MEANS, problem.factor_of(each.side), each.side)
            assert each.lower <= theta <= each.upper

    def test_none_for_few_arms_or_other_noise(self) -> None:
        few = make_instance("few", self.MEANS[:9], Gaussian(1.0))
        assert plan_possible(few, Problem(noise=Gaussian(1.0))) == ()
        rated = make_instance("rated", self.MEANS, Bounded(0, 1))
        assert plan_possible(rated, Problem(noise=Bounded(0, 1))) == ()


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
    lines = forecast(simulate(family, methods, runs=3, seed=0, budget=200))
    assert [line.method for line in lines] == ["random", "roai-lucb"]
    assert all(line.capped == 3 and line.pulls_mean == 200 for line in lines)
