from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import standout
from standout import Bernoulli, Bounded, Gaussian, Problem, Side
from standout.core.noise import parse_noise
from standout.core.problem import as_problem
from standout.core.run import check_arms
from standout.errors import ProblemError, RewardError, StandoutError

BAD_PROBLEMS = [
    ({"k": 0.5}, "k must be at least 1, not 0.5"),
    ({"k": -3}, "k must be at least 1, not -3"),
    ({"k": math.nan}, "k must be finite, not nan"),
    ({"k": math.inf}, "k must be finite, not inf"),
    ({"k": "three"}, "k must be a number, not 'three'"),
    ({"k": None}, "k must be a number, not None"),
    ({"delta": 0}, "delta must lie between 0 and 1, not 0;.* e.g. 0.05"),
    ({"delta": 1}, "delta must lie between 0 and 1, not 1"),
    ({"delta": 5}, "delta must lie between 0 and 1, not 5"),
    ({"delta": math.nan}, "delta must be finite"),
    ({"mad_scale": 0}, "mad_scale must be positive, not 0; 1 is the plain MAD, 1.4826"),
    ({"mad_scale": math.inf}, "mad_scale must be finite"),
    ({"side": "up"}, "side must be one of high, low.*, not 'up'"),
    ({"side": None}, "side must be one of high, low"),
    ({"noise": 3}, "noise must be a noise family, not 3; use bernoulli, gaussian:SIGMA"),
    ({"noise": "cauchy"}, "noise 'cauchy' is not known; use bernoulli"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_PROBLEMS)
def test_problems_that_cannot_be_asked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message) as caught:
        Problem(**({"noise": "bernoulli"} | changes))  # type: ignore[arg-type]
    assert isinstance(caught.value, StandoutError)
    assert isinstance(caught.value, ValueError)


def test_noise_has_no_default() -> None:
    with pytest.raises(TypeError, match="noise"):
        Problem()  # type: ignore[call-arg]


def test_values_are_read_leniently() -> None:
    problem = Problem(noise="gaussian:0.5", k=np.int64(2), delta="0.1", side="low")  # type: ignore[arg-type]
    assert problem.noise == Gaussian(0.5)
    assert (problem.k, problem.delta, problem.side) == (2.0, 0.1, Side.LOW)
    assert isinstance(problem.k, float)
    assert problem.factor == 2 * 1.4826


def test_to_dict_is_plain_and_complete() -> None:
    problem = Problem(noise="bounded:0,10", k=2.5, delta=0.01, side="low")
    plain = json.loads(json.dumps(problem.to_dict()))
    assert Problem(**plain) == problem


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_arms(n: int) -> None:
    with pytest.raises(ProblemError, match=f"at least 3 arms are needed .*, not {n}"):
        Problem(noise="bernoulli").check_arms(n)


def test_arms_named_twice() -> None:
    with pytest.raises(ProblemError, match="arm 'b' is named twice; give each arm its own name"):
        check_arms(["a", "b", "c", "b", "a"])
    assert check_arms([1, 2, 3]) == ("1", "2", "3")  # type: ignore[list-item]
    with pytest.raises(ProblemError, match="arm '1' is named twice"):
        check_arms([1, "1", 2])  # type: ignore[list-item]


GOOD_NOISE = [
    ("bernoulli", Bernoulli()),
    (" Bernoulli ", Bernoulli()),
    ("gaussian:0.5", Gaussian(0.5)),
    ("GAUSSIAN: 2", Gaussian(2.0)),
    ("gaussian:1e-12", Gaussian(1e-12)),
    ("bounded:0,10", Bounded(0.0, 10.0)),
    ("bounded: -1.5 , 1e12", Bounded(-1.5, 1e12)),
]


@pytest.mark.parametrize(("text", "noise"), GOOD_NOISE)
def test_parse_noise(text: str, noise: object) -> None:
    assert parse_noise(text) == noise
    assert parse_noise(noise.spec()) == noise  # type: ignore[attr-defined]


