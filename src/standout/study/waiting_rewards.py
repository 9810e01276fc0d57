"""Which told rewards of an arm may be counted, and which have to wait.

Where slow measurements have other values than quick ones (timings, say), the
mean of those that happen to be in is biased, and intervals around it are not
what they claim. In an ordered study a reward therefore waits for the earlier
pulls of its arm: what is counted is always the first so many of the arm's own
sequence, and that is all the intervals ask for.

A pull keeps its place until it is told or given back. The end of its lease does
not free the place: who is slow would otherwise be left out, and slowness may go
with the value. It only lets the next to ask measure the same pull, too; the
first answer of the two, however late, is the pull's reward. So nothing waits
for longer than somebody asks and answers, and status says what waits for what.

What is told beyond the pulls handed out (without asking, or of a ticket whose
pull has its reward already) takes its place behind the pulls of its arm that
are out at that moment: were it counted at once, whether it comes before or
after such a pull would depend on how slow that is.

A bet on all means together asks for more: what is counted must be the first so many
of *all* pulls. If each arm stood just before a slow failure, each would be the first so
many of its own sequence, and the product of all would be too large. There all arms
stand in one line (`Progress.is_one_line`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from standout.study.log.chain import Step
from standout.study.storage import open_tickets
from standout.study.storage.database import Connection
from standout.study.storage.open_tickets import NO_SLOT
from standout.study.storage.stored_study import StoredStudy


class Waiting(NamedTuple):
    """A told reward that is not counted yet; `logged` is its place in the log."""

    order: int
    logged: int
    ticket: int
    value: float

    @property
    def is_extra(self) -> bool:
        """Whether it fills no pull that was handed out."""
        return self.ticket < 0


def order_of(slot: int, ticket: int) -> int:
    """Where a told reward stands among the pulls of its arm.

    One that fills no pull (its row has a negative number) comes behind the
    last pull that had been handed out when it was told.
    """
    return 2 * slot + (ticket < 0)


def first_blocks(
    connection: Connection, stored: StoredStudy, filled: Mapping[int, Collection[int]]
) -> dict[int, int]:
    """Per arm of `filled`, the first pull that is out; `NO_SLOT` where there is none.

    The pulls in `filled` count as told, though their tickets are still there. In one line all
    arms have the same first pull, and those of which rewards wait are among them.
    """
    pending = stored.progress.pending
    if stored.progress.is_one_line:
        told = {slot for slots in filled.values() for slot in slots}
        out = open_tickets.first_of_all.column(connection, stored.key, len(told) + 1)
        first = next((slot for slot in out if slot not in told), NO_SLOT)
        arms = filled.keys() | np.flatnonzero(stored.progress.held).tolist()
        return dict.fromkeys(sorted(arms), first)
    # Of one more than were told, one at least is still out.
    wanted = [(arm, len(slots) + 1) for arm, slots in filled.items() if pending.item(arm)]
    if not wanted:
        return dict.fromkeys(filled, NO_SLOT)
    found = open_tickets.first_pending(connection, stored.key, wanted, stored.tickets)
    return {
        arm: next((slot for slot in found.get(arm, ()) if slot not in slots), NO_SLOT)
        for arm, slots in filled.items()
    }


def read_held(
    connection: Connection, stored: StoredStudy, blocks: Mapping[int, int]
) -> dict[int, list[Waiting]]:
    """Per arm, the told rewards that wait and come before its first pull that is out."""
    waiting = stored.progress.held
    wanted = [(arm, slot) for arm, slot in blocks.items() if waiting.item(arm)]
    if not wanted:
        return {}
    if stored.progress.is_one_line:
        rows = open_tickets.all_held_before(connection, stored.key, wanted[0][1])
    else:
        rows = open_tickets.held_before(connection, stored.key, wanted, stored.tickets)
    found: dict[int, list[Waiting]] = {}
    for arm, ticket, slot, value, logged in rows:
        found.setdefault(arm, []).append(Waiting(order_of(slot, ticket), logged, ticket, value))
    return found


def release_held(connection: Connection, stored: StoredStudy, arm: int, step: Step) -> None:
    """After a pull of `arm` was given up: count what had waited for it."""
    progress = stored.progress
    if not (progress.held.any() if progress.is_one_line else progress.held[arm]):
        return
    blocks = first_blocks(connection, stored, {arm: ()})
    held = read_held(connection, stored, blocks)
    released = sorted((one, other) for other, waiting in held.items() for one in waiting)
    if released:
        progress.observe([other for _, other in released], [one.value for one, _ in released])
        for other, waiting in held.items():
            progress.held[other] -= len(waiting)
        step.counted.extend(one.logged for one, _ in released)
        step.is_due |= any(one.is_extra for one, _ in released)
        open_tickets.drop(connection, stored.key, [one.ticket for one, _ in released])
