"""Tickets: what was handed out, to whom, for how long, and what became of it.

A pull is known by its slot, the number of the ticket with which it was handed out first. When a
lease has run out the pull is handed out again with another ticket, and keeps its slot.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import ClassVar

from standout.core.typing import Codes, Floats, Ints
from standout.study.events.columns import Columns
from standout.study.settings import DAY

FEWEST_ANSWERS, ANSWERS_KEPT = 5, 100
"""Answers from which on a lease goes by how long they took, and how many of the last it goes by."""
SHARE, TIMES, SHORTEST = 0.9, 10.0, 60.0
"""A lease is so many times the delay that this share of the answers kept to, in seconds."""


class TicketStatus(IntEnum):
    """What became of a ticket.

    `EXPIRED`: its pull was handed out again, or given up since its arm is paused. `CANCELLED`:
    another ticket of the same pull was told first. `FAILED`: it was given back. A reward may
    still come for these three.
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
    """Arms that are not to be handed out; `met` are those that would have been."""

    def __init__(self, arms: Collection[int] = ()) -> None:
        self.arms = frozenset(arms)
        self.met: set[int] = set()

    def has(self, arm: int) -> bool:
        """Whether an arm that has come up is one of them."""
        if arm not in self.arms:
            return False
        self.met.add(arm)
        return True


NO_ARMS = Avoided()


class TicketTable(Columns):
    """All tickets by their numbers, from 1 on; `place` is that of the reward, 0 for none."""

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
        """The ticket that is out for each pull that is."""
        self.delays: deque[float] = deque(maxlen=ANSWERS_KEPT)
        self._sorted: list[float] = []
        self._of_worker: dict[str, dict[int, None]] = {}
        self._due: list[tuple[float, int]] = []

    # Handing out --------------------------------------------------------------------------

    def give(self, arm: int, slot: int, opened: Open, now: float) -> int:
        """Hand out a ticket for a pull (`slot` 0: a new one); its number."""
        self.reserve(1)
        row = self.size
        number = self.size = row + 1
        self.arm[row], self.slot[row], self.asked[row] = arm, slot or number, now
        self.status[row] = TicketStatus.PENDING
        self.take_in(number, opened)
        return number

    def take_in(self, number: int, opened: Open) -> None:
        """A ticket of the table is out."""
        self.open[number], self.slots[self.slot.item(number - 1)] = opened, number
        self._of_worker.setdefault(opened.worker, {})[number] = None
        heappush(self._due, (opened.expires, number))

    def close(self, number: int, status: TicketStatus) -> Open:
        """A ticket is out no more; what it was. Its pull keeps its place in `slots`."""
        opened = self.open.pop(number)
        mine = self._of_worker[opened.worker]
        del mine[number]
        if not mine:
            del self._of_worker[opened.worker]
        self.status[number - 1] = status
        return opened

    # Leases -------------------------------------------------------------------------------

    def renew(self, number: int, expires: float) -> None:
        """Let the lease of a ticket that is out end at another moment."""
        self.open[number].expires = expires
        heappush(self._due, (expires, number))
        if len(self._due) > 2 * len(self.open) + 64:
            self._due = [(one.expires, each) for each, one in self.open.items()]
            heapify(self._due)

    def take_overdue(self, now: float, count: int, avoid: Avoided = NO_ARMS) -> list[int]:
        """Up to `count` tickets whose leases have run out, the longest first."""
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
        """When the first lease ends, None if no ticket is out."""
        while self._due:
            expires, number = self._due[0]
            opened = self.open.get(number)
            if opened is not None and opened.expires == expires:
                return expires
            heappop(self._due)
        return None

    def note_delay(self, delay: float) -> None:
        """A ticket was answered so long after it was given."""
        delay = max(0.0, delay)
        if len(self.delays) == ANSWERS_KEPT:
            del self._sorted[bisect_left(self._sorted, self.delays[0])]
        self.delays.append(delay)
        insort(self._sorted, delay)

    def usual_lease(self) -> float:
        """Seconds that suffice for most answers by far, going by the last ones."""
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
        """How many are out, with leases beyond `now`, with workers so named."""
        return sum(
            self.open[number].expires > now
            for worker, mine in self._of_worker.items()
            if worker.startswith(prefix)
            for number in mine
        )
