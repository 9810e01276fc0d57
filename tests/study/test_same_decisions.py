"""A study fed with a simulation's rewards takes the simulation's decisions, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from standout import METHODS, Problem
from standout.core.methods import parse_method
from standout.core.run import Run
from standout.errors import MethodError
from standout.simulation.rewards import draw, rewards_of
from standout.simulation.runs import streams
from standout.study import Study

MEANS = np.array([0.1, 0.15, 0.2, 0.22, 0.25, 0.3, 0.3, 0.9, 0.95])
ARMS = [f"arm {i}" for i in range(len(MEANS))]
NAMES = [*METHODS, "roai-lucb:batch=3", "roai-elim:growth=0.2", "roai-lucb:lambda=2,epsilon=0.2"]
LIMIT = 400


def tape(problem: Problem, method: str, budget: int) -> tuple[list[tuple[str, float]], Run]:
    """The pulls and rewards of a simulated run, and the run at its end."""
    _, reward_rng, rule_rng = streams(7, 0)
    rewards = rewards_of(MEANS, problem.noise, None)
    run = Run(problem, ARMS, method, rule_rng, budget=budget)
    pulls: list[tuple[str, float]] = []
    while chosen := run.choose():
        for arm, amount in chosen:
            for _ in range(amount):
                reward = draw(rewards, ARMS.index(arm), reward_rng)
                pulls.append((arm, reward))
                run.tell(arm, reward)
        run.update()
    return pulls, run


@pytest.mark.parametrize("noise", ["bernoulli", "gaussian:0.02"])
@pytest.mark.parametrize("method", NAMES)
def test_same_decisions(folder: Path, method: str, noise: str) -> None:
    problem = Problem(noise=noise, k=2)
    try:
        parse_method(method).spec(problem, len(ARMS))
    except MethodError as error:
        pytest.skip(str(error))
    expected, run = tape(problem, method, LIMIT)
    rng = streams(7, 0)[2]
    place = folder / "study.db"
    study = Study.create(place, ARMS, problem, method, budget=LIMIT, seed=rng)
    for step, (arm, reward) in enumerate(expected):
        if step % 97 == 50:
            study.close()
            study = Study.open(place)
        (ticket,) = study.ask(1)
        assert ticket.arm == arm, f"pull {step}"
        study.tell(ticket, reward)
    assert study.ask(1) == []
    wanted, found = run.identification(), study.identification()
    assert str(found.reason) == str(wanted.reason)
    assert (found.pulls, found.rounds) == (wanted.pulls, wanted.rounds)
    assert found.threshold == wanted.threshold
    for name in ("means", "lower", "upper", "pulls_by_arm"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    # What is certified stays so in a study, also where the method would waver.
    assert set(wanted.outliers) <= set(found.outliers)
    assert set(wanted.normal) <= set(found.normal)
    assert study.verify().problems == ()
