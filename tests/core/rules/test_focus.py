"""What `focus` does with its pulls: costs, batches, goals, known means, odd instances."""

from __future__ import annotations

import numpy as np
import pytest

from standout.core.methods import parse_method
from standout.core.noise import GaussianUnknown
from standout.core.problem import Problem, Side
from standout.core.run import Run
from standout.simulation import simulate
from tests.core.intervals.test_coverage import FIXED
from tests.core.rules.test_focus_guarantee import CASES, DELTA, play_once

RUNS = 20


def mean_pulls(name: str, method: str, costs: np.ndarray | None = None) -> np.ndarray:
    """Pulls of each arm, averaged over RUNS runs."""
    pulls = [play_once(CASES[name], method, run, costs)[0] for run in range(RUNS)]
    return np.mean(pulls, axis=0)


@pytest.mark.parametrize("name", ["even", "ties", "bernoulli"])
def test_a_costly_arm_is_pulled_less(name: str) -> None:
    """And the sum of all costs is smaller than if costs were not looked at."""
    n = len(CASES[name].means)
    plain = mean_pulls(name, "focus")
    # The costly one is that which is pulled most when all cost the same.
    costly = int(np.argmax(plain))
    costs = np.ones(n)
    costs[costly] = 20.0
    spared = mean_pulls(name, "focus", costs)
    assert spared[costly] < 0.9 * plain[costly]
    assert costs @ spared < costs @ plain


def test_it_needs_far_fewer_pulls_than_the_paper() -> None:
    """Three times and more on Fig. 1; 20 runs have a standard error of a twentieth."""
    found = simulate("fig1:gap=0.4", ["roai-lucb", "focus"], runs=20, seed=3)
    paper, ours = (float(result.pulls.mean()) for result in found.results)
    assert all(result.wrong == 0 for result in found.results)
    assert 3 * ours < paper


def test_the_goal_anytime_guesses_better_and_certifies_later() -> None:
    methods = ["focus", "focus:goal=anytime"]
    found = simulate("fig1:gap=0.4", methods, runs=10, seed=3)
    certify, anytime = (float(result.pulls.mean()) for result in found.results)
    assert certify < anytime
    early = simulate("fig4", methods, runs=60, seed=3, budget=2000, checkpoints=(1000, 2000))
    certify_error, anytime_error = (result.error_rate for result in early.results)
    assert (anytime_error < certify_error).all()


@pytest.mark.parametrize("growth", ["0.05", "0.2"])
def test_growing_batches_cost_few_pulls(growth: str) -> None:
    """A batch that is a part of an arm's pulls overshoots by about that part."""
    found = simulate("fig1:gap=0.6", ["focus:growth=0", f"focus:growth={growth}"], runs=20, seed=5)
    one, many = found.results
    assert many.pulls.mean() < (1.1 + float(growth)) * one.pulls.mean()
    rounds = [np.mean([record.rounds for record in result.records]) for result in (one, many)]
    assert rounds[1] < rounds[0] / 3


def test_no_arm_is_starved() -> None:
    """Without noise, so that nothing but the rule can help: it ends on every case."""
    for case in CASES.values():
        if isinstance(case.problem.noise, GaussianUnknown):
            continue  # rewards that never differ tell nothing about an unknown scale
        quiet = type(case)(**(vars(case) | {"kind": FIXED}))
        pulls, _, stopped = play_once(quiet, "focus", 0)
        assert stopped
        assert pulls.min() >= 1


@pytest.mark.parametrize("side", [Side.HIGH, Side.LOW])
def test_both_sides_are_two_questions(side: Side) -> None:
    """With only one arm standing out, `both` names the same arm as its own side does."""
    means = [*np.linspace(0, 1, 9).tolist(), 3.0 if side is Side.HIGH else -2.0]
    answers = []
    for asked in (side, Side.BOTH):
        rng = np.random.default_rng(4)
        run = Run(
            Problem(noise="gaussian:0.1", k=3, mad_scale=1, delta=DELTA, side=asked),
            [str(i) for i in range(10)], "focus", np.random.default_rng(1),
        )  # fmt: skip
        while chosen := run.choose():
            for arm, amount in chosen:
                for _ in range(amount):
                    run.tell(arm, rng.normal(means[int(arm)], 0.1))
            run.update()
        answers.append(run.identification().outliers)
    assert answers == [("9",), ("9",)]


def test_a_budget_leaves_the_answer_so_far() -> None:
    run = Run(
        Problem(noise="bernoulli", k=3), [str(i) for i in range(20)], "focus",
        np.random.default_rng(1), budget=2000,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    while chosen := run.choose():
        for arm, amount in chosen:
            for _ in range(amount):
                run.tell(arm, float(rng.random() < (0.95 if arm == "7" else 0.3)))
        run.update()
    found = run.identification()
    assert (found.pulls, str(found.reason)) == (2000, "budget")
    assert set(found.best_guess) >= {"7"}


def test_labels() -> None:
    text = "focus:interval=hoeffding,growth=0"
    assert parse_method(parse_method(text).label()) == parse_method(text)
    assert parse_method("focus:goal=certify") == parse_method("focus")
