"""Pulls under way: the rounds that plan them, and the order in which their rewards count.

Where slow measurements have other values than quick ones (timings, say), the mean of those that
happen to be in is biased, and intervals around it are not what they claim. In an ordered
study a reward therefore waits for the earlier pulls of its arm: what is counted is always the
first so many of the arm's own sequence, and that is all the intervals ask for.

A pull keeps its place until it is told or given back. The end of its lease does not free the
place. Otherwise slow workers would be left out, and slowness may depend on the value. The next
worker who asks may measure the same pull, too; the first of the two answers, even if late, is the
pull's reward. So no reward waits longer than it takes another worker to ask and answer.

What is told beyond the pulls handed out (without asking, or of a ticket whose pull has its reward
already) takes its place behind the pulls of its arm that are out at that moment: were it counted
at once, whether it comes before or after such a pull would depend on how slow that is.

A bet on all means together asks for more: what is counted must be the first so many of *all*
pulls. If each arm stood just before a slow failure, each would be the first so many of its own
sequence, and the product of all would be too large. There all arms stand in one line.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np

from standout.core.typing import Ints
from standout.study.events.tables import NO_ARMS, Avoided

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
        """The generator in its state at the beginning of a round."""
        self._begin["state"]["counter"][_COUNTER] = number
        self._bits.state = self._begin
        return self._rng


class LiveRound:
    """A round of the method from its plan until all its rewards are in.

    `queue` are the entries that are not handed out in full, `left[j]` how many pulls of
    `arms[j]`; `out` pulls are owed a reward now, those in `returned` wait to be handed out again.
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


Order = tuple[int, int]
"""Where a reward stands in its line, and its place in the ledger."""


def order_of_pull(slot: int) -> int:
    """Where the reward of a pull stands."""
    return 2 * slot


def order_behind(tickets: int) -> int:
    """Where a reward of no pull stands that is told when there are so many tickets."""
    return 2 * tickets + 1


def is_behind(order: int) -> bool:
    """Whether the reward that stands there is of no pull."""
    return order % 2 == 1


class Lines:
    """The pulls that are out and the rewards that wait, in a line per arm or in one for all."""

    def __init__(self, is_one: bool) -> None:
        self.is_one = is_one
        self._out: dict[int, OrderedDict[int, None]] = {}
        self._waiting: dict[int, list[Order]] = {}

    def line_of(self, arm: int) -> int:
        """The line in which an arm stands."""
        return 0 if self.is_one else arm

    def enter(self, arm: int, slot: int) -> None:
        """A pull is handed out: it stands behind those before it."""
        self._out.setdefault(self.line_of(arm), OrderedDict())[slot] = None

    def leave(self, arm: int, slot: int) -> None:
        """A pull was told or given up."""
        line = self.line_of(arm)
        out = self._out[line]
        del out[slot]
        if not out:
            del self._out[line]

    def wait(self, arm: int, order: int, place: int) -> None:
        """A reward was told: it waits until `release` gives it."""
        heappush(self._waiting.setdefault(self.line_of(arm), []), (order, place))

    def release(self, arm: int) -> list[Order]:
        """The rewards in an arm's line before its first pull that is out, in their order."""
        line = self.line_of(arm)
        waiting = self._waiting.get(line)
        if waiting is None:
            return []
        first = self.first_out(line)
        found = []
        while waiting and (first is None or waiting[0][0] < order_of_pull(first)):
            found.append(heappop(waiting))
        if not waiting:
            del self._waiting[line]
        return found

    def first_out(self, line: int) -> int | None:
        """The first pull of a line that is out."""
        out = self._out.get(line)
        return None if out is None else next(iter(out))

    def first_waiting(self) -> int | None:
        """The first place of the ledger that waits."""
        return min((place for line in self._waiting.values() for _, place in line), default=None)

    def waiting(self) -> list[tuple[int, list[Order]]]:
        """Each line in which rewards wait, with them in their order."""
        return [(line, sorted(waiting)) for line, waiting in sorted(self._waiting.items())]
