"""Pulls in progress: the rounds that plan them, and the order in which their rewards count.

If slow measurements have other values than quick ones (timings, for example), the mean of the
rewards so far is biased, and intervals around it do not hold. In an ordered study a reward
therefore waits for the earlier pulls of its arm. The counted rewards are always the beginning of
the arm's own sequence, and the intervals need nothing more.

A pull keeps its place until it is told or given back. The end of its lease does not free the place.
Otherwise slow workers would be left out, and slowness may depend on the value. The next worker who
asks may measure the same pull, too; the first of the two answers, even if late, is the pull's
reward. So no reward waits longer than it takes another worker to ask and answer.

A reward beyond the pulls handed out (without a ticket, or with a ticket whose pull has its reward
already) takes its place behind the pending pulls of its arm. If it counted at once, the slowness of
a pending pull would decide which of the two comes first.

A bet on all means together needs more: the counted rewards must be the beginning of the sequence of
*all* pulls. If each arm stopped just before a slow failure, each would have the beginning of its
own sequence, but the product of all would be too large. With such a bet, all arms share one line.
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
"""Entries of a plan that are examined to find an arm with few pending pulls."""


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
    """A round of the method, from its plan until all its rewards are in.

    `queue` are the entries that are not handed out completely, `left[j]` the pulls left of
    `arms[j]`. `out` pulls are pending; those in `returned` wait to be handed out again.
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
        """Hand out up to `count` planned pulls; return the arm of each, to be noted in `pending`.

        Each is the first entry whose arm has no pending pull or, of the next few, the one with the
        fewest. So a single worker gets the plan's own order, and parallel workers and the tickets
        of one batch get different arms.
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
        """Move the first entry that need not be avoided to the front, if there is one."""
        if not avoid.arms:
            return True
        for _ in range(len(self.queue)):
            if not avoid.has(self.arms[self.queue[0]]):
                return True
            self.queue.rotate(-1)
        return False

    def _turn(self, pending: Ints, avoid: Avoided) -> None:
        """Move the entry with the fewest pending pulls, of the next few, to the front."""
        tries = min(TRIES, len(self.queue))
        arms = [self.arms[self.queue[place]] for place in range(tries)]
        fitting = [place for place in range(tries) if not avoid.has(arms[place])]
        self.queue.rotate(-min(fitting, key=lambda place: pending.item(arms[place])))

    def take_returned(self, pending: Ints, count: int, avoid: Avoided = NO_ARMS) -> Iterator[int]:
        """The same for pulls that were given back, in their order, for any pending pulls."""
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
        """The number of pulls that are planned or given back, and not handed out."""
        return len(self.queue) + len(self.returned)

    def give_up(self) -> None:
        """Drop all plans: the study has stopped."""
        self.queue.clear()
        self.returned.clear()

    def drop_arm(self, arm: int) -> None:
        """Drop the planned pulls of `arm`."""
        self.queue = deque(entry for entry in self.queue if self.arms[entry] != arm)
        self.returned = deque(other for other in self.returned if other != arm)

    def pack(self) -> list[Any]:
        """The rest of the round, as plain values."""
        arms = [self.arms[entry] for entry in self.queue]
        left = [self.left[entry] for entry in self.queue]
        return [self.number, arms, left, self.out, list(self.returned)]


def unpack_round(packed: list[Any]) -> LiveRound:
    """The inverse of `LiveRound.pack`, without completed entries."""
    live = LiveRound(packed[0])
    live.extend(np.array(packed[1], dtype=np.int64), np.array(packed[2], dtype=np.int64))
    live.out, live.returned = packed[3], deque(packed[4])
    return live


Order = tuple[int, int]
"""The position of a reward in its line, and its place in the ledger."""


def order_of_pull(slot: int) -> int:
    """The position of the reward of a pull."""
    return 2 * slot


def order_behind(tickets: int) -> int:
    """The position of a reward without a pull that is told when there are this many tickets."""
    return 2 * tickets + 1


def is_behind(order: int) -> bool:
    """Whether the position is that of a reward without a pull."""
    return order % 2 == 1


class Lines:
    """Pending pulls and waiting rewards, in one line per arm or in one line for all."""

    def __init__(self, is_one: bool) -> None:
        self.is_one = is_one
        self._out: dict[int, OrderedDict[int, None]] = {}
        self._waiting: dict[int, list[Order]] = {}

    def line_of(self, arm: int) -> int:
        """The line in which an arm stands."""
        return 0 if self.is_one else arm

    def enter(self, arm: int, slot: int) -> None:
        """Add a pull that is handed out, behind those before it."""
        self._out.setdefault(self.line_of(arm), OrderedDict())[slot] = None

    def leave(self, arm: int, slot: int) -> None:
        """Remove a pull that was told or given up."""
        line = self.line_of(arm)
        out = self._out[line]
        del out[slot]
        if not out:
            del self._out[line]

    def wait(self, arm: int, order: int, place: int) -> None:
        """Add a recorded reward, which waits until `release` returns it."""
        heappush(self._waiting.setdefault(self.line_of(arm), []), (order, place))

    def release(self, arm: int) -> list[Order]:
        """The rewards in an arm's line before its first pending pull, in order."""
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
        """The first pending pull of a line."""
        out = self._out.get(line)
        return None if out is None else next(iter(out))

    def first_waiting(self) -> int | None:
        """The first place of the ledger whose reward waits."""
        return min((place for line in self._waiting.values() for _, place in line), default=None)

    def waiting(self) -> list[tuple[int, list[Order]]]:
        """Each line in which rewards wait, with them in their order."""
        return [(line, sorted(waiting)) for line, waiting in sorted(self._waiting.items())]
