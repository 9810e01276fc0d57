"""Asking and telling cost the same however much has been told, expired or given back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.study import Study, Ticket
from standout.study.rating.rater import read_record
from standout.study.rounds import MANY, SHORT, LiveRound, new_round
from standout.study.storage.statements import Statement
from standout.study_interface import new_key
from tests.study.conftest import Clock
from tests.study.postgres import Server

ARMS = [f"arm {number}" for number in range(20)]
PAST = 6_000
"""Tickets and rewards that are over; looking at each would show in any of the counts below."""
LOGS = ("tickets", "rewards", "failures", "steps")


def make(place: str, clock: Clock) -> Study:
    """A study past its first round that will not end soon."""
    study = Study.create(place, ARMS, Problem(noise="gaussian:5", k=3), clock=clock, lease=10)
    for _ in range(2):
        study.tell_many([(ticket, float(ticket.id % 7)) for ticket in study.ask(40)])
    return study


def age(study: Study, clock: Clock) -> None:
    """Rewards, expired tickets and failures, a few thousand of each."""
    rewards = [(arm, float(number % 7)) for number, arm in enumerate(ARMS * (PAST // len(ARMS)))]
    study.tell_many(rewards, worker="someone else")
    for _ in range(4):
        study.ask(PAST // 4, worker="late")
        clock.now += 20
    last = study.ask(PAST // 4, worker="last")
    study.tell_many([(ticket, 1.0) for ticket in last[40:]])
    for ticket in last[:20]:
        study.fail(ticket, "spilt")


def operations(study: Study, clock: Clock) -> dict[str, Callable[[], object]]:
    """What is done all day, each by name."""
    made = study.ask(80)
    names = iter(made[70:])
    late = study.ask(3, lease=1)
    clock.now += 5
    study.ask(3)
    return {
        "ask": study.ask,
        "ask 60": lambda: study.ask(60),
        "ask again": lambda: study.ask(1, known=[1], worker="somebody"),
        "tell": lambda: study.tell(next(names), 1.0),
        "tell with a key": lambda: study.tell(next(names), 1.0, key="k"),
        "tell without asking": lambda: study.tell(arm=ARMS[3], reward=1.0),
        "tell 60": lambda: study.tell_many([(ticket, 1.0) for ticket in made[:60]]),
        "tell 60 again": lambda: study.tell_many([(ticket, 1.0) for ticket in made[:60]]),
        "tell late": lambda: study.tell_many([(ticket, 1.0) for ticket in late]),
        "tell and ask": lambda: study.tell_and_ask([(next(names), 1.0)], 1),
        "fail": lambda: study.fail(next(names), "spilt"),
        "renew": lambda: study.renew([next(names)]),
        "holder": lambda: study.holder(late[0]),
        "record": lambda: read_record(study, "rater:abc:def"),
    }


def count_instructions(study: Study, call: Callable[[], object]) -> int:
    """How many instructions SQLite's machine runs for a call."""
    count = 0

    def add() -> int:
        nonlocal count
        count += 1
        return 0

    raw = study._storage._raw()
    raw.set_progress_handler(add, 10)
    try:
        call()
    finally:
        raw.set_progress_handler(None, 10)
    return 10 * count


def test_what_waits_costs_those_who_tell_nothing(folder: Any, clock: Clock) -> None:
    """Behind a pull that is out, thousands may wait: each tell of that arm looked at all."""
    with make(f"{folder}/held.db", clock) as study:
        by_arm: dict[str, list[Ticket]] = {}
        for ticket in study.ask(200):
            by_arm.setdefault(ticket.arm, []).append(ticket)
        arm, tickets = max(by_arm.items(), key=lambda pair: len(pair[1]))
        counts = []
        for waiting, late in ((20, tickets[1]), (PAST, tickets[2])):
            study.tell_many([(arm, 1.0)] * waiting)
            assert study._stored.progress.held.sum() >= waiting
            # It waits, too, for the first.
            counts.append(count_instructions(study, lambda late=late: study.tell(late, 1.0)))  # type: ignore[misc]
    assert counts[1] < 1.5 * counts[0]


def test_sqlite_does_the_same_work_in_an_old_study(folder: Any, clock: Clock) -> None:
    young, old = (make(str(folder / name), clock) for name in ("young.db", "old.db"))
    age(old, clock)
    first, second = operations(young, clock), operations(old, clock)
    for name in first:
        few, many = (
            count_instructions(study, calls[name])
            for study, calls in ((young, first), (old, second))
        )
        # An arm that is written or not makes a difference of some hundred.
        assert many < 3 * few + 1_500, name
    assert old.verify().problems == ()


@contextmanager
def recorded() -> Iterator[list[tuple[str, Any]]]:
    """The statements that are run meanwhile, with their parameters."""
    found: list[tuple[str, Any]] = []
    run, many, call = Statement.run, Statement.many, Statement.__call__

    def note(original: Any, is_many: bool) -> Any:
        def wrapped(self: Statement, connection: Any, *params: Any) -> Any:
            given = params
            if is_many:
                params = (list(params[0]),)
                given = params[0][0]
            found.append((self.postgresql, given))
            return original(self, connection, *params)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statement, "run", note(run, False))
        patch.setattr(Statement, "many", note(many, True))
        patch.setattr(Statement, "__call__", note(call, False))
        yield found


