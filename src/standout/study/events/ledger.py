"""The ledger: every reward ever told, in the order of telling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import ClassVar

import numpy as np

from standout.core.typing import Codes, Floats, Ints
from standout.study.events.columns import Columns


class RewardStatus(IntEnum):
    """Whether a reward is in the totals; `VOID` ones were, until a change by hand."""

    COUNTED = 0
    WAITING = 1
    VOID = 2
    SURPLUS = 3


class Ledger(Columns):
    """Rewards by their places, from 1 on.

    `ticket` is 0 for a reward that was told without asking, `worker` a place in `workers`,
    `event` the number of the event that told it. `turn` says when it was counted: a reward that
    replaces a void one takes over its turn; 0 for one that is not counted.
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
        """The number that stands for a worker."""
        code = self.codes.get(worker)
        if code is None:
            code = self.codes[worker] = len(self.workers)
            self.workers.append(worker)
        return code

    def add(
        self, time: float, arm: int, value: float, ticket: int, worker: int, event: int, status: int
    ) -> int:
        """Log a reward; its place."""
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
        """Make a counted reward void; the one at the place `new` takes over its turn."""
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
