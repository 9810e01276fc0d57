"""Rewards and tickets: columns of numbers that grow together.

A pull is identified by its slot, the number of its first ticket. When a lease ends, the pull is
handed out again with another ticket and keeps its slot.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Any, ClassVar

import numpy as np

from standout.core.typing import Codes, Floats, Ints
from standout.study.settings import DAY

FIRST_ROOM = 64


class Columns:
    """Arrays with one entry per row, of which the first `size` are in use."""

    kinds: ClassVar[Mapping[str, str]] = {}
    """Each column's name and its type of numbers."""

    def __init__(self) -> None:
        self.size = self._room = 0
        for name, kind in self.kinds.items():
            setattr(self, name, np.zeros(0, dtype=kind))
        self.reserve(FIRST_ROOM)

    def reserve(self, more: int) -> None:
        """Make room for more rows."""
        if self.size + more <= self._room:
            return
        self._room = max(2 * self._room, self.size + more)
        for name, kind in self.kinds.items():
            grown = np.zeros(self._room, dtype=kind)
            grown[: self.size] = getattr(self, name)[: self.size]
            setattr(self, name, grown)

    def part(self, first: int, last: int) -> dict[str, Any]:
        """The rows with these numbers, from 1, both included."""
        return {name: getattr(self, name)[first - 1 : last] for name in self.kinds}

    def put(self, first: int, part: Mapping[str, Any]) -> None:
        """Insert rows from `part`, from number `first` on; raises `ValueError` for a gap."""
        if first > self.size + 1 or set(part) != set(self.kinds):
            raise ValueError("columns do not fit together")
        count = len(next(iter(part.values())))
        last = first - 1 + count
        self.reserve(last - self.size)
        self.size = max(self.size, last)
        for name, values in part.items():
            getattr(self, name)[first - 1 : last] = values


class RewardStatus(IntEnum):
    """Whether a reward is in the totals; `VOID` ones were, until a change by hand."""

    COUNTED = 0
    WAITING = 1
    VOID = 2
    SURPLUS = 3


class Ledger(Columns):
    """Rewards by their places, from 1.

    `ticket` is 0 for a reward without a ticket, `worker` a position in `workers`, `event` the
    number of its event. `turn` says when it was counted, 0 if it was not; a reward that replaces a
    void one takes over its turn.
    """

    kinds: ClassVar[Mapping[str, str]] = {
        "time": "<f8", "arm": "<i4", "value": "<f8", "ticket": "<i8", "worker": "<i4",
        "event": "<i8", "turn": "<i8", "status": "|u1",
    }  # fmt: skip
    time: Floats
    arm: Ints
    value: Floats
    ticket: Ints
    worker: Ints
    event: Ints
    turn: Ints
    status: Codes

    def __init__(self) -> None:
        super().__init__()
        self.workers: list[str] = []
        self.codes: dict[str, int] = {}
        self.turns = 0

    def code_of(self, worker: str) -> int:
        """The number of a worker."""
        code = self.codes.get(worker)
        if code is None:
            code = self.codes[worker] = len(self.workers)
            self.workers.append(worker)
        return code

    def add(
        self, time: float, arm: int, value: float, ticket: int, worker: int, event: int, status: int
    ) -> int:
        """Log a reward and return its place."""
        self.reserve(1)
        row = self.size
        self.time[row], self.arm[row], self.value[row] = time, arm, value
        self.ticket[row], self.worker[row], self.event[row] = ticket, worker, event
        self.turn[row], self.status[row] = 0, status
        self.size = row + 1
        return self.size

    def count(self, places: Sequence[int]) -> None:
        """Note that these rewards are counted, in this order."""
        for place in places:
            self.turns += 1
            self.turn[place - 1], self.status[place - 1] = self.turns, 0

    def replace(self, place: int, new: int | None) -> None:
        """Void a counted reward; the reward at the place `new` takes over its turn."""
        row = place - 1
        if new is not None:
            self.turn[new - 1], self.status[new - 1] = self.turn[row], RewardStatus.COUNTED
        self.turn[row], self.status[row] = 0, RewardStatus.VOID

    def sequence(self, arm: int) -> Ints:
        """The places of an arm's counted rewards, in the order of counting."""
        mine = (self.arm[: self.size] == arm) & (self.turn[: self.size] > 0)
        rows = np.flatnonzero(mine)
        places: Ints = rows[np.argsort(self.turn[rows], kind="stable")] + 1
        return places


FEWEST_ANSWERS, ANSWERS_KEPT = 5, 100
"""The fewest answers for an adaptive lease, and the number of latest answers that it uses."""
SHARE, TIMES, SHORTEST = 0.9, 10.0, 60.0
"""A lease is `TIMES` times the quantile `SHARE` of the delays, at least `SHORTEST` seconds."""


class TicketStatus(IntEnum):
    """The state of a ticket.

    `EXPIRED`: its pull was handed out again, or dropped because its arm is paused. `CANCELLED`:
    another ticket of the same pull was told first. `FAILED`: it was given back. A reward may still
    arrive for these three.
    """

    PENDING = 0
    TOLD = 1
    EXPIRED = 2
    CANCELLED = 3
    FAILED = 4


