"""combined against its words: the parts of delta, where it is focus, and whose rule it follows."""

from __future__ import annotations

import numpy as np
import pytest

from standout import METHODS, Problem
from standout.core.compile import IS_COMPILED
from standout.core.engine import begin_round
from standout.core.method import MOST_JOINT
from standout.core.run import NO_LIMIT, Run
from standout.core.state import ROUNDS, State, copy_state

COMBINED = METHODS["combined"]


@pytest.mark.parametrize(
    ("noise", "n_arms"),
    [("heavy:1", MOST_JOINT + 1), ("gaussian:1", MOST_JOINT + 1), ("bernoulli", 20_000)],
)
def test_out_of_the_certificate_s_reach_it_is_focus(noise: str, n_arms: int) -> None:
    problem = Problem(noise=noise, k=2)
    assert COMBINED.spec(problem, n_arms) == METHODS["focus"].spec(problem, n_arms)


@pytest.mark.parametrize("noise", ["gaussian:1", "gaussian", "bernoulli", "bounded:0,1", "heavy:1"])
@pytest.mark.parametrize("n_arms", [3, 17, MOST_JOINT])
def test_the_two_certificates_share_delta(noise: str, n_arms: int) -> None:
    problem = Problem(noise=noise, delta=0.1)
    spec = COMBINED.spec(problem, n_arms)
    assert spec.flips
    assert spec.alpha * n_arms == pytest.approx(0.015)
    assert spec.alpha * n_arms + spec.joint_delta == pytest.approx(problem.delta)


def chosen_by(rule: str, run: Run, seed: int) -> tuple[list[int], State]:
    """The arms that a method's rule chooses now, and the state after it."""
    state, rng = copy_state(run.state), np.random.default_rng(seed)
    count = METHODS[rule].rule.choose(run.spec, state, rng)
    return state.chosen[:count].tolist(), state


@pytest.mark.kernel
@pytest.mark.skipif(IS_COMPILED, reason="runs with the kernels as plain Python: long to compile")
def test_its_rule_is_that_of_focus_then_that_of_joint() -> None:
    problem = Problem(noise="gaussian:0.3", k=2)
    means = [0.0, 0.3, 0.5, 1.1, 4.0]
    run = Run(problem, list("abcde"), "combined", np.random.default_rng(4))
    rng = np.random.default_rng(5)
    seen = set()
    for number in range(60):
        undecided = sum(verdict == 0 for verdict in run.state.verdict)
        if undecided == 0:
            break
        if run.state.counters[ROUNDS] > 0:
            wanted = "focus" if undecided > 0.5 * 5 else "joint"
            seen.add(wanted)
            expected, _ = chosen_by(wanted, run, number)
            state = copy_state(run.state)
            count = begin_round(run.spec, state, NO_LIMIT, np.random.default_rng(number))
            assert state.chosen[:count].tolist() == expected
        for arm, amount in run.choose():
            for _ in range(amount):
                run.tell(arm, float(rng.normal(means["abcde".index(arm)], 0.3)))
        run.update()
    assert seen == {"focus", "joint"}
