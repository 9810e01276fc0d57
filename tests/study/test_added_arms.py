"""Arms that join a study: what they do to the question, and that δ holds all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from standout import METHODS, Problem, Study
from standout.core.identification import arm_ends
from standout.core.robust import outliers
from standout.core.typing import Flags, Floats
from standout.errors import MethodError, ProblemError, StudyError
from standout.results import Ticket
from standout.study.events.fold import verify
from standout.study.events.requests import Add
from standout.study.events.state import StudyState
from tests.study.events.playing import Play

ARMS = [f"arm {i}" for i in range(6)]


def new(place: Path, room: int | None = 12, method: str = "focus", **more: object) -> Study:
    problem = Problem(noise="gaussian:1", k=2)
    return Study.create(place / "s.db", ARMS, problem, method, room=room, **more)  # type: ignore[arg-type]


def measure(study: Study, means: dict[str, float], rng: np.random.Generator, most: int) -> None:
    for _ in range(most):
        tickets = study.ask(8)
        if not tickets:
            return
        study.tell_many([(one, rng.normal(means[one.arm])) for one in tickets])


def test_another_arm_is_another_question(tmp_path: Path) -> None:
    """What stood out among few is ordinary among more of its kind, and the study says so."""
    means = dict(zip(ARMS, (0.0, 0.1, 0.2, 0.3, 0.4, 9.0), strict=True))
    rng = np.random.default_rng(0)
    with new(tmp_path) as study:
        measure(study, means, rng, 500)
        assert study.identification().outliers == ("arm 5",)
        more = {f"new {i}": 9.0 + i / 10 for i in range(4)}
        now = study.add_arms(list(more), "they came late", worker="Ada")
        assert (now.arms, now.outliers, str(now.reason)) == (10, (), "running")
        assert {one.arm for one in study.ask(8)} >= set(more)
        study.release(one.ticket for one in study.pending())
        measure(study, {**means, **more}, rng, 2000)
        found = study.identification()
        assert str(found.reason) == "decided"
        assert found.outliers == ()
        assert [(one.kind, one.words, one.worker) for one in study.changes()] == [
            ("add", "added new 0, new 1, new 2 and new 3", "Ada")
        ]


def test_known_intervals_stay_as_they_are(tmp_path: Path) -> None:
    """Each arm has δ / room from the beginning, so that to add one changes no other interval."""
    rng = np.random.default_rng(1)
    with new(tmp_path) as study:
        study.tell_many([(arm, rng.normal()) for arm in ARMS for _ in range(30)])
        before = study.identification()
        study.add_arms(["late"])
        after = study.identification()
        assert np.array_equal(after.lower[:6], before.lower)
        assert np.array_equal(after.upper[:6], before.upper)
        assert not np.isfinite(after.upper[6])
    with Study.open(tmp_path / "s.db") as study:
        assert study.arms[-1] == "late"
        twin = Study.create(tmp_path / "t.db", ARMS, study.problem)
        twin.tell_many([(arm, 0.0) for arm in ARMS for _ in range(30)])
        shared = twin.identification()
        assert (after.upper[:6] - after.lower[:6] > shared.upper - shared.lower).all()


def test_it_opens_again_from_events_and_from_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standout.study.transaction.SNAPSHOT_EVENTS", 5)
    rng = np.random.default_rng(2)
    means = {**dict.fromkeys(ARMS, 0.0), "x": 1.0, "y": 5.0}
    with new(tmp_path) as study:
        held = study.ask(3)
        measure(study, means, rng, 4)
        study.add_arms(["x"])
        measure(study, means, rng, 4)
        study.add_arms(["y"])
        study.tell_many([(one, 0.5) for one in held])
        measure(study, means, rng, 9)
        found, head = study.identification(), study.status().head
    with Study.open(tmp_path / "s.db") as again:
        assert again.status().head == head
        assert again.identification().arms == found.arms
        assert np.array_equal(again.identification().upper, found.upper)
        assert again.verify().problems == ()


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_judge_all_arms_together_have_no_room(name: str, tmp_path: Path) -> None:
    method, problem = METHODS[name], Problem(noise="bernoulli")
    if name in ("joint", "combined", "gold", "rr", "wrr", "ade"):
        with pytest.raises(MethodError, match="judges all arms together"):
            Study.create(tmp_path / "s.db", ARMS, problem, method.name, room=9)
        return
    with Study.create(tmp_path / "s.db", ARMS, problem, method.name, room=9) as study:
        measure_all = [(arm, float(i == 5)) for i, arm in enumerate(ARMS) for _ in range(40)]
        study.tell_many(measure_all)
        study.add_arms(["late"])
        tickets = study.ask(5)
        assert tickets
        assert all(isinstance(one, Ticket) for one in tickets)


def test_what_cannot_be_added(tmp_path: Path) -> None:
    with new(tmp_path, room=7) as study:
        with pytest.raises(StudyError, match="there is room for 1 to 1 more arms, not for 2"):
            study.add_arms(["a", "b"])
        with pytest.raises(StudyError, match="not for 0"):
            study.add_arms([])
        with pytest.raises(ProblemError, match="arm 1"):
            study.add_arms(["arm 1"])
        assert study.add_arms(["a"], key="k").arms == study.add_arms(["a"], key="k").arms == 7
    with new(tmp_path, None, name="none") as study, pytest.raises(StudyError, match="no room"):
        study.add_arms(["a"])
    for room in (5, 10**6):
        with pytest.raises(StudyError, match="room must be"):
            Study.create(tmp_path / "u.db", ARMS, Problem(noise="bernoulli"), room=room)


@pytest.mark.parametrize("method", ["focus", "roai-lucb", "focus:goal=anytime"])
@pytest.mark.parametrize("side", ["high", "low", "both"])
def test_arms_that_join_at_the_worst_moments(method: str, side: str) -> None:
    """While all intervals hold their means, no verdict is wrong for the question of the moment.

    The attacker knows the truth: an arm joins as soon as something is certain, with a mean that
    moves the true threshold across an arm that was certified. A verdict that outlived its
    question would be wrong then.
    """
    reached = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, len(method), len(side)])
        problem = Problem(noise="gaussian:0.3", k=1.2, delta=0.3, side=side)  # type: ignore[arg-type]
        play = Play(ARMS, problem, method, room=14)
        means = dict(zip(ARMS, rng.normal(0, 1, 6), strict=True))
        for _ in range(60):
            tickets = play.ask(rng.integers(1, 9))
            if tickets:
                play.tell_many([(one, rng.normal(means[one.arm], 0.3)) for one in tickets])
            state = play.state
            assert state.spec.alpha == problem.delta / 14
            if not check(state, problem, means):
                break
            if state.certified.any() and len(means) < 14:
                name = f"late {len(means)}"
                means[name] = worst(rng, problem, means, state)
                play.do(Add([name]))
                assert check(state, problem, means)
                reached += 1
        assert verify(play.events).problems == ()
    assert reached > 20


def stand_out(means: Floats, problem: Problem) -> Flags:
    found = [outliers(means, problem.factor_of(side), side) for side in problem.sides()]
    return np.logical_or.reduce(found)


def check(state: StudyState, problem: Problem, means: dict[str, float]) -> bool:
    """Whether all intervals hold; if they do, asserts that all verdicts are right."""
    true = np.array(list(means.values()))
    lower, upper = arm_ends(state.state)
    if not ((lower <= true) & (true <= upper)).all():
        return False
    standing = stand_out(true, problem)
    assert not (standing & (state.certified == 1)).any()
    assert not (~standing & (state.certified == 2)).any()
    return True


def worst(
    rng: np.random.Generator, problem: Problem, means: dict[str, float], state: StudyState
) -> float:
    """A mean that makes most of what is certain untrue."""

    def untrue(mean: float) -> int:
        standing = stand_out(np.array([*means.values(), mean]), problem)
        certified = np.append(state.certified, 0)
        return int((standing & (certified == 1)).sum() + (~standing & (certified == 2)).sum())

    return max(rng.normal(0, 3, 40).tolist(), key=untrue)
