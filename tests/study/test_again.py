"""Answers that get lost on their way, on both storages."""

from __future__ import annotations

import gc
import io
import json
import os
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from standout import Problem
from standout.errors import BatchError, StandoutError, StudyError
from standout.study import Study, Ticket
from standout.study.events.requests import Ask, Tell, TellAndAsk
from standout.study.transaction import Transaction
from tests.study.test_conformance import ARMS, MEANS, SIGMA, finish, make


def test_tell_and_ask_is_tell_then_ask(place: str) -> None:
    """The same decisions, in half the transactions."""
    one, two = make(place, name="one"), make(place, name="two")
    rng = np.random.default_rng(8)
    mine, yours = one.ask(2, worker="w"), two.ask(2, worker="w")
    for _ in range(200):
        assert [t.arm for t in mine] == [t.arm for t in yours]
        if not mine:
            break
        rewards = [rng.normal(MEANS[t.arm], SIGMA) for t in mine]
        receipt, mine = one.tell_and_ask(zip(mine, rewards, strict=True), 2, worker="w")
        assert receipt.counted == 2
        two.tell_many(zip(yours, rewards, strict=True), worker="w")
        yours = two.ask(2, worker="w")
    names = {"name": "two", "head": two.status().head, "created": two.created}
    assert one.status().to_dict() | names == two.status().to_dict()
    assert one.status().stopped
    assert one.verify().problems == two.verify().problems == ()


def test_together_is_one_after_the_other(place: str) -> None:
    """Requests that share a transaction decide as they would alone; a bad one hurts nobody."""
    one, two = make(place, name="one"), make(place, name="two")
    rng = np.random.default_rng(8)
    held = {name: one.ask(1, worker=name) for name in "abc"}
    also = {name: two.ask(1, worker=name) for name in "abc"}

    def request(name: str, reward: float) -> Callable[[Transaction], list[Ticket]]:
        ticket = held[name][0]
        wanted = TellAndAsk(Tell([(ticket, reward)]), Ask())
        return lambda turn: list(turn.handle(wanted, name).asked.tickets)

    for _ in range(200):
        names = [name for name in "abc" if held[name]]
        if not names:
            break
        rewards = {name: rng.normal(MEANS[held[name][0].arm], SIGMA) for name in names}
        requests = [request(name, rewards[name]) for name in names]
        requests.insert(1, lambda turn: turn.handle(Tell([(10**6, 0.0)]), "w"))  # type: ignore[arg-type,return-value]
        found = one.memory.in_one_transaction(requests)
        assert isinstance(found.pop(1), BatchError)
        for name, tickets in zip(names, found, strict=True):
            assert not isinstance(tickets, StandoutError)
            pairs = [(also[name][0], rewards[name])]
            _, also[name] = two.tell_and_ask(pairs, 1, worker=name)
            held[name] = tickets
            assert [t.arm for t in held[name]] == [t.arm for t in also[name]]
    assert one.status().stopped
    names = {"name": "two", "head": two.status().head, "created": two.created}
    assert one.status().to_dict() | names == two.status().to_dict()
    assert one.verify().problems == two.verify().problems == ()


def test_a_broken_request_undoes_them_all(place: str) -> None:
    study = make(place)
    tickets = study.ask(2)
    with pytest.raises(ZeroDivisionError):
        study.memory.in_one_transaction(
            [lambda turn: turn.handle(Tell([(tickets[0], 0.0)]), "w"), lambda _: 1 / 0]
        )
    assert study.status().pulls == 0
    study.tell(tickets[0], 1.0)
    assert study.verify().problems == ()


def test_who_holds_a_ticket(place: str) -> None:
    study = make(place)
    (ticket,) = study.ask(1, worker="w")
    assert study.holder(ticket) == "w"
    study.tell(ticket, 0.0, worker="v")
    assert study.holder(ticket.id) == "v"
    assert study.holder(999) is None


def test_failures_newest_first(place: str) -> None:
    study = make(place)
    for number, ticket in enumerate(study.ask(5, worker="w")):
        study.fail(ticket, f"reason {number}", worker="w")
    newest = study.failures(limit=2)
    assert [(f.seq, f.arm, f.reason) for f in newest] == [
        (5, "yew", "reason 4"),
        (4, "oak", "reason 3"),
    ]
    assert [f.seq for f in study.failures(before=4)] == [3, 2, 1]
    assert newest[0].worker == "w"


def test_pulse(place: str) -> None:
    study, other = make(place), Study.open(place)
    before = study.pulse()
    assert (before.pulls, before.undecided, before.stopped) == (0, 5, False)
    other.tell(arm="ash", reward=0.0)
    assert study.pulse().seq == before.seq + 1
    finish(other)
    after = study.pulse()
    assert (after.undecided, after.stopped) == (0, True)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_export_in_parts_is_the_export(
    place: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)
    assert json.loads("".join(study.export_parts("json"))) == []
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS * 7])
    monkeypatch.setattr("standout.study.events.history.PART", 10)
    whole = io.StringIO()
    study.export(whole, form)
    parts = study.export_parts(form)
    first = next(parts)
    # What is told meanwhile is not part of it.
    study.tell(arm="ash", reward=0.0)
    assert first + "".join(parts) == whole.getvalue()
    with pytest.raises(StudyError, match="no format 'parquet'"):
        list(study.export_parts("parquet"))


def test_a_range_of_forecasts(folder: object) -> None:
    rng = np.random.default_rng(2)
    problem = Problem(noise="gaussian:0.5", k=2)
    with Study.create(f"{folder}/x.db", ARMS, problem) as study:
        assert study.forecast_range() is None
        for _ in range(10):
            study.tell_many([(arm, rng.normal(MEANS[arm], 0.5)) for arm in ARMS])
        found = study.forecast_range()
        assert found is not None
        assert 0 < found.lower <= found.pulls_left
        assert found.upper is None or found.pulls_left <= found.upper
        while tickets := study.ask(5):
            study.tell_many([(t, rng.normal(MEANS[t.arm], 0.5)) for t in tickets])
        assert found.lower / 4 < study.status().pulls - 50 < 40 * found.pulls_left
        done = study.forecast_range()
        assert done is not None
        assert (done.pulls_left, done.upper) == (0, 0)
    with Study.create(f"{folder}/y.db", ARMS, problem, budget=60) as study:
        for _ in range(10):
            study.tell_many([(arm, rng.normal(0.0, 0.5)) for arm in ARMS])
        found = study.forecast_range()
        assert found is not None
        assert found.upper == 10


def test_a_forgotten_study_lets_go_of_its_database(folder: object) -> None:
    """At once, not when Python looks for circles: a server opens many."""
    place = f"{folder}/x.db"

    def held() -> list[str]:
        """Of this study: servers of other tests open and close files as they like."""
        found = []
        for number in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                found.append(os.readlink(f"/proc/self/fd/{number}"))
        return [name for name in found if name.startswith(str(folder))]

    with make(place):
        assert held()
    gc.disable()
    try:
        for _ in range(5):
            Study.open(place).ask(1)
            with pytest.raises(StudyError):
                Study.open(place, "none")
        assert held() == []
    finally:
        gc.enable()
