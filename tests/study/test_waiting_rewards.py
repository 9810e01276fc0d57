"""Answers whose delay depends on their value: the default must not certify what is not so."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from standout import Problem
from standout.study import Study, Ticket
from tests.study.cli import standout
from tests.study.conftest import Clock

ARMS = [f"arm {i}" for i in range(8)]
MEANS = dict(zip(ARMS, [0.28, 0.29, 0.3, 0.31, 0.32, 0.3, 0.31, 0.3], strict=True))
LATE = "arm 7"
"""As ordinary as the others, but its failures come late."""
DELAY = 60
RUNS = 8
DELTA = 0.001


def play(place: Path, seed: int, **options: object) -> bool:
    """Whether the arm with late failures is said to stand out, in 80 ticks of 150 pulls."""
    clock = Clock()
    rng = np.random.default_rng(seed)
    problem = Problem(noise="bernoulli", k=2, delta=DELTA)
    due: dict[int, list[tuple[Ticket, float]]] = defaultdict(list)
    with Study.create(
        place, ARMS, problem, name=f"run {seed}", seed=seed, clock=clock, **options
    ) as study:  # type: ignore[arg-type]
        for tick in range(DELAY + 20):
            clock.now += 1
            for ticket in study.ask(150):
                reward = float(rng.random() < MEANS[ticket.arm])
                is_late = ticket.arm == LATE and reward == 0
                due[tick + (DELAY if is_late else 1)].append((ticket, reward))
            study.tell_many(due.pop(tick, []))
            if LATE in study.status().outliers:
                return True
        assert study.verify().problems == ()
        return False


def test_late_failures_do_not_make_an_outlier(folder: Path) -> None:
    """Fails for correct code with probability at most RUNS * DELTA = 0.008."""
    found = [play(folder / "study.db", seed) for seed in range(RUNS)]
    assert found == [False] * RUNS


def test_as_told_they_do(folder: Path) -> None:
    """What the test above is worth, and why `ordered=False` has to be asked for.

    Fails for correct code if an estimate of 1 of a mean of 0.3 is not certified
    after some hundred successes: with a probability far below 1e-9.
    """
    found = [play(folder / "study.db", seed, ordered=False) for seed in range(3)]
    assert found == [True] * 3


def test_every_way_to_begin_is_ordered(folder: Path) -> None:
    place = folder / "x.db"
    arms = folder / "arms.csv"
    arms.write_text("arm\na\nb\nc\n")
    words = ("--arms", arms, "--noise", "bernoulli")
    assert standout("study", "create", place, *words, "--study", "one").code == 0
    made = standout("study", "create", place, *words, "--study", "two", "--unordered")
    assert made.code == 0
    measure = ("--measure", "echo {arm}", "--study")
    for name, expected in (("one", True), ("two", False)):
        with Study.open(place, name) as study:
            assert study.ordered is expected
    # A run goes on with the kind of study that it would make.
    refused = standout("run", place, *words, *measure, "two")
    assert (refused.code, "add --unordered" in refused.err) == (2, True)
    refused = standout("run", place, *words, *measure, "one", "--unordered")
    assert (refused.code, "leave out --unordered" in refused.err) == (2, True)


@pytest.mark.parametrize("given", [None, False, True])
def test_the_default_over_http(folder: Path, given: bool | None) -> None:
    from fastapi.testclient import TestClient

    from standout.service.app import create_app
    from standout.service.settings import Settings

    place = str(folder / "x.db")
    body = {"name": "main", "arms": ["a", "b", "c"], "noise": "bernoulli"}
    if given is not None:
        body["ordered"] = given  # type: ignore[assignment]
    with TestClient(create_app(place, Settings()), base_url="http://127.0.0.1") as client:
        assert client.post("/api/v1/studies", json=body).status_code == 201
    with Study.open(place) as study:
        assert study.ordered is (given is not False)


def test_a_bet_on_all_means_waits_for_the_pulls_of_all_arms(place: str) -> None:
    """The first so many of each arm are not enough for it: see tests/core/joint/test_slow.py."""
    study = Study.create(place, ["a", "b", "c"], Problem(noise="gaussian:1"), "joint")
    first, second, third, fourth = study.ask(4)
    assert first.arm != second.arm
    study.tell_many([(fourth, 4.0), (second, 2.0)])
    study.tell(arm="c", reward=5.0)
    status = study.status()
    assert sum(arm.rewards for arm in status.waiting) == 3
    assert {waiting.ticket for waiting in status.waiting} == {first.id}
    assert study.identification().pulls == 0
    study.tell(first, 1.0)
    assert study.identification().pulls == 2
    study.fail(third, "broken")
    assert study.identification().pulls == 4
    assert study.status().waiting == ()
    assert study.verify().problems == ()
