"""Changing one's mind: settings, a stop, a mistyped reward, a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from standout import Problem, Run
from standout.core import method as method_of_runs
from standout.core.identification import side_interval
from standout.core.threshold import sample
from standout.errors import StandoutError, StudyError
from standout.results import StopReason
from standout.study.events.changing import recount
from standout.study.events.tables import RewardStatus
from standout.study.events.telling import At, Outcome, settle
from tests.study.events.playing import Play

RATES = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.25, "yew": 0.9}


def measured(pulls: int, method: str = "focus", **how: Any) -> Play:
    play = Play(tuple(RATES), Problem(noise="bernoulli", k=2), method, **how)
    rng = np.random.default_rng(3)
    while play.state.totals.pulls < pulls and (tickets := play.ask(20)):
        play.tell_many([(t, float(rng.random() < RATES[t.arm])) for t in tickets])
    return play


@pytest.mark.parametrize("method", ["focus", "joint", "roai-elim"])
@pytest.mark.parametrize("value", [None, 1.0])
def test_a_void_reward_is_as_if_never_told(method: str, value: float | None) -> None:
    """The arm's interval is that of a run with its other rewards, in the same order."""
    play = measured(300, method)
    fir = play.state.arms.index("fir")
    places = play.state.ledger.sequence(fir)
    mine = play.state.ledger.value[places - 1].tolist()
    mine[3:4] = [] if value is None else [value]
    play.void(int(places[3]), value=value)
    run = Run(play.state.problem, play.state.arms, method, np.random.default_rng(0))
    for reward in mine:
        run.tell("fir", reward)
    run.update()
    found, fresh = play.state.identification(), run.identification()
    assert found.pulls_by_arm[fir] == len(mine)
    assert found.means[fir] == pytest.approx(np.mean(mine))
    assert found.lower[fir] == pytest.approx(fresh.lower[fir])
    assert found.upper[fir] == pytest.approx(fresh.upper[fir])
    assert play.state.ledger.status[places[3] - 1] == RewardStatus.VOID
    play.check()
    play.reopen()


def test_verdicts_of_a_larger_tolerance_are_withdrawn() -> None:
    play = measured(400)
    before = play.state.certified.copy()
    assert (before == 0).any()
    play.set({"tolerance": 1.0})
    assert play.state.reason is StopReason.DECIDED
    play.set({"tolerance": 0.0})
    assert play.state.certified.tolist() == before.tolist()
    assert play.state.reason is StopReason.RUNNING
    assert play.ask()
    assert [one.words for one in play.state.changes] == [
        "tolerance from 0 to 1",
        "tolerance from 1 to 0",
    ]
    play.check()


def test_a_spent_budget_is_raised() -> None:
    play = measured(40, budget=40)
    assert play.state.reason is StopReason.BUDGET
    with pytest.raises(StudyError, match="the least is 40"):
        play.set({"budget": 39})
    play.set({"budget": 50})
    assert play.state.reason is StopReason.RUNNING
    assert len(play.ask(100)) == 10
    play.check()


def test_a_stop_is_taken_back() -> None:
    play = measured(20)
    (out,) = play.ask()
    play.set({"stopped": True}, "enough")
    assert (str(play.state.reason), play.ask()) == ("stopped", [])
    assert play.tell(out, 1.0).counted == 1
    play.set({"stopped": False})
    assert play.ask()
    play.check()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda play: play.set({"delta": 0.1}), "cannot be set"),
        (lambda play: play.set({"budget": 0}), "from 1 to"),
        (lambda play: play.set({"tolerance": float("nan")}), "at least 0"),
        (lambda play: play.set({"tolerance": -1}), "at least 0"),
        (lambda play: play.set({"batch": 0}), "from 1 to"),
        (lambda play: play.set({"until": "often"}), "until is"),
        (lambda play: play.set({"lease": 0}), "positive number of seconds"),
        (lambda play: play.set({"stopped": 1}), "True or False"),
        (lambda play: play.void(99), "no reward at place 99"),
        (lambda play: play.void(0), "from 1 to"),
        (lambda play: play.void(), "name the reward"),
        (lambda play: play.void(1, value=0.5), "0 nor 1"),
        (lambda play: play.void(ticket=999), "ticket 999 has no reward"),
        (lambda play: play.pause("palm"), "no arm"),
        (lambda play: play.resume("palm"), "no arm"),
        (lambda play: play.note("  "), "must not be empty"),
        (lambda play: play.ask(0), "number of tickets"),
        (lambda play: play.ask(lease=0), "positive number of seconds"),
        (lambda play: play.ask(lease=float("inf")), "positive number of seconds"),
        (lambda play: play.ask(known=3), "known must be"),
        (lambda play: play.lease([1], -1), "positive number of seconds"),
        (lambda play: play.lease([0]), "no ticket 0"),
        (lambda play: play.lease(["1"]), "is not a ticket"),
        (lambda play: play.fail(True), "is not a ticket"),
        (lambda play: play.tell("ash", float("nan")), "nan"),
        (lambda play: play.tell("ash", 1e9), "outside"),
        (lambda play: play.tell("palm", 1.0), "no arm 'palm'"),
        (lambda play: play.tell(2**70, 1.0), "no ticket"),
    ],
)
def test_refusals_change_nothing(change: Callable[[Play], object], words: str) -> None:
    play = measured(20)
    head = play.state.head
    with pytest.raises(StandoutError, match=words):
        change(play)
    assert play.state.head == head
    play.check()


