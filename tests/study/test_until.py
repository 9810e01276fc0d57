"""Studies that end on their chances: kept, worked out anew, and told apart from the certain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from standout import Problem, ProblemError, StopReason, Study, StudyError, Until, identify
from standout.driver.campaign import make_or_find
from standout.study.events.state import DueLook

MEANS = {**{f"arm {i}": 0.02 * i for i in range(12)}, "yew": 0.6}
PROBLEM = Problem(noise="gaussian:0.06", k=3)


def play(study: Study, batch: int = 1, seed: int = 1, most: int = 3000) -> None:
    rng = np.random.default_rng(seed)
    while (tickets := study.ask(batch)) and study.status().pulls < most:
        study.tell_many([(one, rng.normal(MEANS[one.arm], 0.06)) for one in tickets])


@pytest.mark.parametrize("batch", [1, 7])
def test_it_ends_is_kept_and_is_worked_out_anew(place: str, batch: int) -> None:
    with Study.create(place, list(MEANS), PROBLEM, until="errors=0.5") as study:
        play(study, batch)
    with Study.open(place) as again:
        assert again.until == Until(errors=0.5)
        now = again.status()
        assert now.reason is StopReason.ESTIMATE
        assert now.stopped
        assert now.until == "errors=0.5"
        assert now.undecided
        assert again.identification().until == "errors=0.5"
        assert again.chances().expected_wrong <= 0.5
        assert again.ask() is None
        assert again.verify().problems == ()


@pytest.mark.parametrize("method", ["focus:batch=5", "roai-elim"])
def test_it_ends_where_a_run_in_memory_does(folder: Path, method: str) -> None:
    """Told whole rounds, a study looks when a run does, sees the same, and ends at the same pull.

    (Told one by one, it looks at the very reward that makes a look due, within a round.)
    """

    def measured() -> Callable[[str], float]:
        rngs = {arm: np.random.default_rng([1, i]) for i, arm in enumerate(MEANS)}
        return lambda arm: rngs[arm].normal(MEANS[arm], 0.06)

    ends = [0]
    found = identify(
        measured(), list(MEANS), PROBLEM, method, until="errors=0.01", seed=5,
        progress=lambda run: ends.append(run.pulls),
    )  # fmt: skip
    give_reward = measured()
    with Study.create(
        folder / "x.db", list(MEANS), PROBLEM, method, until="errors=0.01", seed=5
    ) as study:
        for before, after in itertools.pairwise(ends):
            assert not study.status().stopped
            study.tell_many([(each, give_reward(each.arm)) for each in study.ask(after - before)])
        answer = study.identification()
        chances = study.chances().chance
    assert len(ends) > 5
    assert answer.reason is found.reason is StopReason.ESTIMATE
    assert answer.pulls == found.pulls
    np.testing.assert_array_equal(answer.means, found.means)
    assert found.chances is not None
    np.testing.assert_array_equal(chances, found.chances.chance)


def test_others_write_while_a_look_is_made(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chances are worked out while no transaction is open; `verify` works out the same looks."""
    worked_out, seen = DueLook.excess, []
    with (
        Study.create(place, list(MEANS), PROBLEM, until="errors=0.5") as study,
        Study.open(place) as other,
    ):

        def excess(look: DueLook) -> float:
            seen.append(look.number)
            other.tell(arm="yew", reward=0.6)
            return worked_out(look)

        monkeypatch.setattr(DueLook, "excess", excess)
        play(study)
        monkeypatch.undo()
        assert seen
        assert study.status().reason is StopReason.ESTIMATE
        assert other.verify().problems == ()


def test_until_then_it_is_as_without(folder: Path) -> None:
    """What is asked and how much is decided, reward by reward, and every interval at the end."""
    ways = []
    for until in (None, "errors=1e-30"):
        rng = np.random.default_rng(3)
        with Study.create(
            folder / f"{until}.db", list(MEANS), PROBLEM, until=until, seed=5, budget=250
        ) as study:
            seen: list[tuple[str, int]] = []
            while ticket := study.ask():
                study.tell(ticket, rng.normal(MEANS[ticket.arm], 0.06))
                seen.append((ticket.arm, study.pulse().undecided))
            answer = study.identification().to_dict()
            answer.pop("until")
            ways.append((seen, answer))
    assert ways[0] == ways[1]
    assert ways[0][1]["reason"] == "budget"


def test_a_study_that_stopped_too_late_or_too_early_shows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, excess in (("late", 2.0), ("early", 0.5)):
        monkeypatch.setattr(DueLook, "excess", lambda _, excess=excess: excess)
        with Study.create(folder / name, list(MEANS), PROBLEM, until="errors=2") as study:
            play(study, 20, most=600)
        monkeypatch.undo()
        with Study.open(folder / name) as again:
            problems = again.verify().problems
            assert any("by the rewards it is" in problem for problem in problems)


def test_what_cannot_be_promised_makes_no_file(folder: Path) -> None:
    for until in ("errors=0", 0.5):
        with pytest.raises((ProblemError, StudyError)):
            Study.create(folder / "x.db", list(MEANS), PROBLEM, until=until)  # type: ignore[arg-type]
    assert not (folder / "x.db").exists()


def test_the_same_command_finds_the_study_and_another_promise_does_not(folder: Path) -> None:
    place = str(folder / "x.db")
    common = {"name": "main", "budget": None, "seed": 0}
    make_or_find(place, list(MEANS), PROBLEM, "focus", until="errors=0.5", **common).close()  # type: ignore[arg-type]
    make_or_find(place, list(MEANS), PROBLEM, "focus", until="errors=.50", **common).close()  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="until"):
        make_or_find(place, list(MEANS), PROBLEM, "focus", **common)  # type: ignore[arg-type]
