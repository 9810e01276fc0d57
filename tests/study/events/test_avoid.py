"""Arms that the one who asks is not to be given: their pulls stay for others."""

from __future__ import annotations

import random

import pytest

from standout import Problem
from standout.study.events.definition import checked
from standout.study.events.event import Event
from standout.study.events.fold import begin, fold
from standout.study.events.handle import create, handle
from standout.study.events.requests import Ask, Lease, Tell
from standout.study.events.state import StudyState

ARMS = tuple("abcdefgh")


def started(**more: object) -> tuple[StudyState, list[Event]]:
    problem = Problem(noise="bernoulli", k=2)
    first = create(checked(ARMS, problem, "focus", **more), 0.0, worker="me")  # type: ignore[arg-type]
    return begin(first), [first]


@pytest.mark.parametrize("seed", range(8))
def test_raters_never_get_what_they_avoid_and_the_log_gives_the_same_state(seed: int) -> None:
    rng = random.Random(seed)
    budget = rng.choice([None, 60, 400])
    state, events = started(budget=budget, seed=seed)
    answered: dict[str, set[str]] = {f"rater {k}": set() for k in range(rng.choice([2, 5, 30]))}
    held: list[tuple[str, int, str]] = []
    now = 1.0
    for _ in range(600):
        now += rng.expovariate(0.2)
        who = rng.choice(list(answered))
        if held and rng.random() < 0.5:
            who, ticket, arm = held.pop(rng.randrange(len(held)))
            tell = Tell([(ticket, float(rng.random() < 0.1 + 0.8 * (arm == "h")))], late="log")
            made, _ = handle(state, tell, now, worker=who)
            answered[who].add(arm)
        else:
            ask = Ask(rng.choice([1, 1, 3]), 30.0, avoid=answered[who])
            made, found = handle(state, ask, now, worker=who)
            for one in found.asked.tickets:
                assert one.arm not in answered[who]
                held.append((who, one.id, one.arm))
            if rng.random() < 0.3 and found.asked.tickets:
                events += made
                made, _ = handle(state, Lease([found.asked.tickets[0]], 0), now, worker=who)
        events += made
        if state.is_stopped:
            break
    again = begin(events[0])
    for event in events[1:]:
        fold(again, event)
    assert (again.number, again.head) == (state.number, state.head)
    assert again.pending.tolist() == state.pending.tolist()
    assert again.tickets.size == state.tickets.size


def test_only_what_came_up_is_written_down() -> None:
    state, _ = started()
    made, found = handle(state, Ask(2, avoid=["a", "b", "no arm"]), 1.0, worker="r")
    assert [one.arm for one in found.asked.tickets] == ["c", "d"]
    assert '"avoid":[0,1]' in made[0].body


def test_who_avoids_all_plans_no_more_and_more_for_nothing() -> None:
    """Asked again and again it changes nothing in the end: no events without an end."""
    state, _ = started()
    counts = []
    for number in range(40):
        made, found = handle(state, Ask(1, avoid=ARMS), 1.0 + number, worker="r")
        assert found.asked.tickets == ()
        assert found.asked.is_all_out
        counts.append(len(made))
    assert sum(counts) <= 1
    _, found = handle(state, Ask(8), 99.0, worker="other")
    assert sorted(one.arm for one in found.asked.tickets) == sorted(ARMS)