def test_what_waits_cannot_be_void() -> None:
    play = Play("abc")
    first, second = [t for t in play.ask(30) if t.arm == "a"][:2]
    play.tell(second, 1.0)
    with pytest.raises(StudyError, match="waits"):
        play.void(ticket=second)
    play.tell(first, 1.0)
    play.void(ticket=second, value=0.0)
    with pytest.raises(StudyError, match="void already"):
        play.void(ticket=second)
    assert play.tell(second, 1.0).repeated == 1
    play.check()
    play.reopen()


def test_pauses_are_kept_with_who_and_why() -> None:
    """Twice the same is once in the history, and what fails on its own is no change by hand."""
    play = measured(30, pause_after=1)
    for _ in range(2):
        play.pause("elm", "out of stock")
    play.pause("elm", "sold")
    for _ in range(2):
        play.resume("elm", "there again")
    (ticket,) = play.ask()
    play.fail(ticket, "spilt")
    assert play.state.paused == {play.state.index[ticket.arm]: "1 failures in a row: spilt"}
    play.resume(ticket.arm)
    assert play.state.paused == {}
    assert [(one.kind, one.words, one.worker, one.reason) for one in play.state.changes] == [
        ("pause", "paused elm", "ada", "out of stock"),
        ("pause", "paused elm", "ada", "sold"),
        ("resume", "resumed elm", "ada", "there again"),
        ("resume", f"resumed {ticket.arm}", "ada", ""),
    ]
    play.check()


def test_no_study_goes_on_for_a_note() -> None:
    play = measured(20)
    play.set({"stopped": True}, key="first")
    for again in (lambda: play.note("so much"), lambda: play.set({"stopped": True}, key="2")):
        again()
        assert (str(play.state.reason), play.ask()) == ("stopped", [])
    play.set({"budget": 20})
    play.set({"stopped": False})
    play.note("it is spent")
    assert str(play.state.reason) == "budget"
    assert [one.kind for one in play.state.changes] == ["set", "note", "set", "set", "set", "note"]
    play.check()


def test_nothing_that_is_void_is_left_in_the_threshold_of_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sample's threshold is cut with those before it, which had rested on void rewards."""
    monkeypatch.setattr(sample, "FIRST", 6)
    monkeypatch.setattr(method_of_runs, "SAMPLE_FROM", 10)
    arms = [str(arm) for arm in range(12)]
    rng = np.random.default_rng(4)
    rewards = {arm: rng.normal(int(arm) / 12, 0.1, 400).tolist() for arm in arms}
    wrong = {**rewards, **{arm: [0.05 + each for each in rewards[arm]] for arm in arms[:5]}}
    ends = []
    for told, meant in ((wrong, rewards), (rewards, None)):
        play = Play(arms, Problem(noise="gaussian:0.1"), "focus", seed=1)
        assert play.state.spec.samples
        play.tell_many([(arm, value) for arm, values in told.items() for value in values])
        if meant is not None:
            first = side_interval(play.state.state, 0)
            for arm in range(5):
                rows = play.state.ledger.sequence(arm) - 1
                play.state.ledger.value[rows] = meant[str(arm)]
                recount(play.state, arm)
            settle(play.state, At(2, 1.0, "ada"), Outcome(is_due=True))
        ends.append(side_interval(play.state.state, 0))
    assert np.isfinite([first.lower, first.upper]).all()
    assert first != ends[1]
    assert ends[0] == ends[1]
