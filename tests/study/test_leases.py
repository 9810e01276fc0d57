"""Leases, failures and the order of rewards: what may happen to a ticket, on both storages."""

from __future__ import annotations

import pytest

from standout.errors import AllOutError, StudyError, TicketError
from standout.study import Study, Ticket
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, MEANS, finish, make


def test_expired_lease_is_handed_out_again(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    (old,) = study.ask(1, worker="lost")
    clock.now += 99
    assert study.ask(1)[0].arm != old.arm
    clock.now += 2
    assert study.status().expired == 1
    (new,) = study.ask(1)
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


def test_renew_and_release(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100)
    one, two = study.ask(2)
    clock.now += 90
    study.renew([one])
    clock.now += 20
    assert [t.arm for t in study.ask(1)] == [two.arm]
    study.release([one])
    assert [t.arm for t in study.ask(1)] == [one.arm]


def test_failed_ticket_is_handed_out_again(place: str) -> None:
    study = make(place)
    tickets = study.ask(5)
    study.fail(tickets[0], "dropped the plate")
    study.fail(tickets[0], "dropped the plate")
    assert study.status().failures == {"ash": 1}
    study.tell_many([(t, MEANS[t.arm]) for t in tickets[1:]])
    (again,) = study.ask(1)
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


def counted_of(study: Study, arm: str) -> list[float]:
    """The number of an arm's counted rewards, and their sum."""
    state = study._state.state
    place = ARMS.index(arm)
    return [int(state.pulls[place]), round(float(study.identification().means[place]), 9)]


def ash(place: str, clock: Clock, count: int = 3) -> tuple[Study, list[Ticket]]:
    """A study in which `count` pulls of ash are out, and no other arm is handed out."""
    study = make(place, clock=clock, lease=100)
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
    for arm in ARMS[1:]:
        study.pause(arm)
    tickets = study.ask(count)
    assert {t.arm for t in tickets} == {"ash"}
    return study, tickets


def test_the_end_of_a_lease_frees_no_place(place: str, clock: Clock) -> None:
    """Who is slow is waited for, or measured again; never left out."""
    study, (first, second, third) = ash(place, clock)
    study.tell(second, 1.0)
    clock.now += 101
    study.tell(third, 2.0)
    assert counted_of(study, "ash") == [1, 0.0]
    (waiting,) = study.status().waiting
    assert (waiting.arm, waiting.rewards, waiting.ticket) == ("ash", 2, first.id)
    assert waiting.expired
    # Whoever asks next measures the pull again; it still stands in its old place.
    (again,) = study.ask(1, worker="other")
    (waiting,) = study.status().waiting
    assert (waiting.ticket, waiting.worker, waiting.expired) == (again.id, "other", False)
    assert counted_of(study, "ash") == [1, 0.0]
    # The late answer of the first ticket comes first, and is the pull's reward.
    study.tell(first, 6.0)
    assert counted_of(study, "ash") == [4, 2.25]
    assert study.status().waiting == ()
    # The other worker's is one more pull.
    assert study.tell(again, 1.0).counted == 1
    assert counted_of(study, "ash") == [5, 2.0]
    assert study.verify().problems == ()


@pytest.mark.parametrize("told", [0, 3])
def test_a_straggler_of_every_arm_makes_asking_wait(place: str, clock: Clock, told: int) -> None:
    """Measuring without end would only add to what waits; who asks after its lease goes on."""
    study = make(place, clock=clock, lease=100)
    for _ in range(told):
        study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
    stragglers = study.ask(5)
    assert {t.arm for t in stragglers} == set(ARMS) or told
    asked = 0
    wait = None
    while wait is None:
        try:
            tickets = study.ask(3, lease=1e6)
        except AllOutError as error:
            wait = error.wait
        else:
            asked += len(tickets)
            assert asked < 500
            study.tell_many([(t, MEANS[t.arm]) for t in tickets])
    assert wait == pytest.approx(100)
    status = study.status()
    assert (status.stopped, status.pending) == (False, 5)
    assert {one.ticket for one in status.waiting} <= {t.id for t in stragglers}
    clock.now += 101
    finish(study, batch=3)
    assert study.status().outliers == ("yew",)
    assert study.status().waiting == ()
    assert study.verify().problems == ()
