"""The guarantee of `focus` on families of instances that nothing was tuned on.

Each case is played RUNS times with the interval that focus chooses itself and
FEWER times with every other interval that is valid for the noise. With X ~
Binomial(runs, DELTA) a test fails when the count of wrong runs exceeds the
quantile with P(X > quantile) <= 1e-6: so likely is a false alarm at most per
case, and per interval, were the true error exactly delta; below 1e-4 in all.
The seeds are fixed. Rewards that the simulator does not know (Student's t, a
skewed Pareto) are drawn by `draw_reward`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from standout.core.compile import kernel
from standout.core.engine import begin_round, best_guess, end_round, observe
from standout.core.intervals.choice import INTERVALS, check_interval
from standout.core.methods import parse_method
from standout.core.problem import Problem, Side
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED
from standout.errors import MethodError
from standout.simulation.instances import make_instance
from tests.core.intervals.test_coverage import BERNOULLI, BETA, FIXED, GAUSSIAN, HEAVY, SKEWED
from tests.core.intervals.test_coverage import draw_reward as draw

RUNS = 200
FEWER = 40
DELTA = 0.1
LIMIT = 3_000_000


@dataclass(frozen=True)
class Case:
    means: tuple[float, ...]
    noise: str
    kind: int
    sd: float = 0.15
    k: float = 3.0
    side: Side = Side.HIGH
    k_low: float | None = None
    tolerance: float = 0.0

    @property
    def problem(self) -> Problem:
        return Problem(
            noise=self.noise, k=self.k, mad_scale=1, delta=DELTA, side=self.side,
            k_low=self.k_low, tolerance=self.tolerance,
        )  # fmt: skip


LINE = tuple(np.linspace(0, 1, 9).tolist())
CASES = {
    "dense at the threshold": Case(
        (*LINE, 1.7, 1.75, 1.8, 2.3, 2.35, 2.4), "gaussian:0.15", GAUSSIAN, k=2
    ),
    "even": Case((*LINE, 1.1, 1.2, 2.6), "gaussian:0.15", GAUSSIAN, k=3),
    "five arms": Case((0.0, 0.2, 0.5, 0.7, 2.2), "gaussian:0.15", GAUSSIAN, k=3),
    "contaminated by .4": Case((*LINE, 2.6, 3.0, 3.5, 4.0, 4.5, 5.0), "gaussian:0.15", 0, k=2),
    "skewed means": Case((0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 1.1, 2.2), "gaussian:0.1", 0, 0.1, 3),
    "ties": Case((0.2,) * 4 + (0.5,) * 5 + (0.8,) * 4 + (2.2,) * 2, "gaussian:0.15", GAUSSIAN),
    "both sides": Case((-3.0, *LINE, 3.0), "gaussian:0.15", GAUSSIAN, side=Side.BOTH, k_low=4.0),
    "low": Case((-1.5, *LINE, 1.3), "gaussian:0.15", GAUSSIAN, side=Side.LOW),
    "low variance": Case((*(0.1 * i for i in range(1, 8)), 0.97), "bounded:0,1", BETA, 0.02, 1.5),
    "beta": Case((0.1, 0.14, 0.18, 0.22, 0.26, 0.30, 0.8), "bounded:0,1", BETA, 0.1, 2.5),
    "bernoulli": Case((0.05, 0.15, 0.25, 0.35, 0.45, 0.98), "bernoulli", BERNOULLI, k=2),
    "at 0 and 1": Case((0.0, 0.0, 0.1, 0.2, 0.3, 1.0, 1.0), "bernoulli", BERNOULLI, k=2),
    "unknown variance": Case((*LINE, 1.2, 3.0), "gaussian", GAUSSIAN, 0.2),
    "heavy": Case((*LINE, 1.2, 3.2), "heavy:0.2", HEAVY, 0.2),
    "skewed heavy": Case((*LINE, 1.2, 3.2), "heavy:0.2", SKEWED, 0.2),
}  # fmt: skip


@kernel("rule", "interval")
def play(spec, state, kind, means, sd, limit, reward_rng, rule_rng):  # type: ignore[no-untyped-def]
    while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < limit:
        count = begin_round(spec, state, limit - state.counters[PULLS], rule_rng)
        for j in range(count):
            arm = state.chosen[j]
            for _ in range(state.amount[j]):
                observe(spec, state, arm, draw(kind, means[arm], sd, reward_rng))
        end_round(spec, state)


def play_once(case: Case, method_text: str, run: int, costs=None):  # type: ignore[no-untyped-def]
    """One run: pulls by arm, the answer, and whether it stopped."""
    method, problem = parse_method(method_text), case.problem
    means = np.array(case.means, dtype=np.float64)
    spec = method.spec(problem, len(means))
    reward_rng, rule_rng = (
        np.random.default_rng(child) for child in np.random.SeedSequence((41, run)).spawn(2)
    )
    state = start_state(problem, method, len(means), rule_rng, costs)
    play(spec, state, case.kind, means, case.sd, LIMIT, reward_rng, rule_rng)
    guess = np.zeros(len(means), dtype=np.bool_)
    best_guess(spec, state, guess)
    return state.pulls, guess, state.counters[UNDECIDED] == 0


@cache
def outcome(name: str, method_text: str, runs: int) -> tuple[int, int]:
    """Unfinished and wrong runs."""
    case = CASES[name]
    instance = make_instance(name, case.means, case.problem.noise)
    truth, free = instance.truth(case.problem), instance.free_arms(case.problem)
    unfinished = wrong = 0
    for run in range(runs):
        _, guess, stopped = play_once(case, method_text, run)
        unfinished += not stopped
        wrong += bool(((guess != truth) & ~free).any())
    return unfinished, wrong


def most(runs: int) -> int:
    return int(binom.isf(1e-6, runs, DELTA))


def other_intervals(case: Case) -> list[str]:
    """Those that are valid for the noise besides focus' own choice."""
    own = parse_method("focus").interval_for(case.problem)
    names = []
    for name, kind in INTERVALS.items():
        try:
            if kind is not None and kind is not own:
                check_interval(kind, case.problem.noise)
                names.append(name)
        except MethodError:
            pass
    return names


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_right(name: str) -> None:
    unfinished, wrong = outcome(name, "focus", RUNS)
    assert unfinished == 0
    assert wrong <= most(RUNS)


