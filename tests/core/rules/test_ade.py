"""ADE: its threshold and its choices against a log of a run, kept by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standout import Problem
from standout.core import robust
from standout.core.methods import as_method
from standout.core.run import Run, start_state
from standout.core.state import (
    DRAWN_ARM,
    DRAWN_PAIRS,
    DRAWN_PRODUCTS,
    DRAWN_SUM,
    DRAWN_WAITS,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
)
from standout.core.threshold import drawn
from standout.errors import MethodError
from tests.naive import ade as naive

ADE = as_method("ade")
MEANS = np.array([0.1, 0.15, 0.2, 0.2, 0.25, 0.3, 0.95])


def play(
    label: str, side: str, rounds: int, seed: int = 0
) -> tuple[Run, list[tuple[bool, list[float]]]]:
    """Some rounds of 0/1 rewards, and for each whether its arm was drawn for the threshold."""
    problem = Problem(noise="bernoulli", k=1, mad_scale=1, side=side, delta=0.1)  # type: ignore[arg-type]
    means = MEANS if side == "high" else 1 - MEANS
    arms = [str(i) for i in range(len(means))]
    run = Run(problem, arms, label, np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1)
    log: list[tuple[bool, list[float]]] = []
    for number in range(rounds):
        chosen = run.choose()
        if not chosen:
            break
        (choice, *others) = chosen
        is_drawn = bool(run.state.guesses[0, DRAWN_ARM] > 0)
        assert bool(others) == (number == 0)
        if number:
            check_choice(run, int(choice[0]), is_drawn)
        rewards = []
        for arm, amount in chosen:
            rewards = [float(rng.random() < means[int(arm)]) for _ in range(amount)]
            for reward in rewards:
                run.tell(arm, reward)
        run.update()
        log.append((is_drawn and number > 0, rewards))
    return run, log


def check_choice(run: Run, arm: int, is_drawn: bool) -> None:
    """The widest undecided arm, unless the threshold is wider."""
    state = run.state
    notes = state.guesses[0]
    if notes[DRAWN_WAITS]:
        assert notes[DRAWN_ARM] == arm + 1
        return
    left = [i for i in range(len(MEANS)) if state.verdict[i] == 0]
    widths = {i: state.upper[0, i] - state.lower[0, i] for i in left}
    threshold = state.bounds[0, THRESHOLD_UPPER] - state.bounds[0, THRESHOLD_LOWER]
    assert is_drawn == (threshold > max(widths.values()))
    assert is_drawn or widths[arm] == max(widths.values())


@pytest.mark.kernel
@pytest.mark.parametrize("label", ["ade", "ade:batch=2", "ade:batch=3"])
@pytest.mark.parametrize("side", ["high", "low"])
def test_the_threshold_is_that_of_the_pairs_drawn(label: str, side: str) -> None:
    run, log = play(label, side, 400)
    pairs = naive.pairs_of(log)
    notes, sign = run.state.guesses[0], 1 if side == "high" else -1
    assert notes[DRAWN_PAIRS] == len(pairs) > 20
    assert notes[DRAWN_SUM] == pytest.approx(sum((x + y - 1) / 2 for x, y in pairs))
    assert notes[DRAWN_PRODUCTS] == pytest.approx(sum((x - 0.5) * (y - 0.5) for x, y in pairs))
    ends = [naive.theta_range(pairs[: m + 1], 1.0, 0.05, sign, grid=120) for m in range(len(pairs))]
    bounds = run.state.bounds[0]
    # The grid lies inside; the ends are intersected over time.
    assert bounds[THRESHOLD_LOWER] <= max(low for low, _ in ends) + 1e-9
    assert bounds[THRESHOLD_UPPER] >= min(high for _, high in ends) - 1e-9
    assert bounds[THRESHOLD_LOWER] == pytest.approx(max(low for low, _ in ends), abs=0.05)
    assert bounds[THRESHOLD_UPPER] == pytest.approx(min(high for _, high in ends), abs=0.05)


@settings(max_examples=60)
@given(
    st.integers(1, 4000), st.floats(0, 1), st.floats(0, 1), st.sampled_from([1.0, 3.0]),
    st.booleans(),
)  # fmt: skip
def test_the_range_is_exact(m: int, average: float, spread: float, k: float, low: bool) -> None:
    """m pairs of equal averages and products, as x = average +- spread allows."""
    side = "low" if low else "high"
    problem = Problem(noise="bounded:0,1", k=k, side=side, delta=0.1)  # type: ignore[arg-type]
    off = spread * min(average, 1 - average)
    pair = (average - off, average + off)
    spec = ADE.spec(problem, 9)
    assert spec.delta == 0.05
    state = start_state(problem, ADE, 9, np.random.default_rng(0))
    notes = state.guesses[0]
    notes[DRAWN_PAIRS], notes[DRAWN_SUM] = m, m * (average - 0.5)
    notes[DRAWN_PRODUCTS] = m * (pair[0] - 0.5) * (pair[1] - 0.5)
    drawn.drawn_interval(spec, state, 0)
    radius = naive.radius(m, 0.05)
    if notes[DRAWN_PRODUCTS] / m + radius / 2 < max(0.0, abs(average - 0.5) - radius) ** 2 + 1e-4:
        return  # No means give that: their squares' mean is at least their mean's square.
    low_end, high_end = naive.theta_range([pair] * m, k, 0.05, -1 if low else 1)
    found = state.bounds[0, THRESHOLD_LOWER], state.bounds[0, THRESHOLD_UPPER]
    assert found[0] <= low_end + 1e-9
    assert found[1] >= high_end - 1e-9
    # The slope of a root at 0 is infinite: a grid misses the ends by a little.
    assert found == pytest.approx((low_end, high_end), abs=0.1 * k * naive.radius(m, 0.05) + 1e-6)


@pytest.mark.kernel
def test_rewards_that_no_rule_asked_for_say_nothing_of_the_threshold() -> None:
    problem = Problem(noise="bernoulli", k=1)
    run = Run(problem, ["a", "b", "c"], "ade", np.random.default_rng(0))
    for arm in "abc":
        for reward in (1.0, 0.0, 0.0):
            run.tell(arm, reward)
    run.update()
    assert run.state.guesses[0, DRAWN_PAIRS] == 0
    assert run.state.bounds[0, THRESHOLD_UPPER] == np.inf


def test_a_run_ends_with_the_outliers_of_mean_and_standard_deviation() -> None:
    run, _ = play("ade:batch=20", "high", 100_000)
    assert run.is_decided
    theta = robust.mean_std_threshold(MEANS, 1.0)
    assert run.state.bounds[0, THRESHOLD_LOWER] <= theta <= run.state.bounds[0, THRESHOLD_UPPER]
    assert set(run.identification().outliers) == {"6"}


def test_what_it_is_not_defined_for_is_refused() -> None:
    with pytest.raises(MethodError, match="bounded rewards"):
        ADE.spec(Problem(noise="gaussian:1"), 5)
    with pytest.raises(MethodError, match="k_low"):
        ADE.spec(Problem(noise="bernoulli", side="both", k_low=2), 5)  # type: ignore[arg-type]
