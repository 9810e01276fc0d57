"""Which told rewards may be counted, and which have to wait.

Where slow measurements have other values than quick ones (timings, say), the mean of those that
happen to be in is biased, and intervals around it are not what they claim. In an ordered
study a reward therefore waits for the earlier pulls of its arm: what is counted is always the
first so many of the arm's own sequence, and that is all the intervals ask for.

A pull keeps its place until it is told or given back. The end of its lease does not free the
place: who is slow would otherwise be left out, and slowness may go with the value. It only lets
the next to ask measure the same pull, too; the first answer of the two, however late, is the
pull's reward. So nothing waits for longer than somebody asks and answers.

What is told beyond the pulls handed out (without asking, or of a ticket whose pull has its reward
already) takes its place behind the pulls of its arm that are out at that moment: were it counted
at once, whether it comes before or after such a pull would depend on how slow that is.

A bet on all means together asks for more: what is counted must be the first so many of *all*
pulls. If each arm stood just before a slow failure, each would be the first so many of its own
sequence, and the product of all would be too large. There all arms stand in one line.
"""

from __future__ import annotations

from collections import OrderedDict
from heapq import heappop, heappush

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