def test_all_cases_together() -> None:
    runs = RUNS * len(CASES)
    assert runs >= 2000
    assert sum(outcome(name, "focus", RUNS)[1] for name in CASES) <= most(runs)


@pytest.mark.parametrize("interval", [name for name in INTERVALS if name != "auto"])
def test_every_valid_interval(interval: str) -> None:
    counts: Counter[str] = Counter()
    for name, case in CASES.items():
        if interval in other_intervals(case):
            unfinished, wrong = outcome(name, f"focus:interval={interval},growth=0.05", FEWER)
            counts.update(unfinished=unfinished, wrong=wrong, runs=FEWER)
    if not counts["runs"]:
        pytest.skip("nothing but focus' own choice uses it")
    assert counts["unfinished"] == 0
    assert counts["wrong"] <= most(counts["runs"])


@pytest.mark.parametrize("name", ["even", "bernoulli", "both sides"])
def test_the_goal_anytime_certifies_too(name: str) -> None:
    unfinished, wrong = outcome(name, "focus:goal=anytime", FEWER)
    assert unfinished == 0
    assert wrong <= most(FEWER)


@pytest.mark.parametrize("options", ["batch=25", "batch=3,growth=0.3", "growth=0"])
def test_batches_do_no_harm(options: str) -> None:
    unfinished, wrong = outcome("even", f"focus:{options}", 2 * FEWER)
    assert unfinished == 0
    assert wrong <= most(2 * FEWER)


TOLERANT = {
    "one on the threshold": Case((*LINE, 1.0, 1.5, 2.5), "gaussian:0.15", 0, k=2, tolerance=0.1),
    "all equal": Case((0.5,) * 7, "gaussian:0.15", GAUSSIAN, tolerance=0.1),
    "all equal, no noise": Case((0.5,) * 7, "gaussian:0.15", FIXED, tolerance=0.1),
    "MAD 0": Case((0.5,) * 6 + (0.52, 0.9), "gaussian:0.15", GAUSSIAN, tolerance=0.15),
    "MAD 0, both sides": Case(
        (0.0, *(0.5,) * 6, 1.0), "gaussian:0.15", GAUSSIAN, tolerance=0.15, side=Side.BOTH
    ),
    "all 0": Case((0.0,) * 5, "bernoulli", BERNOULLI, tolerance=0.05),
    "all 1": Case((1.0,) * 6, "bernoulli", BERNOULLI, tolerance=0.05),
    "bounded, all equal": Case((0.3,) * 5, "bounded:0,1", BETA, 0.1, tolerance=0.05),
    "unknown variance, all equal": Case((3.0,) * 5, "gaussian", GAUSSIAN, 0.1, tolerance=0.1),
    "heavy, all equal": Case((3.0,) * 5, "heavy:0.1", HEAVY, 0.1, tolerance=0.1),
}


@pytest.mark.parametrize("goal", ["certify", "anytime"])
@pytest.mark.parametrize("name", TOLERANT)
def test_with_a_tolerance_it_always_stops(name: str, goal: str) -> None:
    """Arms within the tolerance may go either way, all others are right."""
    case = TOLERANT[name]
    instance = make_instance(name, case.means, case.problem.noise)
    truth, free = instance.truth(case.problem), instance.free_arms(case.problem)
    assert free.any()
    wrong = 0
    runs = 30 if goal == "certify" else 5
    for run in range(runs):
        _, guess, stopped = play_once(case, f"focus:goal={goal}", run)
        assert stopped
        wrong += bool(((guess != truth) & ~free).any())
    assert wrong <= most(runs)
