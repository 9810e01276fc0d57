"""Rounds under way: which pulls are planned, handed out, given back."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from typing import Any

import numpy as np

from standout.core.typing import Ints

SHORT = 16
"""Entries of a plan up to which it is written with every change, and needs no row of its own."""
MANY = 32
"""Pulls at once from which on a heap is quicker than to look through the plan for each."""


@dataclass
class LiveRound:
    """A round of the method from its plan until all its rewards are in.

    `given[j]` of the `amounts[j]` pulls of `arms[j]` have been handed out; `out`
    pulls are owed a reward now, those in `returned` wait to be handed out anew.
    """

    id: int
    arms: Ints
    amounts: Ints
    given: Ints
    out: int = 0
    returned: list[int] = field(default_factory=list)
    first: int = 0
    """All entries before this one are handed out."""
    has_row: bool = False
    """Whether its plan is kept in a row of its own, and not with what is handed out."""

    @property
    def is_handed_out(self) -> bool:
        """Whether nothing is left to hand out."""
        if self.returned:
            return False
        self._skip()
        return self.first == len(self.arms)

    def _left(self) -> Ints:
        """The entries that are not handed out in full."""
        left = np.flatnonzero(self.given[self.first :] < self.amounts[self.first :]) + self.first
        self.first = int(left[0]) if len(left) else len(self.arms)
        return left

    def _skip(self) -> None:
        """Let `first` be the first entry that is not handed out in full."""
        given, amounts, first = self.given, self.amounts, self.first
        last = min(first + MANY, len(self.arms))
        while first < last and given.item(first) >= amounts.item(first):
            first += 1
        self.first = first
        if first == last < len(self.arms):
            self._left()

    def extend(self, arms: Ints, amounts: Ints) -> None:
        """Plan more pulls in the same round."""
        self.arms = np.concatenate([self.arms, arms])
        self.amounts = np.concatenate([self.amounts, amounts])
        self.given = np.concatenate([self.given, np.zeros_like(amounts)])

    @property
    def is_over(self) -> bool:
        """Whether all rewards are in."""
        return self.out == 0 and self.is_handed_out

    def take_planned(self, pending: Ints, count: int) -> list[int]:
        """Hand out up to `count` planned pulls, and note them in `pending`; their arms.

        Each is of the arm with the fewest pending, then in plan order: one worker
        alone gets the plan's own order; workers side by side, and the tickets of
        one batch, get different arms.
        """
        if self.first == len(self.arms):
            return []  # Without a look at its arrays: many rounds may wait for a straggler.
        if count > MANY:
            entries = self._take_many(pending, count)
        else:
            entries = self._take_few(pending, count)
        self.out += len(entries)
        return [self.arms.item(entry) for entry in entries]

    def _take_few(self, pending: Ints, count: int) -> list[int]:
        entries: list[int] = []
        while len(entries) < count:
            self._skip()
            if self.first == len(self.arms):
                break
            entry = self.first
            if pending.item(self.arms.item(entry)):
                left = self._left()
                entry = int(left[np.argmin(pending[self.arms[left]])])
            self.given[entry] += 1
            pending[self.arms.item(entry)] += 1
            entries.append(entry)
        return entries

    def _take_many(self, pending: Ints, count: int) -> list[int]:
        """The same with a heap. A key may be outdated, but only too small: then it goes back."""
        left = self._left()
        arms, room = self.arms.tolist(), (self.amounts - self.given).tolist()
        now = pending.tolist()
        heap = list(zip(pending[self.arms[left]].tolist(), left.tolist(), strict=True))
        heapify(heap)
        entries: list[int] = []
        while heap and len(entries) < count:
            key, entry = heap[0]
            current = now[arms[entry]]
            if key < current:
                heapreplace(heap, (current, entry))
                continue
            entries.append(entry)
            now[arms[entry]] = current + 1
            room[entry] -= 1
            if room[entry]:
                heapreplace(heap, (current + 1, entry))
            else:
                heappop(heap)
        taken = np.array(entries, dtype=np.int64)
        np.add.at(self.given, taken, 1)
        np.add.at(pending, self.arms[taken], 1)
        return entries

    def take_returned(self) -> int | None:
        """Hand out a pull that was given back."""
        if not self.returned:
            return None
        self.out += 1
        return self.returned.pop(0)

    def give_up(self) -> None:
        """Plan no more: the study has stopped."""
        self.given[:] = self.amounts
        self.returned.clear()

    def drop_arm(self, arm: int) -> None:
        """Plan no more pulls of `arm`."""
        mine = self.arms == arm
        self.given[mine] = self.amounts[mine]
        self.returned = [other for other in self.returned if other != arm]

    def pack(self) -> list[Any]:
        """Short form: what is handed out in full up to `first`, single entries behind it.

        Then the plan, unless that `has_row`.
        """
        self._skip()
        behind = self.given[self.first :]
        # A list is quicker to look through than an array if it is short.
        places = range(len(behind)) if len(behind) <= MANY else np.flatnonzero(behind).tolist()
        given = [[self.first + j, behind.item(j)] for j in places if behind.item(j)]
        packed = [self.id, self.first, given, self.out, self.returned]
        return packed if self.has_row else [*packed, self.arms.tolist(), self.amounts.tolist()]

    def unpack(self, packed: list[Any]) -> None:
        """The reverse of `pack`, on a round with the same plan."""
        _, self.first, given, self.out, returned = packed[:5]
        if not 0 <= self.first <= len(self.arms) == len(self.amounts):
            raise ValueError("a round has another length than its plan")
        self.given[: self.first] = self.amounts[: self.first]
        self.given[self.first :] = 0
        for entry, count in given:
            self.given[entry] = count
        self.returned = list(returned)


def new_round(number: int, arms: Ints, amounts: Ints) -> LiveRound:
    """A round of which nothing is handed out yet."""
    return LiveRound(number, arms, amounts, np.zeros_like(amounts))


def planned_of(packed: list[Any]) -> list[list[int]] | None:
    """The plan in what `LiveRound.pack` gave: arms and amounts; None if that has a row."""
    return packed[5:] or None
