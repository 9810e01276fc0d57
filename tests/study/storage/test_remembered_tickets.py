"""Tickets that a process remembers: what became of them shows, whoever did it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

from standout.errors import StandoutError
from standout.study import Study
from standout.study.storage.old_postgres import Call, Watched
from tests.study.conftest import Clock
from tests.study.postgres import Server
from tests.study.test_conformance import make


def test_own_tickets_are_not_looked_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    place = server.new_database(f"remembered_{os.getpid()}")
    study, other = make(place), Study.open(place)
    sent: list[str] = []

    def spy(self: Watched, calls: Sequence[Call], wanted: int) -> list[list[Any]]:
        sent.extend(text for text, _ in calls)
        return exchange(self, calls, wanted)

    exchange = Watched.exchange
    monkeypatch.setattr(Watched, "exchange", spy)

    def looks() -> int:
        found = sum(text.startswith("SELECT id, arm, slot") for text in sent)
        sent.clear()
        return found

    held = study.ask(1)
    found = []
    for _ in range(5):
        held = study.tell_and_ask([(held[0], 1.0)], 1)[1]
        found.append(looks())
    assert found == [1, 0, 0, 0, 0]  # At first it is not known to be alone.
    other.ask()
    study.tell(held[0], 1.0)
    assert looks() == 1
    assert study.verify().problems == ()


def test_what_others_did_to_a_ticket_is_seen(place: str) -> None:
    study, other = make(place), Study.open(place)
    first, second = study.ask(1), study.ask(1)
    other.fail(first[0], "broken")
    assert study.tell(first[0], 1.0).counted == 1
    assert other.tell(second[0], 2.0).counted == 1
    assert study.tell(second[0], 2.0).repeated == 1
    assert (study.status().pulls, study.status().pending) == (2, 0)
    assert study.verify().problems == ()


def test_a_lease_that_ends_is_seen(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    (old,) = study.ask(1)
    clock.now += 101
    (new,) = study.ask(1)
    # In one transaction: the second ticket of the pull is cancelled by the first one's reward.
    told = study.in_one_transaction(
        [lambda one: one.tell_many([(old, 1.0)]), lambda one: one.tell_many([(new, 2.0)])],
        1,
        [old.id, new.id],
    )
    assert not [each for each in told if isinstance(each, StandoutError)]
    assert (study.status().pulls, study.status().pending) == (2, 0)
    assert study.verify().problems == ()


def test_tickets_of_a_failed_transaction_are_forgotten(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make(place)

    def fail(*_: object) -> None:
        raise RuntimeError("now")

    with monkeypatch.context() as patch:
        patch.setattr(type(study._stored), "flush", fail)
        with pytest.raises(RuntimeError):
            study.ask(3)
    with pytest.raises(StandoutError, match="no ticket 1"):
        study.tell(1, 1.0)
    assert study.verify().problems == ()


def test_several_of_one_arm_are_waited_for(place: str) -> None:
    study = make(place)
    tickets = [ticket for _ in range(12) for ticket in study.ask(1)]
    arm = tickets[-1].arm
    mine = [ticket for ticket in tickets if ticket.arm == arm]
    assert len(mine) > 1
    for ticket in reversed(tickets):
        study.tell(ticket, float(ticket.id))
    assert (study.status().pulls, study.status().pending) == (12, 0)
    assert study.verify().problems == ()


def test_what_waits_and_is_counted_in_one_transaction_is_removed(place: str) -> None:
    study = make(place)
    tickets = study.ask(10)
    again = next(late for late in tickets[5:] if late.arm == tickets[0].arm)
    study.tell(again, 0.0)  # Waits: what waits is looked up from now on.
    first, second = tickets[1:3]
    other = Study.open(place)
    other.status()
    told = other.in_one_transaction(
        [
            lambda one: one.tell_many([(first, 1.0)]),
            lambda one: one.tell_many([(second.arm, 2.0)]),
            *(
                lambda one, each=each: one.tell_many([(each, 3.0)])
                for each in tickets[2:]
                if each.arm == second.arm
            ),
        ],
        1,
        [ticket.id for ticket in tickets],
    )
    assert not [each for each in told if isinstance(each, StandoutError)]
    assert study.verify().problems == ()


def test_a_key_used_before_leaves_nothing_behind(place: str) -> None:
    study = make(place)
    (ticket,) = study.ask(1)
    for _ in range(2):
        study.tell(ticket, 1.0, key="once")
    study.tell(ticket, 1.0)
    assert study.status().pulls == 1
    assert study.verify().problems == ()
