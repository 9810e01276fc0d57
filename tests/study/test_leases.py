"""Leases, failures and the order of rewards: what may happen to a ticket, on both storages."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from standout.errors import StudyError, TicketError
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, MEANS, SIGMA, finish, make


def test_expired_lease_is_handed_out_again(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    (old,) = study.ask(worker="lost")
    clock.now += 99
    assert study.ask()[0].arm != old.arm
    clock.now += 2
    assert study.status().expired == 1
    (new,) = study.ask()
    assert (new.arm, new.id != old.id) == (old.arm, True)
    assert study.status().pending == 2
    # The late reward is taken once; the second ticket of the pull is no longer needed.
    assert study.tell(old, 1.0).counted == 1
    assert study.tell(old, 1.0).repeated == 1
    assert study.status().pending == 1
    # Its worker may have measured already: that reward is one more pull.
    assert study.tell(new, 2.0).counted == 1
    assert study.status().pulls == 2
    assert study.verify().problems == ()


def test_late_reward_when_the_second_came_first(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100, budget=5)
    old = study.ask(5)
    clock.now += 101
    new = study.ask(5)
    assert [t.arm for t in new] == [t.arm for t in old]
    assert study.ask() == []
    study.tell_many([(t, MEANS[t.arm]) for t in new])
    # The budget is used up: the late rewards are kept, and counted nowhere.
    assert study.tell_many([(t, 0.0) for t in old]).surplus == 5
    assert study.status().pulls == 5
    assert study.verify().problems == ()


def test_renew_and_release(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    one, two = study.ask(2)
    clock.now += 90
    study.renew([one])
    clock.now += 20
    assert [t.arm for t in study.ask()] == [two.arm]
    study.release([one])
    assert [t.arm for t in study.ask()] == [one.arm]


def test_failed_ticket_is_handed_out_again(place: str) -> None:
    study = make(place)
    tickets = study.ask(5)
    study.fail(tickets[0], "dropped the plate")
    study.fail(tickets[0], "dropped the plate")
    assert study.status().failures == {"ash": 1}
    study.tell_many([(t, MEANS[t.arm]) for t in tickets[1:]])
    (again,) = study.ask()
    assert again.arm == "ash"
    study.tell(again, 0.0)
    assert study.status().rounds == 1
    with pytest.raises(TicketError, match="told already"):
        study.fail(again)
    with pytest.raises(TicketError, match="no ticket"):
        study.fail(99)
    # Who gave a ticket back and has a reward after all: one more pull.
    assert study.tell(tickets[0], 0.1).counted == 1
    assert study.verify().problems == ()


def test_repeated_failures_pause_an_arm(place: str) -> None:
    study = make(place, pause_after=3)
    rng = np.random.default_rng(0)
    for _ in range(40):
        tickets = study.ask(3)
        for ticket in tickets:
            if ticket.arm == "oak":
                study.fail(ticket, "no such tree")
            else:
                study.tell(ticket, rng.normal(MEANS[ticket.arm], SIGMA))
    status = study.status()
    assert status.failures["oak"] >= 3
    assert status.paused == {"oak": "3 failures in a row: no such tree"}
    assert "oak" in status.undecided
    assert study.verify().problems == ()
    study.resume("oak")
    assert study.status().paused == {}
    finish(study)
    assert study.status().outliers == ("yew",)


def test_all_arms_paused(place: str) -> None:
    study = make(place)
    for arm in ARMS:
        study.pause(arm)
    assert study.ask(3) == []
    assert not study.status().stopped
    with pytest.raises(StudyError, match="no arm"):
        study.pause("palm")
    study.resume("elm")
    assert [t.arm for t in study.ask(2)] == ["elm", "elm"]


def test_rewards_of_an_arm_count_in_the_order_of_asking(place: str, clock: Clock) -> None:
    """A reward that overtakes an earlier pull of its arm waits for it, whatever its value."""
    study = make(place, ordered=True, clock=clock, lease=100)
    for ticket in study.ask(5):
        study.tell(ticket, MEANS[ticket.arm])
    tickets = study.ask(40)
    arm = Counter(t.arm for t in tickets).most_common(1)[0][0]
    first, second, third = [t for t in tickets if t.arm == arm][:3]
    before = study.identification().pulls_by_arm[ARMS.index(arm)]

    def counted() -> int:
        return int(study._ledger.desk.state.pulls[ARMS.index(arm)] - before)

    study.tell(second, 1.0)
    assert (counted(), study.status().pulls) == (0, 6)
    assert study.verify().problems == ()
    assert study.tell(second, 1.0).repeated == 1
    with pytest.raises(TicketError, match="told already"):
        study.fail(second)
    study.tell(first, 2.0)
    assert counted() == 2
    study.tell([t for t in tickets if t.arm == arm][3], 3.0)
    study.fail(third, "gave up")
    assert counted() == 3
    # A pull blocks no longer than its lease.
    rest = [t for t in tickets if t.arm == arm][4:]
    study.tell(rest[1], 3.0)
    assert counted() == 3
    clock.now += 101
    study.tell(rest[2], 3.0)
    assert counted() == 5
    assert study.verify().problems == ()