BAD_NOISE = [
    ("", "noise '' is not known; use bernoulli, gaussian:SIGMA"),
    ("bernoulli:1", "is not known"),
    ("gaussian:1,2", "is not known"),
    ("gaussian:wide", "noise 'gaussian:wide' has a part that is no number"),
    ("gaussian:0", "sigma must be a positive number, not 0"),
    ("gaussian:-1", "sigma must be a positive number, not -1"),
    ("gaussian:nan", "sigma must be a positive number, not nan"),
    ("gaussian:inf", "sigma must be a positive number, not inf"),
    ("bounded:1", "is not known"),
    ("bounded:1,", "has a part that is no number"),
    ("bounded:1,1", "bounds must be two finite numbers with A < B, not 1,1"),
    ("bounded:2,1", "bounds must be two finite numbers with A < B, not 2,1"),
    ("bounded:0,inf", "bounds must be two finite numbers with A < B, not 0,inf"),
]


@pytest.mark.parametrize(("text", "message"), BAD_NOISE)
def test_noise_that_does_not_exist(text: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        parse_noise(text)


@pytest.mark.parametrize(
    ("noise", "sigma"), [("bernoulli", 0.5), ("bounded:-1,3", 2.0), ("gaussian:0.3", 0.3)]
)
def test_sigma(noise: str, sigma: float) -> None:
    assert parse_noise(noise).sigma == sigma


BAD_REWARDS = [
    ("bernoulli", 0.5, "reward 0.5 is neither 0 nor 1; for values in between use bounded:0,1"),
    ("bernoulli", 2, r"reward 2 lies outside \[0, 1\]; rescale it"),
    ("bounded:0,10", -0.1, r"reward -0.1 lies outside \[0, 10\]"),
    ("bounded:0,10", math.nan, "reward nan is not finite"),
    ("gaussian:1", math.inf, "reward inf is not finite"),
    ("gaussian:1", None, "reward None is not a number"),
    ("gaussian:1", "high", "reward 'high' is not a number"),
    ("gaussian:1", [1.0], r"reward \[1.0\] is not a number"),
    ("gaussian:1", 1j, "reward 1j is not a number"),
]


@pytest.mark.parametrize(("noise", "reward", "message"), BAD_REWARDS)
def test_rewards_that_cannot_be(noise: str, reward: object, message: str) -> None:
    with pytest.raises(RewardError, match=message):
        parse_noise(noise).check_reward(reward)  # type: ignore[arg-type]


@pytest.mark.parametrize("reward", [0, 1, True, False, np.bool_(True), np.int64(1), np.float32(0)])
def test_rewards_of_any_number_type(reward: float) -> None:
    found = parse_noise("bernoulli").check_reward(reward)
    assert type(found) is float
    assert found == float(reward)


@pytest.mark.parametrize(
    "given",
    [
        "gaussian:0.5",
        Gaussian(0.5),
        {"noise": "gaussian:0.5"},
        Problem(noise="gaussian:0.5"),
        Problem(noise="gaussian:0.5").question(),
        Problem(noise="gaussian:0.5").to_dict(),
    ],
)
def test_what_stands_for_a_problem(given: Any) -> None:
    problem = Problem(noise="gaussian:0.5")
    assert as_problem(given) == problem
    table = {"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [2.0, 1.0]}
    assert standout.analyse(table, given).problem == problem.question()
    assert (
        standout.Run(given, ["a", "b", "c"], "focus", np.random.default_rng(0)).problem == problem
    )
    assert standout.simulate("fig1", problem=given, runs=1, budget=20).problem == problem
    found = standout.identify(lambda arm: 0.0, ["a", "b", "c"], given, budget=9)
    assert found.problem == problem.question()
    assert standout.chances(found, given).arms == standout.chances(found).arms


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gauss", "noise 'gauss' is not known; use bernoulli"),
        (None, r"say what is asked: Problem\(noise=\.\.\.\).*not None"),
        (3, "say what is asked"),
        ({"noise": "bernoulli", "K": 2}, "a problem has no 'K'; it has noise, k, delta"),
        ({"k": 2}, "the problem has no noise; add 'noise', one of bernoulli"),
    ],
)
def test_what_is_no_problem(given: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        standout.identify(lambda arm: 0.0, ["a", "b", "c"], given)
