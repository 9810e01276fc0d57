"""Events that were edited, left out, put in, moved or made up: what fold and verify find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from standout import Problem
from standout.errors import DamagedError
from standout.study.events import event as event_module
from standout.study.events.event import NO_DIGEST, Event, Kind, make_event
from standout.study.events.fold import verify
from standout.study.events.requests import Add
from tests.study.events.playing import ARMS, Play

Content = dict[str, Any]


@pytest.fixture(scope="module")
def played() -> Play:
    """A study with some of each kind of event, at whose end there are verdicts."""
    problem = Problem(noise="gaussian:0.05", k=2)
    play = Play((*ARMS, "oak"), problem, until="errors=1e-30", room=5)
    means = dict(zip((*ARMS, "oak", "yew"), (0.0, 0.1, 0.2, 0.3, 3.0), strict=True))
    play.do(Add(["yew"], "it came late"))
    play.tell_many(list(means.items()))
    play.void(2, value=0.15, reason="read wrongly")
    play.fail(play.ask(4)[0], "dropped")
    play.lease([2, 3, 4], 1)
    play.now += 2
    play.tell_many([(t, means[t.arm]) for t in play.ask(3)])
    play.pause("elm", "no")
    play.resume("elm", "yes")
    play.set({"tolerance": 0.05}, "near enough")
    play.note("a warm day")
    for number in range(400):
        tickets = play.ask(3)
        play.tell_many([(t, means[t.arm]) for t in reversed(tickets)], key=f"{tickets[0].id}")
        if play.state.look is not None and number < 1:
            play.look()
        if play.state.is_stopped:
            break
    assert str(play.state.reason) == "decided"
    assert {event.kind for event in play.events} == set(Kind)
    return play


def sealed(events: list[Event]) -> list[Event]:
    """These events with numbers and digests that fit, as one makes them who knows how."""
    found: list[Event] = []
    before = NO_DIGEST
    for number, each in enumerate(events):
        made = make_event(before, number, each.time, each.kind, each.worker, each.key, each.body)
        found.append(made)
        before = made.digest
    return found


def some(played: Play) -> list[int]:
    """The numbers of the first event of each kind and of some others, and of the last."""
    kinds = {event.kind: event.number for event in reversed(played.events)}
    last = len(played.events) - 1
    return sorted({*kinds.values(), last // 3, last // 2, last})


def problem_of(events: list[Event]) -> str:
    found = verify(events)
    assert not found
    return found.problems[0]


def test_all_is_well(played: Play) -> None:
    assert sealed(played.events) == played.events
    found = verify(played.events, played.state.head.hex(), played.state)
    assert (found.problems, found.steps) == ((), len(played.events))
    assert found.rewards == played.state.ledger.size
    assert found.head == played.state.head.hex()


@pytest.mark.parametrize("name", ["time", "worker", "key", "body", "kind"])
def test_an_edited_event(played: Play, name: str) -> None:
    for number in some(played):
        event = played.events[number]
        if name == "kind":
            other: Any = Kind.NOTED if event.kind != Kind.NOTED else Kind.TOLD
        else:
            old = getattr(event, name)
            other = old + 1.0 if name == "time" else f"{old or ''} "
        events = list(played.events)
        events[number] = replace(event, **{name: other})
        assert f"event {number} (" in problem_of(events)
        with pytest.raises(DamagedError):
            played.folded(events)


def test_events_left_out_swapped_or_twice(played: Play) -> None:
    events = played.events
    for number in some(played)[1:-1]:
        for other in (
            events[:number] + events[number + 1 :],
            [*events[:number], events[number + 1], events[number], *events[number + 2 :]],
            events[: number + 1] + events[number:],
        ):
            assert "comes in its place" in problem_of(other)
    assert "a study begins with" in problem_of(sealed(events[1:]))
    assert verify([]).problems == ("the study has no events",)


def test_a_log_cut_short_shows_by_a_head_that_was_noted(played: Play) -> None:
    short = played.events[:-1]
    assert verify(short).problems == ()
    assert "no event has the digest" in verify(short, played.state.head.hex()).problems[0]
    assert not verify(short, None, played.state)


def forged(played: Play, kind: Kind, change: Callable[[Content], object]) -> list[Event] | None:
    """All digests fit again after this change of the last event of a kind that it changes."""
    for number in range(len(played.events) - 1, -1, -1):
        event = played.events[number]
        content = json.loads(event.body)
        if event.kind == kind and change(content) is not None:
            events = list(played.events)
            events[number] = replace(event, body=json.dumps(content, separators=(",", ":")))
            return sealed(events)
    return None


def came(content: Content, **other: object) -> object:
    """Change what came of an event, if it says so much."""
    if not set(other) <= set(content.get("came", {})):
        return None
    content["came"].update(other)
    return content


FORGED: list[tuple[Kind, Callable[[Content], object], str]] = [
    (Kind.TOLD, lambda c: came(c, decided=[[4], [0]]), "does not follow"),
    (Kind.TOLD, lambda c: came(c, end="estimate"), "does not follow"),
    (Kind.TOLD, lambda c: came(c, counted="1-2"), "does not follow"),
    (Kind.TOLD, lambda c: c.setdefault("came", {}).update(surplus=1) or c, "does not follow"),
    (Kind.TOLD, lambda c: c["rewards"].append([10**6, 0.0]) or c, "no ticket 1000000"),
    (Kind.TOLD, lambda c: c["rewards"].append([-6, 0.0]) or c, "no ticket -6"),
    (Kind.TOLD, lambda c: c["rewards"].append([-1, None]) or c, "cannot have happened"),
    (Kind.TOLD, lambda c: c["rewards"].append(["ash"]) or c, "cannot have happened"),
    (Kind.TOLD, lambda c: c["rewards"].append([-1, 1e300]) or c, "cannot have happened"),
    (Kind.ASKED, lambda c: came(c, arms=[0]), "does not follow"),
    (Kind.ASKED, lambda c: c.update(n=0) or c, "cannot have happened"),
    (Kind.ASKED, lambda c: c.pop("n") and c, "cannot have happened"),
    (Kind.ASKED, lambda c: c.update(lease=-1.0) or c, "cannot have happened"),
    (Kind.FAILED, lambda c: c.update(ticket=0) or c, "no ticket 0"),
    (Kind.FAILED, lambda c: c.update(ticket="1") or c, "cannot have happened"),
    (Kind.LEASED, lambda c: c.update(tickets=[1]) or c, "cannot have happened"),
    (Kind.PAUSED, lambda c: c.update(arm=-1) or c, "cannot have happened"),
    (Kind.RESUMED, lambda c: c.update(arm=5) or c, "cannot have happened"),
    (Kind.SET, lambda c: c.update(set={"delta": 0.9}) or c, "cannot be set"),
    (Kind.SET, lambda c: c.update(set={"budget": 1}) or c, "the least is"),
    (Kind.VOIDED, lambda c: c.update(place=99) or c, "no reward at place 99"),
    (Kind.VOIDED, lambda c: c.update(value=1e300) or c, "cannot have happened"),
    (Kind.LOOKED, lambda c: c.update(number=3) or c, "no look at the chances is due"),
    (Kind.LOOKED, lambda c: c.update(excess=7.25) or c, "it says that the chances are 7.25 times"),
    (Kind.LOOKED, lambda c: c.update(excess=None) or c, "it says that the chances are None times"),
    (Kind.LOOKED, lambda c: c.update(excess=0.5) or c, "does not follow"),
    (Kind.CREATED, lambda c: c.update(engine=99) or c, "version 99 of the statistics"),
    (Kind.CREATED, lambda c: c.update(arms=["a"]) or c, "cannot be read"),
    (Kind.CREATED, lambda c: c.pop("seed") is not None and c, "cannot be read"),
]


@pytest.mark.parametrize(("kind", "change", "words"), FORGED)
def test_who_forges_and_seals_again(
    played: Play, kind: Kind, change: Callable[[Content], object], words: str
) -> None:
    events = forged(played, kind, change)
    assert events is not None, "no event could be forged so"
    found = verify(events)
    assert any(words in problem for problem in found.problems), found.problems
    assert "no event has the digest" in verify(events, played.state.head.hex()).problems[-1]


@pytest.mark.parametrize("body", ["", "[]", "3", "{", '{"rewards":NaN}', "null", '{"rewards":{}}'])
@pytest.mark.parametrize("kind", [Kind.TOLD, Kind.LOOKED, Kind.CREATED])
def test_bodies_that_are_none(played: Play, body: str, kind: Kind) -> None:
    events = list(played.events)
    number = next(each.number for each in events if each.kind == kind)
    events[number] = replace(events[number], body=body)
    says_no_version = kind == Kind.CREATED and body.startswith('{"')
    words = "version None of the statistics" if says_no_version else f"event {number} ("
    assert words in problem_of(sealed(events))


def test_events_of_another_version_of_the_statistics(
    played: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one among others that says nothing of it: its digest covers the version."""
    monkeypatch.setattr(event_module, "ENGINE", 99)
    last = played.events[-1]
    other = make_event(
        played.events[-2].digest, last.number, last.time, last.kind, last.worker, None, last.body
    )
    monkeypatch.undo()
    assert "its digest does not fit" in problem_of([*played.events[:-1], other])


def test_a_state_that_is_another_shows(played: Play) -> None:
    """What is in a snapshot, say, that somebody has edited."""
    for change, words in (
        (lambda state: state.certified.__setitem__(0, 2), "certified"),
        (lambda state: state.state.sums.__setitem__(0, 3.0), "core.sums"),
        (lambda state: state.ledger.value.__setitem__(0, 3.0), "reward.value"),
        (lambda state: state.tickets.status.__setitem__(0, 0), "ticket.status"),
        (lambda state: state.paused.update({0: "why"}), "paused"),
        (lambda state: state.voided.add(1), "voided"),
        (lambda state: setattr(state.totals, "pulls", 7), "totals"),
        (lambda state: setattr(state, "stopped_at", None), "stopped_at"),
    ):
        state = played.folded()
        change(state)
        problems = verify(played.events, None, state).problems
        assert len(problems) == 1
        assert problems[0].startswith(words)
