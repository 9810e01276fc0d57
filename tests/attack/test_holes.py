"""Holes that were found once, each as small as it can be shown."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from standout import Problem, identify
from standout.core import robust
from standout.core.methods import METHODS
from standout.core.prior import PriorFacts
from standout.core.run import Run
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.errors import MeasureError, MethodError
from standout.study import Study

ARMS = list("abcde")
MEANS = dict(zip(ARMS, (0.0, 1.0, 2.0, 3.0, 30.0), strict=True))
PROBLEM = Problem(noise="gaussian:0.5", k=2)  # type: ignore[arg-type]
ROBUST = [name for name, method in METHODS.items() if method.is_robust]
EXACT = ["focus", "focus:goal=anytime", *(f"{name}:range=exact" for name in ROBUST[1:])]
"""Every method with the exact range, in which an infinite interval was once no bound at all."""


def seed() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.kernel
@pytest.mark.parametrize("label", EXACT)
@pytest.mark.parametrize("measured", [3, 4])
def test_arms_never_measured_may_lie_anywhere(label: str, measured: int) -> None:
    """With (n - 1)/2 arms without an interval theta's holds whatever they make of it."""
    run = Run(PROBLEM, ARMS, label, seed())
    for arm in ARMS[:measured]:
        for _ in range(1000):
            run.tell(arm, MEANS[arm])
    run.update()
    found = run.identification()
    assert found.outliers == ()
    for others in itertools.product((-1e6, 0.0, 1.5, 1e6), repeat=len(ARMS) - measured):
        means = [*list(MEANS.values())[:measured], *others]
        theta = robust.threshold(means, PROBLEM.factor)
        assert found.threshold.lower <= theta <= found.threshold.upper


@pytest.mark.kernel
@pytest.mark.parametrize("label", [*ROBUST, "focus:goal=anytime"])
def test_rewards_before_all_arms_decide_only_what_is_certain(label: str) -> None:
    """A measurement that fails in the first round leaves arms without a reward."""

    def measure(arm: str) -> float:
        if arm == "d":
            raise OSError("broken")
        return MEANS[arm]

    with pytest.raises(MeasureError) as error:
        identify(measure, ARMS, PROBLEM, label)
    assert error.value.partial.outliers == ()


@pytest.mark.kernel
@pytest.mark.parametrize("label", [*METHODS, "focus:goal=anytime"])
def test_earlier_rewards_of_all_arms(label: str) -> None:
    """With earlier rewards of every arm a rule chooses before any round has ended."""
    bounded = Problem(noise="bounded:-100,100", k=2)  # type: ignore[arg-type]
    problem = bounded if METHODS[label.partition(":")[0]].needs_bounded_rewards else PROBLEM
    if METHODS[label.partition(":")[0]].interval is None:
        problem = PROBLEM
    prior = {arm: (3, 3 * MEANS[arm]) for arm in ARMS}
    run = Run(problem, ARMS, label, seed(), given=PriorFacts(prior=prior))
    chosen = run.choose()
    assert chosen or run.is_decided
    numbers = run.state.chosen[: len(chosen)]
    assert (numbers >= 0).all()
    assert (numbers < len(ARMS)).all()
    run.update()
    assert not np.isnan(run.state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER]]).any()


@pytest.mark.kernel
@pytest.mark.parametrize("label", [*ROBUST, "focus:goal=anytime"])
def test_an_update_before_the_first_reward(label: str) -> None:
    run = Run(PROBLEM, ARMS, label, seed())
    run.update()
    assert run.identification().undecided == tuple(ARMS)
    for _ in range(30):
        chosen = run.choose()
        numbers = run.state.chosen[: len(chosen)]
        assert (numbers >= 0).all()
        assert (numbers < len(ARMS)).all()
        for arm, amount in chosen:
            for _ in range(amount):
                run.tell(arm, MEANS[arm])
        run.update()
    assert set(run.identification().outliers) <= {"e"}


@pytest.mark.kernel
@pytest.mark.parametrize("label", ["focus", "focus:goal=anytime", "focus:range=algorithm1"])
@pytest.mark.parametrize("family", ["gaussian:0.5", "gaussian", "heavy:0.5", "bounded:-40,40"])
def test_what_is_known_is_never_measured(label: str, family: str) -> None:
    problem = Problem(noise=family, k=2, tolerance=0.5)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    for count in range(1, len(ARMS) + 1):
        known = {arm: MEANS[arm] for arm in ARMS[:count]}
        measured = set()

        def measure(arm: str, measured: set[str] = measured) -> float:
            measured.add(arm)
            return float(rng.normal(MEANS[arm], 0.3))

        found = identify(measure, ARMS, problem, label, known=known, budget=300, seed=count)
        assert not measured & set(known)
        assert set(found.outliers) <= {"e"}


@pytest.mark.kernel
def test_all_means_known_need_no_measurement() -> None:
    """The arm on the threshold, 2 + 2 * 1 * MAD(1), is normal: it does not lie beyond."""
    problem = Problem(noise="gaussian:0.5", k=2, mad_scale=1)  # type: ignore[arg-type]
    means = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 30.0, "f": 3.0, "g": 5.0}
    found = identify(lambda arm: 1 / 0, list(means), problem, known=means)
    assert found.outliers == ("e",)
    assert found.undecided == ()
    assert found.pulls == 0


@pytest.mark.parametrize("label", ["rr", "wrr"])
def test_a_round_robin_does_not_ignore_the_low_side_s_own_k(label: str) -> None:
    problem = Problem(noise="bernoulli", k=1, k_low=50, side="both")  # type: ignore[arg-type]
    with pytest.raises(MethodError, match="k_low"):
        Run(problem, ARMS, label, seed())


@pytest.mark.parametrize("label", ["focus", "roai-lucb", "roai-lucb:range=exact", "roai-elim"])
@pytest.mark.parametrize("family", ["gaussian:0.5", "gaussian"])
def test_arms_paused_before_their_first_reward(
    folder: Path,
    label: str,
    family: str,
) -> None:
    """Two of five are paused: the others are measured, and nothing is certified of any."""
    if family == "gaussian" and label != "focus":
        label = f"{label},interval=auto" if ":" in label else f"{label}:interval=auto"
    problem = Problem(noise=family, k=2)  # type: ignore[arg-type]
    study = Study.create(folder / "study.db", ARMS, problem, label)
    study.pause("d")
    study.pause("e")
    rng = np.random.default_rng(5)
    for _ in range(20):
        tickets = study.ask(6)
        assert not {"d", "e"} & {ticket.arm for ticket in tickets}
        study.tell_many([(one, rng.normal(MEANS[one.arm], 0.3)) for one in tickets])
        assert study.status().outliers == ()
    study.resume("d")
    study.resume("e")
    for _ in range(40):
        tickets = study.ask(6)
        study.tell_many([(one, rng.normal(MEANS[one.arm], 0.3)) for one in tickets])
    assert set(study.status().outliers) <= {"e"}
    assert study.verify().problems == ()
    study.close()
