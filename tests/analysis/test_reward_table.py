"""The log as plain numbers, on both storages."""

from __future__ import annotations

import numpy as np

from standout.analysis.report_data import read_reward_table
from standout.study import Study
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, make


def test_an_empty_log(place: str) -> None:
    with make(place) as study:
        log = read_reward_table(study)
    assert len(log) == 0
    assert log.workers == ()
    assert log.closed == {"expired": 0, "cancelled": 0, "failed": 0}


def test_columns_are_those_of_the_history(place: str, clock: Clock) -> None:
    with make(place, budget=30, clock=clock) as study:
        for who in ("ada", "ben"):
            tickets = study.ask(6, worker=who, lease=10.0)
            clock.now += 7
            study.tell_many([(t, t.id / 100) for t in tickets[:4]], worker=who)
            study.fail(tickets[4], "spilled")
            clock.now += 20
        study.ask(3)
        study.tell_many([(ARMS[k % 5], 0.5) for k in range(20)], worker="eve")
        history = study.history()
        log = read_reward_table(study)
    counted = history["status"] == "counted"
    assert log.surplus == np.count_nonzero(history["status"] == "surplus") > 0
    assert [ARMS[i] for i in log.arm] == history["arm"][counted].tolist()
    np.testing.assert_array_equal(log.reward, history["reward"][counted])
    assert [log.workers[w] for w in log.worker] == history["worker"][counted].tolist()
    np.testing.assert_array_equal(log.ticket, history["ticket"][counted])
    np.testing.assert_array_equal(log.delay, (history["time"] - history["asked"])[counted])
    assert log.delay[0] == 7.0
    assert log.closed["failed"] == 2
    assert log.closed["expired"] > 0


def test_where_the_study_is_kept(place: str) -> None:
    with make(place, ordered=True) as study:
        log = read_reward_table(study)
    assert log.is_ordered
    assert log.file == ("study.db" if "://" not in place else None)
    assert isinstance(study, Study)
