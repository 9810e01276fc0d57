"""What should be impossible is refused by the kernels: it never becomes a verdict."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numba
import numpy as np
import pytest

from standout.core.engine import begin_round, end_round, observe
from standout.core.kinds import Verdict
from standout.core.methods import METHODS, parse_method
from standout.core.order import sort_ends
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import ROUNDS, Spec, State
from tests.attack.memory import Fence, Strict

N = 7
FAMILIES = ("gaussian:1", "gaussian", "heavy:1", "bounded:-9,9")
pytestmark = pytest.mark.kernel


def measured(label: str, family: str) -> tuple[Spec, State]:
    """A run after some rewards, with verdicts still to come."""
    problem = Problem(noise=family, k=2, side="both")  # type: ignore[arg-type]
    method = parse_method(label)
    spec = method.spec(problem, N)
    state = start_state(problem, method, N, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    for arm in range(N):
        for _ in range(40):
            observe(spec, state, arm, float(rng.uniform(arm - 4, arm - 3)))
    end_round(spec, state)
    return spec, state


def labels(family: str) -> list[str]:
    plain = [name for name in METHODS if METHODS[name].is_robust]
    if family in ("gaussian", "heavy:1"):
        return ["focus", "focus:goal=anytime", "roai-lucb:interval=auto,range=exact"]
    return [*plain, "focus:goal=anytime"]


ALL = [(label, family) for family in FAMILIES for label in labels(family)]


@pytest.mark.parametrize(("label", "family"), ALL)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_sum_that_is_no_number(label: str, family: str, bad: float) -> None:
    spec, state = measured(label, family)
    before = state.verdict.copy()
    observe(spec, state, 3, 0.0)
    state.sums[3] = bad
    # Refused, or taken for no knowledge at all.
    with contextlib.suppress(ValueError):
        end_round(spec, state)
    assert state.verdict[3] in (before[3], Verdict.UNDECIDED)
    assert not np.isnan(state.lower).any()
    assert not np.isnan(state.upper).any()


@pytest.mark.parametrize(("label", "family"), [one for one in ALL if one[1] == "gaussian:1"])
def test_an_interval_that_is_empty(label: str, family: str) -> None:
    """A negative scale turns every radius round: the upper end lies below the lower."""
    spec, state = measured(label, family)
    before = state.verdict.copy()
    observe(spec, state, 3, 0.0)
    with pytest.raises(ValueError, match="interval"):
        end_round(replace(spec, sigma=-1.0), state)
    assert state.verdict.tolist() == before.tolist()


@pytest.mark.parametrize("label", ["focus", "roai-elim:range=exact", "random:range=exact"])
def test_ends_that_lost_their_order(label: str) -> None:
    """Lower ends above all upper ends make an empty interval of theta."""
    spec, state = measured(label, "gaussian:1")
    before = state.verdict.copy()
    for side in range(2):
        sort_ends(state, side)
    state.sorted_lower[...] += 100.0
    with pytest.raises(ValueError, match="interval"):
        end_round(spec, state)
    assert state.verdict.tolist() == before.tolist()


@pytest.mark.parametrize("arm", [-1, -N - 1, N, 10**6])
def test_an_arm_that_does_not_exist(arm: int) -> None:
    """With no threshold at all the rule finds no arm, and names what was named before."""
    spec, state = measured("roai-elim-released", "gaussian:1")
    assert state.counters[ROUNDS] == 1
    state.bounds[:] = np.nan
    state.chosen[0] = arm
    with pytest.raises(IndexError, match="arm"):
        begin_round(spec, state, NO_LIMIT, np.random.default_rng(0))


@pytest.mark.parametrize("label", ["roai-lucb", "roai-lucb-released"])
def test_a_rule_without_estimates_chooses_an_arm_or_none(label: str) -> None:
    spec, state = measured(label, "gaussian:1")
    state.estimate[:] = np.nan
    state.deviation_lower[:] = np.nan
    rng = np.random.default_rng(0)
    try:
        count = begin_round(spec, state, NO_LIMIT, rng)
    except IndexError:
        return
    assert all(0 <= arm < N for arm in state.chosen[:count])


@pytest.mark.parametrize(("label", "family"), ALL)
def test_a_run_can_go_on_after_a_refusal(label: str, family: str) -> None:
    """Whoever takes the impossible back finds a state that is whole."""
    spec, state = measured(label, family)
    fence = (Strict if numba.config.DISABLE_JIT else Fence)(state)
    state = fence.state
    rng = np.random.default_rng(2)
    for arm in range(N):
        observe(spec, state, arm, float(rng.uniform(arm - 4, arm - 3)))
    kept = state.sums.copy()
    state.sums[N - 1] = math.nan
    with contextlib.suppress(ValueError):
        end_round(spec, state)
    state.sums[...] = kept
    for _ in range(3):
        for arm in range(N):
            observe(spec, state, arm, float(rng.uniform(arm - 4, arm - 3)))
        end_round(spec, state)
        assert fence.faults() == []
    assert not state.is_touched.any()
    for side in range(2):
        assert (np.sort(state.lower[side]) == state.sorted_lower[side]).all() or not spec.sorts
