"""The view of a study: exactly what the stopping rule uses, and nothing moved by looking."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from standout import Problem
from standout.core.kinds import Verdict
from standout.results import Interval
from standout.study import Study
from standout.study.view import FIRST_PULLS, MOVES_THRESHOLD, OVERDUE, UNDECIDED, view
from tests.study.conftest import Clock
from tests.study.test_conformance import ARMS, MEANS, SIGMA, finish, make


def test_a_view_before_the_first_reward(place: str) -> None:
    with make(place, budget=100) as study:
        seen = view(study)
    assert seen.names == tuple(ARMS)
    assert np.isnan(seen.estimate).all()
    assert np.isinf(seen.lower).all()
    assert np.isnan([seen.median, seen.threshold.estimate]).all()
    assert (seen.counts.arms, seen.counts.undecided, seen.budget) == (5, 5, 100)
    assert {(ahead.arm, ahead.why) for ahead in seen.next} == {(arm, FIRST_PULLS) for arm in ARMS}
    assert (seen.stopped, seen.reason, seen.note) == (False, "running", None)


def ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.lower, interval.upper)


@pytest.mark.parametrize("side", ["high", "low", "both"])
def test_a_view_shows_what_the_stop_rule_uses(place: str, side: str) -> None:
    """At every step: verdicts follow from the shown intervals, and nothing else."""
    problem = Problem(noise="gaussian:0.3", k=2, side=side)  # type: ignore[arg-type]
    rng = np.random.default_rng(6)
    with Study.create(place, ARMS, problem) as study:
        for _ in range(60):
            tickets = study.ask(3)
            study.tell_many([(t, rng.normal(MEANS[t.arm], 0.3)) for t in tickets])
            seen, found, status = view(study), study.identification(), study.status()
            np.testing.assert_array_equal(seen.lower, found.lower)
            np.testing.assert_array_equal(seen.upper, found.upper)
            np.testing.assert_array_equal(seen.estimate, found.means)
            np.testing.assert_array_equal(seen.pulls, found.pulls_by_arm)
            assert ends(seen.threshold) == ends(found.threshold)
            assert ends(seen.threshold_low) == ends(found.threshold_low)
            assert seen.pending.sum() == seen.counts.pending == status.pending
            assert seen.counts.pulls == status.pulls
            by_kind = {kind: [] for kind in Verdict}  # type: ignore[var-annotated]
            for name, verdict in zip(seen.names, seen.verdict, strict=True):
                by_kind[Verdict(verdict)].append(name)
            assert tuple(by_kind[Verdict.OUTLIER]) == status.outliers
            assert tuple(by_kind[Verdict.UNDECIDED]) == status.undecided
            if seen.counts.rounds == 0 or side == "both":
                continue
            low, high = seen.threshold.lower, seen.threshold.upper
            above, below = seen.lower > high, seen.upper < low
            for apart, verdict in ((above, Verdict.OUTLIER), (below, Verdict.NORMAL)):
                kind = verdict if side == "high" else Verdict(3 - verdict)
                assert (seen.verdict[apart] == kind).all()


def test_looking_ahead_tells_what_asking_gives_and_moves_nothing(place: str) -> None:
    with make(place) as study:
        for turn in range(40):
            before = study._state.number
            seen = view(study)
            again = view(study)
            assert seen.next == again.next
            assert study._state.number == before
            if seen.stopped:
                break
            tickets = study.ask(10)
            wanted = Counter({ahead.arm: ahead.pulls for ahead in seen.next})
            assert Counter(ticket.arm for ticket in tickets) == wanted
            told = tickets if turn % 3 else tickets[:4]
            study.tell_many([(t, MEANS[t.arm] + SIGMA * (t.id % 3 - 1)) for t in told])
        assert study.verify().problems == ()


def test_why_an_arm_comes_next(place: str, clock: Clock) -> None:
    arms = [f"arm {i}" for i in range(12)]
    problem = Problem(noise="gaussian:1", k=2)
    rng = np.random.default_rng(3)
    seen = set()
    with Study.create(place, arms, problem, clock=clock, lease=100) as study:
        for _ in range(300):
            for ahead in view(study).next:
                seen.add(ahead.why)
                if ahead.why == MOVES_THRESHOLD:
                    assert ahead.arm not in study.status().undecided
            tickets = study.ask(4)
            if not tickets:
                break
            pairs = [(t, rng.normal(int(t.arm[4:]) ** 2 / 10, 1)) for t in tickets]
            study.tell_many(pairs)
        assert seen == {FIRST_PULLS, UNDECIDED, MOVES_THRESHOLD}
        if not study.status().stopped:
            (late,) = study.ask(1)
            clock.now += 101
            first = view(study).next[0]
            assert (first.arm, first.why) == (late.arm, OVERDUE)
            assert view(study).counts.expired == 1


def test_what_has_changed_since(place: str) -> None:
    with make(place) as study, Study.open(place) as other:
        start = view(study)
        assert start.positions is None
        same = view(study, start.seq).positions
        assert same is not None
        assert same.tolist() == []
        other.tell(arm="fir", reward=0.2)
        other.tell(arm="ash", reward=0.0)
        seen = view(study, start.seq)
        assert seen.positions is not None
        assert seen.positions.tolist() == [0, 2]
        assert view(study, seen.seq + 1).positions is None
        last = seen
        rng = np.random.default_rng(0)
        columns = ("estimate", "lower", "upper", "pulls", "pending", "verdict")
        for _ in range(30):
            other.tell_many([(t, rng.normal(MEANS[t.arm], SIGMA)) for t in other.ask(2)])
            now = view(study, last.seq)
            for name in columns:
                old, new = getattr(last, name).copy(), getattr(now, name)
                old[now.positions] = new[now.positions]
                np.testing.assert_array_equal(old, new)
            last = now


def test_a_finished_study(place: str) -> None:
    with make(place, pause_after=1) as study:
        study.fail(study.ask(1)[0], "spilt")
        assert view(study).failures == {"ash": 1}
        assert "spilt" in view(study).paused["ash"]
        study.resume("ash")
        finish(study)
        seen = view(study)
    assert (seen.stopped, seen.reason, seen.next) == (True, "decided", ())
    assert seen.stopped_at is not None
    assert seen.counts.undecided == 0
    assert seen.median == pytest.approx(0.2, abs=0.1)


def test_a_note_is_looked_into_now_and_then(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many arms make it slow: it is kept until the pulls have grown by a fiftieth."""
    looks: list[int] = []
    monkeypatch.setattr(
        "standout.study.study.doubt", lambda *_: looks.append(1) or f"look {len(looks)}"
    )
    with make(str(folder / "x.db")) as study:
        study.tell_many([("ash", 0.0)] * 1000)
        assert view(study).note == view(study).note == "look 1"
        study.tell_many([("ash", 0.0)] * 15)
        assert view(study).note == "look 1"
        study.tell_many([("ash", 0.0)] * 15)
        assert view(study).note == "look 2"
        finish(study)
        assert view(study).note is None
