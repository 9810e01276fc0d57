"""The history as columns and texts, and how one arm came to where it stands."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from standout import Problem
from standout.study.events.arm_history import arm_history
from standout.study.events.history import COLUMNS, csv_text, history, json_text
from tests.study.events.playing import Play


@pytest.fixture
def play() -> Play:
    """One reward of each status, and two pulls that are out."""
    play = Play(["=ash", "elm", "fir"], Problem(noise="gaussian:1", k=2), budget=7)
    play.tell_many([("=ash", 0.5), ("elm", 0.25), ("fir", 1.5)])
    play.void(2, value=0.75)
    for arm in ("elm", "fir"):
        play.pause(arm)
    first, second = play.ask(2, worker="ben")
    play.now += 2
    play.tell(second, 2.0, worker="ben")
    play.tell_many([("elm", 1.0), ("elm", 3.0)])
    assert play.tell("elm", 4.0).surplus == 1
    assert first.arm == "=ash"
    return play


def test_every_reward_has_its_status(play: Play) -> None:
    found = history(play.state)
    assert list(found.columns) == list(COLUMNS)
    names = ["counted", "void", "counted", "counted", "waiting", "counted", "counted", "surplus"]
    assert found["status"].tolist() == names
    assert found["turn"].tolist() == [1, 0, 3, 2, 0, 4, 5, 0]
    assert found["ticket"].tolist() == [0, 0, 0, 0, 2, 0, 0, 0]
    assert np.isnan(found["asked"][:4]).all()
    assert found["asked"][4] == found["time"][4] - 2
    assert found["worker"][4] == "ben"
    # The pulls that are out are no rewards, but whoever analyses the log has to know of them.
    out = found.out
    assert (out["ticket"].tolist(), out["arm"].tolist()) == ([1], ["=ash"])
    assert (out["status"].tolist(), out["seq"].tolist()) == (["out"], [0])
    assert np.isnan(out["reward"]).all()
    assert sum(name in ("counted", "waiting") for name in names) == play.state.totals.pulls


def test_texts_are_read_back(play: Play) -> None:
    found = history(play.state)
    records = json.loads("".join(json_text(found)))
    assert [each["status"] for each in records[:-1]] == found["status"].tolist()
    assert records[-1]["status"] == "out"
    assert records[-1]["reward"] is None
    for raw in (False, True):
        rows = list(csv.DictReader(io.StringIO("".join(csv_text(found, raw)))))
        assert [row["status"] for row in rows] == [each["status"] for each in records]
        assert rows[0]["arm"] == ("=ash" if raw else "'=ash")
        for row, record in zip(rows, records, strict=True):
            for name in ("seq", "time", "reward", "ticket", "asked", "turn"):
                assert row[name] == ("" if record[name] is None else repr(record[name]))


def test_an_empty_study_has_empty_texts() -> None:
    found = history(Play().state)
    assert json.loads("".join(json_text(found))) == []
    assert "".join(csv_text(found)) == ",".join(COLUMNS) + "\n"
    assert len(found) == 0


def test_an_arm_came_to_where_it_stands() -> None:
    play = Play(["a", "b", "c"], Problem(noise="gaussian:1", k=2), "roai-lucb")
    rng = np.random.default_rng(1)
    for _ in range(40):
        tickets = play.ask(3, worker="ben")
        play.tell_many([(t, rng.normal()) for t in reversed(tickets)])
    play.void(int(play.state.ledger.sequence(0)[2]), value=1.0)
    found, now = arm_history(play.state, 0), play.state.identification()
    assert found.pulls[-1] == now.pulls_by_arm[0]
    assert found.mean[-1] == pytest.approx(now.means[0])
    assert found.lower[-1] <= found.mean[-1] <= found.upper[-1]
    assert (np.diff(found.upper - found.lower) <= 1e-12).all()
    assert found.n_workers == 1
    assert len(found.latest) == 20
    assert found.latest[0].seq > found.latest[1].seq
    with pytest.raises(IndexError):
        arm_history(play.state, 3)
    empty = arm_history(Play().state, 1)
    assert (len(empty.pulls), empty.latest) == (0, ())
