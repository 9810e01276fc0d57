"""A promise of the chances ends a study: looks are due, made outside, and made again by verify."""

from __future__ import annotations

import numpy as np
import pytest

from standout import Problem
from standout.results import StopReason
from standout.study.events.requests import Answer, Look, Tell
from standout.study.events.state import LOOK_PATIENCE
from tests.study.events.playing import Play

MEANS = {**{f"arm {i}": 0.02 * i for i in range(12)}, "yew": 0.6}


def make(until: str | None = "errors=0.5") -> Play:
    return Play(tuple(MEANS), Problem(noise="gaussian:0.06", k=3), "focus", until=until)


def step(play: Play, rng: np.random.Generator, batch: int) -> Answer:
    pairs = [(one, rng.normal(MEANS[one.arm], 0.06)) for one in play.ask(batch)]
    return play.do(Tell(pairs))


@pytest.mark.parametrize("batch", [1, 7])
def test_it_ends_and_is_worked_out_anew(batch: int) -> None:
    play, rng, looks = make(), np.random.default_rng(1), 0
    while not play.state.is_stopped:
        if step(play, rng, batch).look_due:
            looks += 1
            play.look()
    assert play.state.reason is StopReason.ESTIMATE
    assert looks
    assert (play.state.certified == 0).any()
    assert play.state.identification().until == "errors=0.5"
    assert play.ask() == []
    play.check()
    play.reopen()


def test_others_go_on_while_a_look_is_made() -> None:
    """It says what it saw; one that nobody makes is due again after a while."""
    play, rng = make("errors=1e-6"), np.random.default_rng(1)
    while not step(play, rng, 3).look_due:
        pass
    look = play.state.look
    assert look is not None
    seen = look.evidence.pulls.sum()
    due = [step(play, rng, 5).look_due for _ in range(20)]
    assert not any(due)
    assert play.state.look is look
    assert look.evidence.pulls.sum() == seen
    play.reopen()
    again = play.state.look
    assert again is not None
    assert again.excess() == look.excess()
    play.now += LOOK_PATIENCE
    assert any(step(play, rng, 5).look_due for _ in range(20))
    assert play.state.look is not again
    number = play.state.number
    play.do(Look(look.number, 0.0))  # It is of no use any more.
    assert (play.state.number, play.state.is_stopped) == (number, False)
    play.check()


@pytest.mark.parametrize("by", ["set", "void", "stop"])
def test_what_a_look_saw_is_no_longer_so(by: str) -> None:
    play, rng = make("errors=1e-6"), np.random.default_rng(1)
    while not step(play, rng, 3).look_due:
        pass
    look = play.state.look
    assert look is not None
    if by == "set":
        play.set({"tolerance": 0.1})
    elif by == "void":
        play.void(1)
    else:
        play.set({"stopped": True})
    play.do(Look(look.number, 0.0))
    assert play.state.reason is not StopReason.ESTIMATE
    play.check()


def test_a_promise_that_is_made_later_is_looked_at_at_once() -> None:
    play, rng = make(None), np.random.default_rng(1)
    for _ in range(60):
        assert not step(play, rng, 5).look_due
    play.set({"until": "errors=5"})
    play.look()
    assert play.state.reason is StopReason.ESTIMATE
    play.set({"until": None})
    assert play.state.reason is StopReason.RUNNING
    play.check()


@pytest.mark.parametrize("excess", [float("inf"), float("nan")])
def test_chances_that_promise_nothing_end_nothing(excess: float) -> None:
    play, rng = make(), np.random.default_rng(1)
    while not step(play, rng, 3).look_due:
        pass
    assert play.state.look is not None
    play.do(Look(play.state.look.number, excess))
    assert not play.state.is_stopped
    assert play.folded().number == play.state.number
