"""Leases, failures and the order of rewards: what may happen to a ticket, on both storages."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from standout.errors import AllOutError, StudyError, TicketError
from standout.study import Study, Ticket
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, MEANS, SIGMA, finish, make


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


def test_late_reward_when_the_second_came_first(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, lease=100, budget=5)
    old = study.ask(5)
    clock.now += 101
    new = study.ask(5)
    assert [t.arm for t in new] == [t.arm for t in old]
    with pytest.raises(AllOutError):
        study.ask(1)
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
    with pytest.raises(AllOutError, match="is paused") as error:
        study.ask(3)
    assert error.value.wait == 0
    assert not study.status().stopped
    with pytest.raises(StudyError, match="no arm"):
        study.pause("palm")
    study.resume("elm")
    assert [t.arm for t in study.ask(2)] == ["elm", "elm"]


def test_rewards_of_an_arm_count_in_the_order_of_asking(place: str, clock: Clock) -> None:
    """A reward that overtakes an earlier pull of its arm waits for it, whatever its value."""
    study = make(place, clock=clock, lease=100)
    for ticket in study.ask(5):
        study.tell(ticket, MEANS[ticket.arm])
    tickets = study.ask(40)
    arm = Counter(t.arm for t in tickets).most_common(1)[0][0]
    first, second, third = [t for t in tickets if t.arm == arm][:3]
    before = study.identification().pulls_by_arm[ARMS.index(arm)]

    def counted() -> int:
        return int(study._state.state.pulls[ARMS.index(arm)] - before)

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
    assert study.verify().problems == ()


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


def test_what_is_told_without_asking_stands_behind_what_is_out(place: str, clock: Clock) -> None:
    """Else whether it comes before a pull would depend on how slow that pull is."""
    study, (first, second) = ash(place, clock, 2)
    assert study.tell(arm="ash", reward=5.0).counted == 1
    assert study.tell(arm="elm", reward=MEANS["elm"]).counted == 1
    assert counted_of(study, "ash") == [1, 0.0]
    assert counted_of(study, "elm")[0] == 2
    study.tell(second, 1.0)
    with Study.open(place, clock=clock) as other:
        assert [one.rewards for one in other.status().waiting] == [2]
        (third,) = other.ask(1)
        # A pull that was handed out later does not hold it up.
        other.tell(first, 2.0)
        assert counted_of(other, "ash") == [4, 2.0]
        assert other.tell(third, 2.0).counted == 1
        assert other.verify().problems == ()
    assert study.history()["ticket"].tolist()[5:] == [0, 0, second.id, first.id, third.id]
    # Many at once, behind a pull of every arm.
    for arm in ARMS[1:]:
        study.resume(arm)
    out = study.ask(20)
    before = study._state.state.pulls.sum()
    study.tell_many([(arm, MEANS[arm]) for arm in ARMS for _ in range(30)])
    waiting = sum(one.rewards for one in study.status().waiting)
    assert waiting == 30 * len({t.arm for t in out})
    study.tell_many([(t, MEANS[t.arm]) for t in reversed(out)])
    assert study.status().waiting == ()
    assert study._state.state.pulls.sum() == before + 170
    assert study.verify().problems == ()


def test_a_late_answer_to_a_pull_that_is_told_waits_its_turn(place: str, clock: Clock) -> None:
    study, (first, second) = ash(place, clock, 2)
    clock.now += 101
    again, later = study.ask(2)
    study.tell(again, 1.0)
    assert counted_of(study, "ash") == [2, 0.5]
    study.tell(first, 3.0)
    assert counted_of(study, "ash") == [2, 0.5]
    assert [one.rewards for one in study.status().waiting] == [1]
    assert study.tell(first, 3.0).repeated == 1
    study.fail(later, "gone")
    assert counted_of(study, "ash") == [3, round(4 / 3, 9)]
    study.tell(second, 0.0)
    assert counted_of(study, "ash") == [4, 1.0]
    assert study.verify().problems == ()


def test_asking_turns_to_other_arms_while_one_waits(place: str, clock: Clock) -> None:
    """A straggler does not make its arm be asked for over and over."""
    study = make(place, clock=clock, lease=1e6)
    rng = np.random.default_rng(1)
    for _ in range(3):
        study.tell_many([(arm, rng.normal(MEANS[arm], SIGMA)) for arm in ARMS])
    (straggler,) = study.ask(1)
    seen: Counter[str] = Counter()
    for _ in range(40):
        tickets = study.ask(2)
        seen.update(t.arm for t in tickets)
        study.tell_many([(t, rng.normal(MEANS[t.arm], SIGMA)) for t in tickets])
    assert seen[straggler.arm] < 0.6 * seen.total()
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


def test_an_unordered_study_counts_as_told(place: str, clock: Clock) -> None:
    study = make(place, clock=clock, ordered=False)
    assert not study.ordered
    tickets = study.ask(10)
    study.tell_many([(t, 1.0) for t in tickets[5:]])
    assert study._state.state.pulls.sum() == 5
    assert study.status().waiting == ()
    assert study.verify().problems == ()
