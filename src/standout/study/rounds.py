"""Rounds under way: which pulls are planned, handed out, given back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from standout.core.typing import Ints


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

    @property
    def is_handed_out(self) -> bool:
        """Whether nothing is left to hand out."""
        return not self.returned and bool((self.given >= self.amounts).all())

    @property
    def is_over(self) -> bool:
        """Whether all rewards are in."""
        return self.out == 0 and self.is_handed_out

    def take_planned(self, pending: Ints) -> int | None:
        """Hand out a planned pull: of the arm with the fewest pending, then in plan order.

        One worker alone gets the plan's own order; workers side by side, and
        the tickets of one batch, get different arms.
        """
        left = np.flatnonzero(self.given < self.amounts)
        if not len(left):
            return None
        entry = left[np.argmin(pending[self.arms[left]])]
        self.given[entry] += 1
        self.out += 1
        return int(self.arms[entry])

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
        """Short form: what is handed out in full up to `first`, single entries behind it."""
        open_entries = np.flatnonzero(self.given < self.amounts)
        first = int(open_entries[0]) if len(open_entries) else len(self.arms)
        behind = np.flatnonzero(self.given[first:]) + first
        given = [[int(j), int(self.given[j])] for j in behind]
        return [self.id, first, given, self.out, self.returned]

    def unpack(self, packed: list[Any]) -> None:
        """The reverse of `pack`, on a round with the same plan."""
        _, first, given, self.out, returned = packed
        self.given[:first] = self.amounts[:first]
        self.given[first:] = 0
        for entry, count in given:
            self.given[entry] = count
        self.returned = list(returned)


def new_round(number: int, arms: Ints, amounts: Ints) -> LiveRound:
    """A round of which nothing is handed out yet."""
    return LiveRound(number, arms, amounts, np.zeros_like(amounts))
