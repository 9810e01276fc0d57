"""Arms keep their type, and lose the blanks at their ends."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

import standout
from standout import ArmNameWarning, Identification, Problem, ProblemError, Run
from standout.core.arms import labels_of

PROBLEM = Problem(noise="gaussian:0.1", k=2)


def noisy(mean_of: Callable[[Any], float]) -> tuple[Callable[[Any], float], list[Any]]:
    """A function that measures, and the list of the arms that it gets."""
    rng, seen = np.random.default_rng(3), []

    def measure(arm: Any) -> float:
        seen.append(arm)
        return rng.normal(mean_of(arm), 0.1)

    return measure, seen


def test_whole_numbers_stay_whole_numbers() -> None:
    measure, seen = noisy(lambda arm: 9.0 if arm == 7 else arm / 10)
    found = standout.identify(measure, [1, 2, 3, 4, 7], PROBLEM)
    assert {type(arm) for arm in seen} == {int}
    assert found.outliers == (7,)
    assert found.to_frame()["arm"].tolist() == [1, 2, 3, 4, 7]
    assert found.to_dict()["outliers"] == [7]
    assert Identification.from_dict(found.to_dict()).outliers == (7,)


def test_numbers_of_numpy_are_measured_as_given_and_named_as_pythons() -> None:
    measure, seen = noisy(lambda arm: 9.0 if arm == 4 else arm / 10)
    found = standout.identify(measure, np.arange(5), PROBLEM)
    assert {type(arm) for arm in seen} == {np.int64}
    assert [type(arm) for arm in found.outliers] == [int]


def test_tuples_and_members_of_an_enum() -> None:
    class Tree(Enum):
        ASH = 1
        YEW = 2

    arms = [("a", 1), ("b", 2), ("c", 3), ("d", 90), Tree.YEW]
    measure, seen = noisy(lambda arm: 2.0 if arm is Tree.YEW else float(arm[1]))
    found = standout.identify(measure, arms, PROBLEM)
    assert set(seen) == set(arms)
    assert found.outliers == (("d", 90),)
    assert found.to_dict()["outliers"] == ["('d', 90)"]


def test_blanks_at_the_ends_of_names() -> None:
    measure, seen = noisy(lambda arm: float(len(arm.strip())))
    with pytest.warns(ArmNameWarning, match=r"^2 names of arms have blanks .* ' a' is 'a'$"):
        found = standout.identify(measure, [" a", "bb", "ccc ", "d" * 40], PROBLEM)
    assert set(seen) == {" a", "bb", "ccc ", "d" * 40}
    assert found.arms == ("a", "bb", "ccc", "d" * 40)


def test_a_run_by_hand_takes_an_arm_in_any_form() -> None:
    run = Run(PROBLEM, [1, 2, 3], "focus", np.random.default_rng(0))
    assert type(run.ask()) is int
    for arm in (1, np.int64(2), "3"):
        run.tell(arm, 0.5)
    assert run.pulls == 3
    with pytest.raises(ProblemError, match="no arm 4 in this run"):
        run.tell(4, 0.5)


def test_costs_and_known_means_by_number() -> None:
    measure, seen = noisy(lambda arm: 9.0 if arm == 7 else arm / 10)
    found = standout.identify(
        measure, [1, 2, 3, 4, 7], PROBLEM, known={1: 0.1}, costs={2: 5.0}, prior={3: (2, 0.6)}
    )
    assert 1 not in seen
    assert found.outliers == (7,)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([1, 1.0, 2], "two arms are equal"),
        ([1, True, 2], "two arms are equal"),
        ([1, "1", 2], "or have the same name"),
        (["a", "a", "b"], "arm 'a' is named twice"),
        (["a", " ", "b"], "arm ' ' has no name but blanks"),
        (["a", None, "b"], "an arm is a text, a number or another hashable value, not None"),
        (["a", float("nan"), "b"], "not nan"),
        ([["a"], "b", "c"], r"not \['a'\]"),
    ],
)
def test_arms_that_cannot_be(arms: list[Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Run(PROBLEM, arms, "focus", np.random.default_rng(0))


@pytest.mark.filterwarnings("ignore::standout.ArmNameWarning")
def test_two_names_that_differ_by_blanks() -> None:
    with pytest.raises(ProblemError, match="'a' is named twice"):
        Run(PROBLEM, ["a", "a ", "b"], "focus", np.random.default_rng(0))
    assert labels_of(["a\t", "b"]) == ("a", "b")