@dataclass(slots=True)
class Open:
    """A ticket that is out; `event` is the number of the event that gave it."""

    expires: float
    worker: str
    round: int
    event: int


class Avoided:
    """Arms that must not be handed out; `met` are those that would have been."""

    def __init__(self, arms: Collection[int] = ()) -> None:
        self.arms = frozenset(arms)
        self.met: set[int] = set()

    def has(self, arm: int) -> bool:
        """Whether this arm must be avoided; records that it came up."""
        if arm not in self.arms:
            return False
        self.met.add(arm)
        return True


NO_ARMS = Avoided()


class TicketTable(Columns):
    """All tickets by their numbers, from 1; `place` is that of the reward, 0 for none."""

    kinds: ClassVar[Mapping[str, str]] = {
        "arm": "<i4", "slot": "<i8", "asked": "<f8", "status": "|u1", "place": "<i8",
    }  # fmt: skip
    arm: Ints
    slot: Ints
    asked: Floats
    status: Codes
    place: Ints

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[int, Open] = {}
        self.slots: dict[int, int] = {}
        """The pending ticket of each pending pull."""
        self.delays: deque[float] = deque(maxlen=ANSWERS_KEPT)
        self._sorted: list[float] = []
        self._of_worker: dict[str, dict[int, None]] = {}
        self._due: list[tuple[float, int]] = []

    # Handing out --------------------------------------------------------------------------

    def give(self, arm: int, slot: int, opened: Open, now: float) -> int:
        """Hand out a ticket for a pull (`slot` 0: a new one); return its number."""
        self.reserve(1)
        row = self.size
        number = self.size = row + 1
        self.arm[row], self.slot[row], self.asked[row] = arm, slot or number, now
        self.status[row] = TicketStatus.PENDING
        self.take_in(number, opened)
        return number

    def take_in(self, number: int, opened: Open) -> None:
        """Add a ticket of the table to those that are out."""
        self.open[number], self.slots[self.slot.item(number - 1)] = opened, number
        self._of_worker.setdefault(opened.worker, {})[number] = None
        heappush(self._due, (opened.expires, number))

    def close(self, number: int, status: TicketStatus) -> Open:
        """Close a ticket and return it; its pull keeps its place in `slots`."""
        opened = self.open.pop(number)
        mine = self._of_worker[opened.worker]
        del mine[number]
        if not mine:
            del self._of_worker[opened.worker]
        self.status[number - 1] = status
        return opened

    # Leases -------------------------------------------------------------------------------

    def renew(self, number: int, expires: float) -> None:
        """Set another end of the lease of a ticket that is out."""
        self.open[number].expires = expires
        heappush(self._due, (expires, number))
        if len(self._due) > 2 * len(self.open) + 64:
            self._due = [(one.expires, each) for each, one in self.open.items()]
            heapify(self._due)

    def take_overdue(self, now: float, count: int, avoid: Avoided = NO_ARMS) -> list[int]:
        """At most `count` tickets whose leases have ended, the longest overdue first."""
        found: list[int] = []
        left: list[tuple[float, int]] = []
        while self._due and len(found) < count and self._due[0][0] <= now:
            expires, number = heappop(self._due)
            opened = self.open.get(number)
            if opened is None or opened.expires != expires or number in found[-1:]:
                continue
            if avoid.has(self.arm.item(number - 1)):
                left.append((expires, number))
            else:
                found.append(number)
        for each in left:
            heappush(self._due, each)
        return found

    def first_end(self) -> float | None:
        """The end of the first lease; None if no ticket is out."""
        while self._due:
            expires, number = self._due[0]
            opened = self.open.get(number)
            if opened is not None and opened.expires == expires:
                return expires
            heappop(self._due)
        return None

    def note_delay(self, delay: float) -> None:
        """Note the delay between a ticket and its answer."""
        delay = max(0.0, delay)
        if len(self.delays) == ANSWERS_KEPT:
            del self._sorted[bisect_left(self._sorted, self.delays[0])]
        self.delays.append(delay)
        insort(self._sorted, delay)

    def usual_lease(self) -> float:
        """A lease in seconds that suffices for nearly all answers, judged by the latest."""
        count = len(self._sorted)
        if count < FEWEST_ANSWERS:
            return DAY
        return min(DAY, max(SHORTEST, TIMES * self._sorted[int(SHARE * (count - 1))]))

    # Looking ------------------------------------------------------------------------------

    def of_worker(self, worker: str) -> Iterator[tuple[int, Open]]:
        """The tickets that a worker has, in the order of their numbers."""
        for number in self._of_worker.get(worker, ()):
            yield number, self.open[number]

    def count_of_prefix(self, prefix: str, now: float) -> int:
        """The number of such workers' tickets that are out, with leases beyond `now`."""
        return sum(
            self.open[number].expires > now
            for worker, mine in self._of_worker.items()
            if worker.startswith(prefix)
            for number in mine
        )
