"""Changing one's mind: settings, a stop, a mistyped reward, a study that is deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.core.joint.bounds import IN, OUT
from standout.core.methods import parse_method
from standout.core.run import start_state
from standout.core.state import BEYOND, forget
from standout.errors import (
    KeyUsedError,
    NoStudyError,
    StandoutError,
    StudyError,
    UnavailableError,
    UncertainError,
)
from standout.report.page import render_report
from standout.results import StopReason
from standout.study import Study
from standout.study.storage.store import Store
from standout.study.storage.tokens import create as create_token
from standout.study.storage.tokens import read_all
from standout.study_interface import ByHand
from tests.study.cli import standout
from tests.study.conftest import Clock
from tests.study.test_random_walks import ARMS, METHODS, Walk

RATES = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.25, "yew": 0.9}


def measured(place: str, pulls: int, method: str = "focus", **options: object) -> Study:
    problem = Problem(noise="bernoulli", k=2)
    study = Study.create(place, list(RATES), problem, method, **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    while study.status().pulls < pulls and (tickets := study.ask(20)):
        study.tell_many([(t, float(rng.random() < RATES[t.arm])) for t in tickets])
    return study


class ChangingWalk(Walk):
    """A walk on which somebody changes settings and takes rewards back, too."""

    def __init__(self, place: str, clock: Clock, seed: int) -> None:
        super().__init__(place, clock, seed)
        self.voided: set[int] = set()
        self.added = 0

    def step(self) -> None:
        if self.rng.random() < 0.2:
            self.rng.choice([self.set, self.set, self.void, self.void, self.stop])()
            self.certified, self.stopped = {}, False
            self.check()
        else:
            super().step()

    def set(self) -> None:
        now = self.study.status()
        self.budget = self.rng.choice([None, now.pulls + now.pending + self.rng.randrange(1, 90)])
        tolerance = self.rng.choice([0.0, 0.05, 0.3, 2.0])
        batch = self.rng.choice([1, 4])
        self.study.set(budget=self.budget, tolerance=tolerance, batch=batch)

    def stop(self) -> None:
        self.study.stop()
        assert self.study.ask() is None
        if self.rng.random() < 0.8:
            self.study.restart()

    def void(self) -> None:
        places = self.study.rewards
        if places == 0:
            return
        place = self.rng.randrange(1, places + 1)
        value = self.rng.choice([None, self.reward()])
        refused = ""
        try:
            self.study.void(place, value=value, reason="a slip")
        except StudyError as error:
            refused = str(error)
        if refused:
            assert any(word in refused for word in ("void already", "budget", "waits"))
        else:
            self.voided.add(place)
            self.added += value is not None

    def check(self) -> None:
        self.told_in_all = len(self.told) + self.unasked
        status = self.study.status()
        gone = len(self.voided) - self.added
        assert status.pulls + status.surplus == self.told_in_all - gone
        assert status.voided == len(self.voided)
        self.unasked -= gone
        super().check()
        self.unasked += gone

    def end(self) -> None:
        assert self.study.verify().problems == ()
        log, found = self.study.history(), self.study.identification()
        counted = np.isin(log["status"], ["counted", "waiting"])
        assert set(log["seq"][log["status"] == "void"]) == self.voided
        assert np.count_nonzero(counted) == self.study.status().pulls
        if not self.study.status().waiting:
            for arm, mean in zip(ARMS, found.means, strict=True):
                mine = log["reward"][(log["arm"] == arm) & counted]
                expected = np.mean(mine) if len(mine) else np.nan
                assert mean == pytest.approx(expected, nan_ok=True)
        self.study.close()


def test_random_changes(place: str, clock: Clock) -> None:
    is_file = not place.startswith("postgresql")
    for seed in range(len(METHODS) * 2 if is_file else 3):
        walk = ChangingWalk(place, clock, seed)
        for _ in range(60):
            walk.step()
        walk.end()


def test_other_processes_see_it(place: str) -> None:
    study = measured(place, 50, budget=200)
    with Study.open(place) as other:
        assert other.ask() is not None
        study.set(budget=70, batch=7, lease=5.0, reason="short of money", worker="Ada")
        assert (other.status().budget, other.method.label(), other.lease) == (
            70,
            "focus:batch=7",
            5,
        )
        assert len(other.ask(100)) == 9
        study.stop("enough")
        assert other.ask() is None
        assert other.status().reason is StopReason.STOPPED
        study.restart()
        assert study.set(budget=None).budget is None
        assert other.ask() is not None
        assert other.verify().problems == ()


def test_once_with_a_key(place: str) -> None:
    study = measured(place, 40)
    for _ in range(2):
        assert study.set(budget=100, key="a").budget == 100
        assert study.void(3, value=1.0, key="b").voided == 1
    assert [one.kind for one in study.changes()] == ["set", "void"]
    with pytest.raises(KeyUsedError):
        study.set(budget=101, key="a")
    with pytest.raises(KeyUsedError):
        study.void(4, key="a")
    assert study.verify().problems == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda study: study._set({"delta": 0.1}, ByHand("", None, None)), "cannot be set"),
        (lambda study: study.set(budget=0), "from 1 to"),
        (lambda study: study.void(), "name the reward"),
        (lambda study: study.delete("another"), "nothing was deleted"),
    ],
)
def test_refusals(folder: object, change: Callable[[Study], object], words: str) -> None:
    study = measured(f"{folder}/study.db", 20)
    before = study.status()
    with pytest.raises(StandoutError, match=words):
        change(study)
    assert study.status() == before


def test_what_is_done_is_not_said_to_be_undone(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that broke right behind the change had it said that nothing was changed."""
    study = measured(place, 20)
    ticket, reader = study.ask(), Store.read

    def broken(*_: object, **__: object) -> Any:
        monkeypatch.setattr(Store, "read", reader)
        raise UnavailableError("the line is cut; nothing was changed")

    def attempt(call: Callable[[], object]) -> UncertainError:
        monkeypatch.setattr(Store, "read", broken)
        with pytest.raises(UncertainError, match="the change was made, but") as found:
            call()
        assert "nothing was changed" not in str(found.value)
        return found.value

    assert attempt(lambda: study.set(budget=500, key="one")).key == "one"
    assert attempt(lambda: study.void(3, reason="a slip", key="two")).key == "two"
    told = attempt(lambda: study.tell_and_ask([(ticket, 1.0)], 1, items=True, key="three"))
    assert told.key == "three"
    assert study.void(3, reason="a slip", key="two").pulls == 20
    assert study.tell(ticket, 1.0, key="three").again
    assert (study.budget, study.verify().problems) == (500, ())
    study.close()


