"""The data checks of real studies, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standout import Problem, Study
from standout.analysis.checks.findings import FINE, NOTE, SKIPPED, WARNING, Finding
from standout.errors import StorageError
from standout.report.facts import gather
from tests.report.studies import MEANS, NAMES, make, measure
from tests.study.asking import useful
from tests.study.conftest import Clock


def look(study: Study) -> dict[str, Finding]:
    return {finding.key: finding for finding in gather(study).findings}


def test_all_is_well(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        found = look(measure(study))
    assert {key: finding.level for key, finding in found.items()} == dict.fromkeys(
        ("drift", "neighbours", "noise", "workers", "verify", "failures", "late"), FINE
    )
    assert "2 workers: the same rewards" in found["workers"].text
    assert "up to 1 was assumed" in found["noise"].text


def test_nothing_to_test_yet(tmp_path: Path) -> None:
    with make(tmp_path) as study:
        found = look(measure(study, most=4, workers=("ada",)))
    assert found["drift"].level == found["neighbours"].level == found["noise"].level == SKIPPED
    assert found["workers"].text == "Not tested: all rewards come from one worker."


def drifting(rng: np.random.Generator, arm: str, done: int) -> float:
    return float(rng.normal(MEANS[arm] + done / 1000, 1.0))


def clumsy(rng: np.random.Generator, arm: str, done: int) -> float:
    return float(rng.normal(MEANS[arm], 1.5))


def test_drift(tmp_path: Path) -> None:
    with make(tmp_path, budget=1500) as study:
        found = look(measure(study, reward=drifting))
    assert found["drift"].level == WARNING
    assert "by about +1." in found["drift"].text
    assert "moving target" in found["drift"].advice
    assert found["drift"].p is not None
    assert found["drift"].p < 0.001 == found["drift"].alpha


def test_too_much_noise(tmp_path: Path) -> None:
    with make(tmp_path, budget=1500) as study:
        found = look(measure(study, reward=clumsy))
    assert found["noise"].level == WARNING
    assert "the standard deviation is 1.4" in found["noise"].text


@pytest.mark.parametrize(
    ("noise", "level"), [("heavy:0.8", WARNING), ("heavy:1.6", FINE), ("gaussian", FINE)]
)
def test_other_families(tmp_path: Path, noise: str, level: str) -> None:
    with make(tmp_path, budget=2000, problem={"noise": noise}) as study:
        assert look(measure(study, reward=clumsy))["noise"].level == level


def test_rewards_that_are_not_gaussian(tmp_path: Path) -> None:
    with make(tmp_path, budget=2000, problem={"noise": "gaussian"}) as study:
        found = look(measure(study, reward=lambda rng, arm, _: float(rng.exponential())))
    assert found["noise"].level == WARNING
    assert "not Gaussian" in found["noise"].text


@pytest.mark.parametrize("noise", ["bernoulli", "bounded:0,1"])
def test_bounded_rewards_assume_nothing(tmp_path: Path, noise: str) -> None:
    with make(tmp_path, budget=300, problem={"noise": noise}) as study:
        found = look(measure(study, reward=lambda rng, arm, _: float(rng.random() < 0.3)))
    assert found["noise"].level == FINE
    assert found["noise"].p is None


def test_workers_that_differ_are_named(tmp_path: Path) -> None:
    with make(tmp_path, budget=2000) as study:
        rng = np.random.default_rng(1)
        while tickets := study.ask(10):
            who = ("ada", "ben", "eve")[int(rng.integers(3))]
            lean = 0.8 * (who == "eve")
            rewards = [(t, float(rng.normal(MEANS[t.arm] + lean, 0.9))) for t in tickets]
            study.tell_many(rewards, worker=who)
        found = look(study)["workers"]
    assert found.level == WARNING
    assert "Farthest from the others: eve (+0.78)" in found.text


def test_failures_pauses_and_late_answers(tmp_path: Path) -> None:
    clock = Clock()
    problem = Problem(noise="gaussian:1", k=3)  # type: ignore[arg-type]
    place = tmp_path / "study.db"
    with Study.create(
        place, NAMES, problem, lease=100.0, pause_after=3, budget=300, clock=clock
    ) as study:
        for _ in range(3):
            ticket = next(t for t in study.ask(20) if t.arm == "elm")
            study.fail(ticket, "spilled")
            clock.now += 200
        lost = study.ask(5)
        clock.now += 200
        study.tell_many([(t, 1.0) for t in study.ask(40)])
        clock.now += 500
        study.tell_many([(t, 1.0) for t in lost])
        found = look(study)
    assert found["failures"].level == WARNING
    assert "3 measurements failed" in found["failures"].text
    assert found["paused"].text == "1 arm is paused: elm."
    assert found["late"].level == WARNING
    assert "expired unanswered" in found["late"].text
    assert found["verify"].level == FINE


def test_few_failures_are_only_noted(tmp_path: Path) -> None:
    with make(tmp_path, budget=200) as study:
        study.fail(study.ask(1)[0], "spilled")
        study.tell(arm="yew", reward=9.0)
        found = look(measure(study))
    assert found["failures"].level == NOTE
    assert found["failures"].advice == ""
    assert found["unasked"].level == NOTE
    assert "1 reward" in found["unasked"].text


def test_rewards_beyond_the_budget_are_noted(tmp_path: Path) -> None:
    with make(tmp_path, budget=30) as study:
        measure(study)
        study.tell_many([("yew", 9.0), ("ash", 0.0)])
        found = look(study)
    assert found["surplus"].text.startswith("2 rewards came beyond the budget")


@pytest.mark.parametrize("ordered", [False, True])
def test_quick_answers_that_differ_from_slow_ones(tmp_path: Path, ordered: bool) -> None:
    """Workers side by side, and large values take longer."""
    clock = Clock()
    problem = Problem(noise="gaussian:1", k=3)  # type: ignore[arg-type]
    rng = np.random.default_rng(4)
    waiting: list[tuple[float, Any, float]] = []
    with Study.create(
        tmp_path / "study.db", NAMES, problem, budget=400, clock=clock, ordered=ordered
    ) as study:
        while True:
            for ticket in useful(study, 30 - len(waiting)) if len(waiting) < 30 else []:
                value = float(rng.normal(MEANS[ticket.arm], 0.9))
                slow = float(np.exp(value - MEANS[ticket.arm]))
                waiting.append((clock.now + slow, ticket, value))
            if not waiting:
                break
            waiting.sort(key=lambda each: each[0])
            clock.now, ticket, value = waiting.pop(0)
            study.tell(ticket, value)
        found = look(study)
    if ordered:
        assert "delay" not in found
    else:
        assert found["delay"].level == WARNING
        assert "--unordered" in found["delay"].advice


def test_a_tampered_study_is_not_opened(tmp_path: Path) -> None:
    import sqlite3

    with make(tmp_path, budget=100) as study:
        measure(study)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("DROP TRIGGER standout_events_kept")
        connection.execute("UPDATE standout_events SET worker = 'eve' WHERE number = 3")
    connection.close()
    with pytest.raises(StorageError, match=r"event 3 \(.*\) was changed"):
        Study.open(tmp_path / "study.db")
