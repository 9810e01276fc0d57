"""Whether some order of the events explains all that was answered: linearizability.

Every acknowledged call is an event or, if it only looked, stands between two. Its place in
the log has to lie behind those of all calls that were over before it began. Times are of a clock
that all processes share and that never jumps; those of the events play no part.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from standout.study.events.event import Event
from standout.study.events.fold import begin, fold
from tests.torture.journal import ACKNOWLEDGED, LIE, Changed, Journals, Seen, Sent

BEHIND = 0.5
"""Where a call stands that only looked: so far behind the newest event that it saw."""


@dataclass
class Log:
    """Where in a study's log everything is, by the numbers of the events."""

    values: dict[float, int] = field(default_factory=dict)
    tickets: dict[int, tuple[int, str]] = field(default_factory=dict)
    heads: dict[str, int] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    over: list[tuple[int, int]] = field(default_factory=list)
    """From which event to which the study was over."""
    size: int = 0

    def is_over(self, first: float, last: float) -> bool:
        """Whether the study was over at some place from `first` on and before `last`."""
        return any(begin < last and first <= end + BEHIND for begin, end in self.over)


def read_log(events: Iterable[Event]) -> Log:
    """Fold all events, and see what each has brought."""
    log, state = Log(), None
    since: int | None = None
    for event in events:
        tickets = rewards = changes = 0
        if state is None:
            state = begin(event)
        else:
            tickets, rewards = state.tickets.size, state.ledger.size
            changes = len(state.changes)
            fold(state, event)
        log.heads[event.digest.hex()], log.size = event.number, event.number + 1
        for number in range(tickets + 1, state.tickets.size + 1):
            arm = state.arms[state.tickets.arm.item(number - 1)]
            log.tickets[number] = (event.number, arm)
        for place in range(rewards, state.ledger.size):
            log.values[state.ledger.value.item(place)] = event.number
        for change in state.changes[changes:]:
            log.changes[change.reason] = event.number
        if state.is_stopped and since is None:
            since = event.number
        elif not state.is_stopped and since is not None:
            log.over.append((since, event.number - 1))
            since = None
    if since is not None:
        log.over.append((since, log.size))
    return log


class Call(NamedTuple):
    """A call from `begin` to `end` (infinite if nothing was answered), and its place in the log."""

    begin: float
    end: float
    place: float
    what: str


def check_order(name: str, log: Log, journals: Journals) -> list[str]:
    """What was answered about a study, or kept of it, that no order of its events explains."""
    calls = [*_told(name, log, journals), *_changed(name, log, journals)]
    faults: list[str] = []
    seen = [one for one in journals.seen if one.study == name]
    often = Counter(number for one in seen for number, _ in one.tickets)
    for one in seen:
        is_gone = journals.may_be_gone(one.begin, one.end)
        found, wrong = _given(one, log, often)
        if not is_gone:
            faults += [f"{name!r}: {text}" for text in wrong]
        if not wrong:
            # After a restore another ticket may have its number, and by chance its arm. A digest
            # is never the same.
            calls += [call for call in found if not is_gone or call.place % 1]
    faults += [f"{name!r}: {text}" for text in out_of_order(calls)]
    bounds = Bounds(calls)
    for one in seen:
        if one.is_over and not journals.may_be_gone(one.begin, one.end):
            first, last = bounds.of(one.begin, one.end)
            if not log.is_over(first, last):
                faults.append(f"{name!r}: an answer said that it was over, from {first} to {last}")
    return faults


def _told(name: str, log: Log, journals: Journals) -> Iterator[Call]:
    """Tellings that are in the log, acknowledged or not."""
    for value, one in journals.sent.items():
        if one.study == name and one.how != LIE and value in log.values:
            end = _latest_end(one, journals)
            yield Call(one.begin, end, log.values[value], f"the telling of {value!r}")


def _changed(name: str, log: Log, journals: Journals) -> Iterator[Call]:
    for reason, one in journals.changes.items():
        if one.study == name and reason in log.changes:
            end = _latest_end(one, journals)
            yield Call(one.begin, end, log.changes[reason], f"the change {reason!r}")


def _latest_end(one: Sent | Changed, journals: Journals) -> float:
    """By when the log had what was sent; infinite if that is not known.

    What was acknowledged may have gone with a restored backup, and a copy of the request may have
    come after that: one that the network made, or a worker that told it twice on purpose.
    """
    request = one.request if isinstance(one, Sent) else one.key
    is_copied = request in journals.loose and journals.may_be_gone(one.begin, one.end)
    return one.end if one.how == ACKNOWLEDGED and not is_copied else math.inf


def _given(one: Seen, log: Log, often: Counter[int]) -> tuple[list[Call], list[str]]:
    """The places of an answer with tickets or a digest, and what is wrong with it."""
    calls, wrong = [], []
    begin = one.begin if one.since is None else one.since
    for number, arm in one.tickets:
        number = int(number)
        place, owner = log.tickets.get(number, (-1, ""))
        if place < 0 or owner != arm:
            wrong.append(f"ticket {number} of {arm} was given, and is in no event ({owner!r})")
        elif often[number] == 1:  # Else it was given again, by a later call.
            calls.append(Call(begin, one.end, place, f"the giving of ticket {number}"))
    if one.head:
        if one.head in log.heads:
            place = log.heads[one.head]
            calls.append(Call(one.begin, one.end, place + BEHIND, f"a look at event {place}"))
        else:
            wrong.append(f"a status had the digest {one.head}, and no event has")
    return calls, wrong


def out_of_order(calls: list[Call]) -> Iterator[str]:
    """Calls whose place is not behind all that were over before they began."""
    over = sorted((call for call in calls if call.end < math.inf), key=lambda call: call.end)
    next_over, newest = 0, Call(0.0, 0.0, -1.0, "the beginning")
    for call in sorted(calls, key=lambda call: call.begin):
        while next_over < len(over) and over[next_over].end < call.begin:
            newest = max(newest, over[next_over], key=lambda each: each.place)
            next_over += 1
        is_look = call.place % 1 != 0
        if call.place < newest.place or (call.place == newest.place and not is_look):
            yield (
                f"{call.what} is at {call.place:g}, and began after the end of {newest.what} "
                f"at {newest.place:g}"
            )


class Bounds:
    """Between which places a call must stand, by when others began and were over."""

    def __init__(self, calls: list[Call]) -> None:
        over = sorted((call.end, call.place) for call in calls if call.end < math.inf)
        self._ends = [end for end, _ in over]
        self._newest = [-1.0]
        for _, place in over:
            self._newest.append(max(self._newest[-1], place))
        begun = sorted((call.begin, call.place) for call in calls)
        self._begins = [begin for begin, _ in begun]
        self._oldest = [math.inf]
        for _, place in reversed(begun):
            self._oldest.append(min(self._oldest[-1], place))
        self._oldest.reverse()

    def of(self, begin: float, end: float) -> tuple[float, float]:
        """Behind which place a call stands at least, and before which."""
        first = self._newest[bisect_left(self._ends, begin)]
        last = self._oldest[bisect_left(self._begins, end)]
        return first, last