def test_delete(place: str) -> None:
    study = measured(place, 40, name="beans")
    others = Study.create(place, ["a", "b", "c"], Problem(noise="bernoulli"), name="peas")
    create_token(study._store, "owner", "beans")
    with Study.open(place, "beans") as open_elsewhere:
        study.delete("beans", "was a trial", worker="Ada")
        new = Study.create(place, ["a", "b", "c"], Problem(noise="bernoulli"), name="beans")
        # Its number is another: who had the old one open does not write into the new one.
        with pytest.raises(NoStudyError):
            open_elsewhere.tell(arm="ash", reward=1.0)
    assert (new.status().pulls, others.verify().problems, new.verify().problems) == (0, (), ())
    with study._store.read() as session:
        assert [kept.token.revoked is not None for kept in read_all(session)] == [True]


def test_the_command_line(folder: object) -> None:
    path = f"{folder}/study.db"
    measured(path, 30).close()
    told = standout("study", "set", path, "--budget", "1,000", "--tolerance", "0.01", "--json")
    assert '"budget": 1000' in told.out
    standout("study", "set", path, "--budget", "none", "--reason", "a grant", "--worker", "Ada")
    standout("study", "void", path, "3", "--value", "1", "--reason", "a slip")
    assert "stopped" in standout("study", "stop", path).out
    assert "running" in standout("study", "restart", path).out
    words = standout("study", "changes", path).out
    assert "budget from 1,000 to none, by Ada (a grant)" in words
    assert "reward 3 of" in words
    assert "deleted main: 40 rewards" in standout("study", "delete", path, "main", "--yes").out


def test_pauses_are_kept_with_who_and_why(place: str) -> None:
    """Twice the same is once in the history, and what fails on its own is no change by hand."""
    with measured(place, 30, pause_after=1) as study:
        for _ in range(2):
            study.pause("elm", "out of stock", worker="ada")
        study.pause("elm", "sold", worker="ben")
        for _ in range(2):
            study.resume("elm", "there again", worker="ada")
        ticket = study.ask(1)[0]
        study.fail(ticket, "spilt")
        assert study.status().paused == {ticket.arm: "1 failures in a row: spilt"}
        study.resume(ticket.arm, worker="ada")
        assert study.status().paused == {}
        assert [(one.kind, one.words, one.worker, one.reason) for one in study.changes()] == [
            ("pause", "paused elm", "ada", "out of stock"),
            ("pause", "paused elm", "ben", "sold"),
            ("resume", "resumed elm", "ada", "there again"),
            ("resume", f"resumed {ticket.arm}", "ada", ""),
        ]
        assert study.verify().problems == ()
        assert "resumed elm, by ada (there again)" in render_report(study)


def test_a_note_is_kept_and_changes_nothing(place: str) -> None:
    with measured(place, 60) as study:
        before = study.status()
        study.note("the freezer was warm <b>", worker="ada")
        study.note("and once more", worker="ben", key="k")
        study.note("and once more", worker="ben", key="k")
        after = study.status()
        assert (after.pulls, after.outliers, after.budget) == (
            before.pulls, before.outliers, before.budget,
        )  # fmt: skip
        notes = [(one.kind, one.worker, one.reason) for one in study.changes()]
        assert notes == [
            ("note", "ada", "the freezer was warm <b>"),
            ("note", "ben", "and once more"),
        ]
        assert study.verify()
        text = render_report(study)
        assert "the freezer was warm &lt;b&gt;" in text
        with pytest.raises(StudyError, match="must not be empty"):
            study.note("  ")


def test_nothing_that_is_void_is_left_in_what_joint_remembers() -> None:
    """Ends of the threshold that the joint region left were once set to 0: to known ones."""
    problem, method = Problem(noise="gaussian:1", side="both"), parse_method("joint")
    state = start_state(problem, method, 5, np.random.default_rng(0))
    known = start_state(problem, method, 5, np.random.default_rng(0))
    known.alternatives[...] = 7.0
    forget(known.alternatives)
    assert known.alternatives.tolist() == state.alternatives.tolist()
    lower, upper = state.alternatives[IN::2, BEYOND], state.alternatives[OUT::2, BEYOND]
    assert (lower == -np.inf).all()
    assert (upper == np.inf).all()
