"""Whether what no order of the events explains is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.study.events.event import Event
from tests.torture.journal import ACKNOWLEDGED, OPEN, Journals, Seen, Sent, request_of
from tests.torture.order import BEHIND, Bounds, Call, Log, check_order, out_of_order, read_log


def sent(begin: float, end: float, how: str = ACKNOWLEDGED) -> Sent:
    return Sent("main", "ash", None, None, how, begin, end if how == ACKNOWLEDGED else math.inf)


LOG = Log(
    values={1.0: 1, 2.0: 3, 3.0: 5},
    tickets={7: (2, "ash"), 8: (4, "elm")},
    heads={"aa": 1, "bb": 4, "cc": 6},
    over=[(5, 6)],
    size=7,
)


def faults(*seen: Seen, gaps: list[tuple[float, float]] | None = None, **values: Sent) -> list[str]:
    told = {float(name[1:]): one for name, one in values.items()}
    return check_order("main", LOG, Journals(sent=told, seen=list(seen), gaps=gaps or []))


def test_what_overlaps_may_be_in_any_order() -> None:
    assert faults(v1=sent(0, 9), v2=sent(0, 9), v3=sent(0, 9)) == []
    assert faults(v1=sent(0, 9), v2=sent(0, 8), v3=sent(7, 7.5)) == []
    assert faults(v1=sent(0, 1), v2=sent(2, 3), v3=sent(4, 5)) == []


def test_what_was_over_before_must_stand_before() -> None:
    (said,) = faults(v1=sent(2, 3), v2=sent(0, 1))
    assert "the telling of 1.0 is at 1, and began after the end of the telling of 2.0" in said
    assert faults(v1=sent(2, 3), v2=sent(0, 1, OPEN)) == []
    (said,) = faults(v1=sent(2, 3, OPEN), v2=sent(0, 1))
    assert "1.0" in said


def test_a_look_must_see_what_was_told_before_and_not_what_was_told_after() -> None:
    assert faults(Seen("main", 2, 3, head="bb"), v2=sent(0, 1), v3=sent(4, 5)) == []
    (said,) = faults(Seen("main", 2, 3, head="aa"), v2=sent(0, 1))  # A memory that is old.
    assert "a look at event 1" in said
    (said,) = faults(Seen("main", 2, 3, head="bb"), v2=sent(4, 5))  # One that sees the future.
    assert "the telling of 2.0 is at 3" in said
    (said,) = faults(Seen("main", 2, 3, head="bb"), Seen("main", 4, 5, head="aa"))
    assert "a look at event 1" in said
    assert faults(Seen("main", 2, 3, head="bb"), Seen("main", 4, 5, head="bb")) == []
    (said,) = faults(Seen("main", 2, 3, head="dd"))
    assert "no event has" in said
    assert faults(Seen("other", 2, 3, head="dd")) == []


def test_a_ticket_must_be_in_an_event_for_its_arm() -> None:
    assert faults(Seen("main", 0, 1, [(7, "ash")]), Seen("main", 2, 3, [(8, "elm")])) == []
    (said,) = faults(Seen("main", 0, 1, [(9, "ash")]))
    assert "ticket 9 of ash was given, and is in no event" in said
    (said,) = faults(Seen("main", 0, 1, [(7, "elm")]))
    assert "ticket 7 of elm" in said
    (said,) = faults(Seen("main", 2, 3, [(7, "ash")]), Seen("main", 0, 1, [(8, "elm")]))
    assert "the giving of ticket 7" in said
    # The answer to an earlier request was lost: a later one, repeated, returns its tickets.
    late = Seen("main", 2, 3, [(7, "ash")], since=0)
    assert faults(late, Seen("main", 1, 2, [(8, "elm")])) == []
    (said,) = faults(late._replace(since=2), Seen("main", 0, 1, [(8, "elm")]))
    # Given again to who asked again: by the same event.
    assert faults(Seen("main", 0, 1, [(7, "ash")]), Seen("main", 4, 5, [(7, "ash")])) == []


def test_the_end_must_have_come() -> None:
    over = Seen("main", 4, 5, is_over=True)
    assert faults(over, v3=sent(0, 9)) == []
    assert faults(over, v3=sent(0, 1)) == []
    (said,) = faults(over, v3=sent(6, 7))
    assert "said that it was over" in said


def test_what_went_with_a_restored_backup_is_no_fault() -> None:
    for seen in (Seen("main", 2, 3, head="dd"), Seen("main", 2, 3, [(9, "ash")])):
        assert faults(seen, gaps=[(2.5, 2.7)]) == []
        assert faults(seen, gaps=[(0.0, 1.0), (2.9, 9.0)]) == []
        assert faults(seen, gaps=[(0.0, 1.0), (3.5, 9.0)]) != []
    # Ticket 8 went with the backup, and another one has its number now.
    given, look = Seen("main", 0, 1, [(8, "elm")]), Seen("main", 3, 4, head="aa")
    assert faults(given, look, gaps=[(0.5, 2.0)]) == []
    assert faults(given, look) != []


def test_a_copy_of_a_request_may_come_after_a_restored_backup() -> None:
    """What was acknowledged before went with the backup, and stands where the copy came."""
    first = sent(0, 1)
    first.key = "a"
    both = {2.0: first, 1.0: sent(2, 3)}

    def faults_of(loose: set[str], gaps: list[tuple[float, float]]) -> list[str]:
        return check_order("main", LOG, Journals(sent=both, loose=loose, gaps=gaps))

    assert faults_of({"a"}, [(0.5, 1.5)]) == []
    first.key, first.ticket = None, 7
    assert faults_of({request_of("main", 7)}, [(0.5, 1.5)]) == []
    first.key = "a"
    assert len(faults_of(set(), [(0.5, 1.5)])) == 1
    assert len(faults_of({"a"}, [])) == 1


@pytest.mark.parametrize("seed", range(5))
def test_against_all_orders(seed: int) -> None:
    """The sweep finds a pair out of order if, and only if, looking at all pairs does."""
    rng = np.random.default_rng(seed)
    for _ in range(300):
        count = int(rng.integers(1, 7))
        begins = rng.integers(0, 12, count)
        ends = begins + rng.integers(0, 6, count)
        places = rng.permutation(count) + rng.choice([0.0, BEHIND], count)
        calls = [
            Call(float(b), float(e) if rng.random() < 0.8 else math.inf, float(p), "call")
            for b, e, p in zip(begins, ends, places, strict=True)
        ]
        pairs = any(a.end < b.begin and a.place > b.place for a in calls for b in calls)
        assert bool(list(out_of_order(calls))) == pairs
        begin, end = sorted(rng.integers(0, 14, 2).tolist())
        first = max((c.place for c in calls if c.end < begin), default=-1.0)
        last = min((c.place for c in calls if c.begin >= end), default=math.inf)
        assert Bounds(calls).of(begin, end) == (first, last)


def test_an_empty_log() -> None:
    events: list[Event] = []
    assert read_log(events).size == 0
