"""Rounds under way: which pulls are planned, handed out, given back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from standout.core.typing import Ints
from standout.study.events.tickets import NO_ARMS, Avoided

TRIES = 8
"""Entries of a plan that are looked at to find an arm with few pulls out."""


_COUNTER = 1
"""The word of the generator's counter that has the number of the round."""


class RoundChance:
    """Random choices that depend on a seed and the number of a round."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.Philox(key=seed)
        self._begin: Any = self._bits.state
        self._rng = np.random.Generator(self._bits)

    def of_round(self, number: int) -> np.random.Generator:
        """The generator as it stands at the beginning of a round."""
        self._begin["state"]["counter"][_COUNTER] = number
        self._bits.state = self._begin
        return self._rng


class LiveRound:
    """A round of the method from its plan until all its rewards are in.

    `queue` are the entries that are not handed out in full, `left[j]` how many pulls of
    `arms[j]`; `out` pulls are owed a reward now, those in `returned` wait to be handed out anew.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.arms: list[int] = []
        self.left: list[int] = []
        self.queue: deque[int] = deque()
        self.out = 0
        self.returned: deque[int] = deque()

    def extend(self, arms: Ints, amounts: Ints) -> None:
        """Plan more pulls."""
        first = len(self.arms)
        self.arms += arms.tolist()
        self.left += amounts.tolist()
        self.queue.extend(entry for entry in range(first, len(self.arms)) if self.left[entry])

    @property
    def is_over(self) -> bool:
        """Whether all rewards are in."""
        return not (self.out or self.queue or self.returned)

    def take_planned(self, pending: Ints, count: int, avoid: Avoided = NO_ARMS) -> Iterator[int]:
        """Hand out up to `count` planned pulls; the arm of each, to be noted in `pending`.

        Each is the first whose arm has nothing pending, or of the next few the one with least:
        one worker alone gets the plan's own order; workers side by side, and the tickets of
        one batch, get different arms.
        """
        queue = self.queue
        for _ in range(count):
            if not queue or not self._bring_forward(avoid):
                return
            if pending.item(self.arms[queue[0]]):
                self._turn(pending, avoid)
            entry = queue[0]
            self.left[entry] -= 1
            if not self.left[entry]:
                queue.popleft()
            self.out += 1
            yield self.arms[entry]

    def _bring_forward(self, avoid: Avoided) -> bool:
        """Bring the first entry that is not to be avoided to the front, if there is one."""
        if not avoid.arms:
            return True
        for _ in range(len(self.queue)):
            if not avoid.has(self.arms[self.queue[0]]):
                return True
            self.queue.rotate(-1)
        return False

    def _turn(self, pending: Ints, avoid: Avoided) -> None:
        """Bring the entry with the fewest pending pulls to the front, of the next few."""
        tries = min(TRIES, len(self.queue))
        arms = [self.arms[self.queue[place]] for place in range(tries)]
        fitting = [place for place in range(tries) if not avoid.has(arms[place])]
        self.queue.rotate(-min(fitting, key=lambda place: pending.item(arms[place])))

    def take_returned(self, count: int, avoid: Avoided = NO_ARMS) -> Iterator[int]:
        """Hand out up to `count` pulls that were given back; the arm of each."""
        for _ in range(len(self.returned)):
            if count < 1:
                return
            arm = self.returned.popleft()
            if avoid.has(arm):
                self.returned.append(arm)
                continue
            count -= 1
            self.out += 1
            yield arm

    @property
    def waiting(self) -> int:
        """How many pulls are planned or given back, and not handed out."""
        return len(self.queue) + len(self.returned)

    def give_up(self) -> None:
        """Plan no more: the study has stopped."""
        self.queue.clear()
        self.returned.clear()

    def drop_arm(self, arm: int) -> None:
        """Plan no more pulls of `arm`."""
        self.queue = deque(entry for entry in self.queue if self.arms[entry] != arm)
        self.returned = deque(other for other in self.returned if other != arm)

    def pack(self) -> list[Any]:
        """What is left of it, as plain values."""
        arms = [self.arms[entry] for entry in self.queue]
        left = [self.left[entry] for entry in self.queue]
        return [self.number, arms, left, self.out, list(self.returned)]


def unpack_round(packed: list[Any]) -> LiveRound:
    """The reverse of `LiveRound.pack`; what was handed out in full is gone."""
    live = LiveRound(packed[0])
    live.extend(np.array(packed[1], dtype=np.int64), np.array(packed[2], dtype=np.int64))
    live.out, live.returned = packed[3], deque(packed[4])
    return live
