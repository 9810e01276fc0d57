"""A study fed with a simulation's rewards takes the simulation's decisions, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from standout import METHODS, Problem
from standout.core.methods import parse_method
from standout.core.run import Run
from standout.errors import MethodError
from standout.simulation.rewards import draw, rewards_of
from standout.study.events.pulls import RoundChance
from tests.study.events.playing import Play

MEANS = np.array([0.1, 0.15, 0.2, 0.22, 0.25, 0.3, 0.3, 0.9, 0.95])
ARMS = [f"arm {i}" for i in range(len(MEANS))]
NAMES = [*METHODS, "roai-lucb:batch=3", "roai-elim:growth=0.2", "roai-lucb:lambda=2,epsilon=0.2"]
LIMIT, SEED = 400, 7


def tape(problem: Problem, method: str, budget: int) -> tuple[list[tuple[str, float]], Run]:
    """The pulls and rewards of a simulated run, and the run at its end.

    Its random choices are those of a study: each round begins a stream of its own.
    """
    reward_rng, chance = np.random.default_rng(11), RoundChance(SEED)
    rewards = rewards_of(MEANS, problem.noise, None)
    run = Run(problem, ARMS, method, np.random.default_rng(SEED), budget=budget)
    run.rng = chance.of_round(1)
    pulls: list[tuple[str, float]] = []
    number = 1
    while chosen := run.choose():
        for arm, amount in chosen:
            for _ in range(amount):
                reward = draw(rewards, ARMS.index(arm), reward_rng)
                pulls.append((arm, reward))
                run.tell(arm, reward)
        run.update()
        number += 1
        chance.of_round(number)
    return pulls, run


@pytest.mark.parametrize("noise", ["bernoulli", "gaussian:0.02"])
@pytest.mark.parametrize("method", NAMES)
def test_same_decisions(method: str, noise: str) -> None:
    problem = Problem(noise=noise, k=2)
    try:
        parse_method(method).spec(problem, len(ARMS))
    except MethodError as error:
        pytest.skip(str(error))
    expected, run = tape(problem, method, LIMIT)
    play = Play(ARMS, problem, method, budget=LIMIT, seed=SEED)
    for step, (arm, reward) in enumerate(expected):
        if step % 97 == 50:
            play.reopen()
        (ticket,) = play.ask()
        assert ticket.arm == arm, f"pull {step}"
        play.tell(ticket, reward)
    assert play.ask() == []
    wanted, found = run.identification(), play.state.identification()
    assert str(found.reason) == str(wanted.reason)
    assert (found.pulls, found.rounds) == (wanted.pulls, wanted.rounds)
    assert found.threshold == wanted.threshold
    for name in ("means", "lower", "upper", "pulls_by_arm"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    # What is certified stays so in a study, also where the method would waver.
    assert set(wanted.outliers) <= set(found.outliers)
    assert set(wanted.normal) <= set(found.normal)
    play.check()