def test_postgresql_reads_by_index(server: Server, clock: Clock) -> None:
    study = make(server.new_database("growth"), clock)
    age(study, clock)
    server.run("ANALYZE", "growth")
    with recorded() as found:
        for call in operations(study, clock).values():
            call()
    plans: dict[str, str] = {}
    with study._storage.read() as connection:
        connection.raw.execute("SET LOCAL enable_seqscan = off")  # Some tables are small here.
        for text, params in found:
            if text.startswith("INSERT") or not any(f"standout_{log}" in text for log in LOGS):
                continue
            rows = connection.raw.execute("EXPLAIN " + text, params).fetchall()
            plans[text] = "\n".join(line for (line,) in rows)
    assert len(plans) > 8
    for text, plan in plans.items():
        for table in LOGS:
            assert f"Seq Scan on standout_{table}" not in plan, (text, plan)
        for line in re.findall(r"Index Cond: .*", plan):
            # More than the study is known: else it would read all of it.
            assert line.count("=") + line.count("<") > 1 or "_due" in plan, (text, plan)


def test_no_ask_runs_more_statements_in_an_old_study(place: str, clock: Clock) -> None:
    study = make(place, clock)
    ticket = study.ask(1)[0]
    with recorded() as first:
        (ticket,) = study.tell_and_ask([(ticket, 1.0)], 1)[1]
    age(study, clock)
    with recorded() as second:
        study.tell_and_ask([(ticket, 1.0)], 1)
    # With a round that ends, and another's changes to catch up with.
    assert len(first) <= 16
    assert len(second) <= 16


@pytest.mark.parametrize("way", ["forwards", "backwards", "waiting"])
def test_a_group_takes_two_trips_to_postgresql(
    server: Server, clock: Clock, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """One to look at what all of its requests need, one to write it; also if some have to wait."""
    from standout.study.storage.old_postgres import Watched

    study = make(server.new_database(f"trips_{way}"), clock)
    study.tell_many([(arm, float(number % 7)) for number, arm in enumerate(ARMS * 100)])
    tickets = study.ask(16)[:: 1 if way == "forwards" else -1]
    if way == "waiting":
        study.tell_many([(ticket, 1.0) for ticket in tickets[:8]])
        assert study.status().waiting
    tickets = tickets[8:] if way == "waiting" else tickets[:8]
    trips: list[int] = []
    exchange = Watched.exchange

    def counted(self: Watched, calls: Any, wanted: int) -> Any:
        trips.append(len(calls))
        return exchange(self, calls, wanted)

    monkeypatch.setattr(Watched, "exchange", counted)
    # As many as a request may write, however many they are.
    found = study.in_one_transaction(
        [lambda turn, one=one: turn.tell_and_ask([(one, 1.0)], 1) for one in tickets],
        2,
        [ticket.id for ticket in tickets],
    )
    assert [receipt.counted for receipt, _ in found] == [1] * 8  # type: ignore[misc]
    assert len(trips) == 2
    assert study.verify().problems == ()


def test_many_pulls_at_once_are_those_of_one_after_the_other() -> None:
    """The heap of large batches, against looking through the plan for each."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        arms = rng.integers(0, 30, 60)
        amounts = rng.integers(1, 5, 60)
        pending = rng.integers(0, 4, 30)
        count = int(rng.integers(MANY + 1, 200))
        slow, fast = new_round(1, arms, amounts), new_round(1, arms, amounts)
        before = pending.copy()
        expected = [arm for _ in range(count) for arm in slow.take_planned(before, 1)]
        after = pending.copy()
        assert fast.take_planned(after, count) == expected
        assert (after == before).all()
        assert (fast.given == slow.given).all()
        assert fast.out == slow.out == len(expected)


def test_many_pulls_at_once_look_through_the_plan_once(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each, while others wait for the file."""
    names = [f"arm {number}" for number in range(1500)]
    looks: list[int] = []
    left = LiveRound._left

    def counted(one: LiveRound) -> Any:
        looks.append(len(one.arms))
        return left(one)

    with Study.create(f"{folder}/many.db", names, Problem(noise="gaussian:5", k=3)) as study:
        monkeypatch.setattr(LiveRound, "_left", counted)
        assert len(study.ask(1000)) == len(study.ask(1000)) == 1000
    assert len(looks) < 20


def test_short_rounds_need_no_row_and_long_ones_leave_none(place: str) -> None:
    """A round's plan comes with the run, or in a row that goes when the round is over."""
    names = [f"arm {number}" for number in range(SHORT + 5)]
    with (
        Study.create(place, names, Problem(noise="gaussian:5", k=3)) as study,
        Study.open(place) as other,
    ):
        seen: set[tuple[bool, int]] = set()
        for number in range(150):
            handle = (study, other)[number % 2]
            handle.tell_many([(ticket, float(ticket.id % 7)) for ticket in handle.ask(3)])
            live = handle._stored.progress.rounds
            with handle._reading() as (connection, _):
                rows = connection.execute("SELECT id FROM standout_rounds")
            assert {one.id for one in live if len(one.arms) > SHORT} == {row for (row,) in rows}
            seen |= {(len(one.arms) > SHORT, len(live)) for one in live}
        assert {is_long for is_long, _ in seen} == {True, False}
        assert study.verify().problems == other.verify().problems == ()


def test_new_keys_are_neighbours() -> None:
    """So that to keep one more costs the same in an index of a million."""
    keys = [new_key() for _ in range(1000)]
    assert len(set(keys)) == len(keys)
    assert {key[:8] for key in keys} <= {keys[0][:8], keys[-1][:8]}
