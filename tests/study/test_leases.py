"""Leases, failures and the order of rewards: what may happen to a ticket, on both storages."""

from __future__ import annotations

import pytest

from standout.errors import AllOutError, StudyError
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, MEANS, make


def test_renew_and_release(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    one, two = study.ask(2)
    clock.now += 90
    study.renew([one])
    clock.now += 20
    assert [t.arm for t in study.ask(1)] == [two.arm]
    study.release([one])
    assert [t.arm for t in study.ask(1)] == [one.arm]


def test_all_arms_paused(place: str) -> None:
    study = make(place)
    for arm in ARMS:
        study.pause(arm)
    with pytest.raises(AllOutError, match="is paused") as error:
        study.ask(3)
    assert error.value.wait == 0
    assert not study.status().stopped
    with pytest.raises(StudyError, match="no arm"):
        study.pause("palm")
    study.resume("elm")
    assert [t.arm for t in study.ask(2)] == ["elm", "elm"]


def test_what_waits_and_for_whom(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
    for arm in ARMS[1:]:
        study.pause(arm)
    first, second, third = study.ask(3)
    study.tell(second, 1.0)
    clock.now += 101
    study.tell(third, 2.0)
    (waiting,) = study.status().waiting
    assert (waiting.arm, waiting.rewards, waiting.ticket) == ("ash", 2, first.id)
    assert (waiting.expired, study.status().expired) == (True, 1)
    (again,) = study.ask(1, worker="other")
    (waiting,) = study.status().waiting
    assert (waiting.ticket, waiting.worker, waiting.expired) == (again.id, "other", False)
    study.fail(again)
    study.tell(first, 6.0)
    assert study.status().waiting == ()
    assert study.status().failures == {"ash": 1}
    assert study.verify().problems == ()
