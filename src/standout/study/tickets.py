"""Tickets: handing out pulls, and what becomes of those that bring no reward."""

from __future__ import annotations

import json
import math
import os
import socket
from functools import cache

import numpy as np

from standout.errors import TicketError, ToldError, shown
from standout.results import Failure, Pending, Ticket
from standout.study import arguments
from standout.study.log.chain import Kind, Step
from standout.study.planner import take_pulls
from standout.study.progress import Progress
from standout.study.storage import open_tickets
from standout.study.storage.database import Connection
from standout.study.storage.log import reward_log, steps
from standout.study.storage.open_tickets import set_status
from standout.study.storage.schema import TicketStatus
from standout.study.storage.stored_study import StoredStudy
from standout.study.storage.study_statements import FIRST_DUE
from standout.study.waiting_rewards import release_held

_PENDING = int(TicketStatus.PENDING)
MOST = 2**62
"""No study gets so far; databases hold no larger numbers."""


def read_pending(connection: Connection, stored: StoredStudy) -> list[Pending]:
    """The tickets that are owed a reward, oldest first."""
    names = stored.progress.arms
    return [
        Pending(number, names[arm], worker, asked, expires)
        for number, arm, worker, asked, expires in open_tickets.pending(connection, stored.key)
    ]


def read_failures(
    connection: Connection, stored: StoredStudy, limit: int, before: int | None
) -> list[Failure]:
    """The newest failures, or those before a `seq`, newest first."""
    names = stored.progress.arms
    first = MOST if before is None else before
    rows = reward_log.newest_failures(connection, stored.key, first, limit)
    return [
        Failure(seq, time, names[arm], ticket, worker, reason)
        for seq, time, arm, ticket, worker, reason in rows
    ]


def ticket_id(ticket: Ticket | int) -> int:
    """The number of a ticket."""
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    if type(number) is int and 1 <= number <= MOST:
        return number
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TicketError(f"{shown(ticket)} is not a ticket")
    if not 1 <= number <= MOST:
        raise TicketError(f"there is no ticket {shown(number)}")
    return int(number)


def worker_name() -> str:
    """Who asks, unless told otherwise: machine and process."""
    return _name_of(os.getpid())


@cache
def _name_of(process: int) -> str:
    return clean(f"{socket.gethostname()}:{process}")


def clean(text: str) -> str:
    """Free text as both databases can store it."""
    return (
        arguments.text("a reason or a worker", text)
        .encode("utf-8", "replace")
        .decode()
        .replace("\x00", "\ufffd")
    )


def hand_out(
    connection: Connection, stored: StoredStudy, count: int, worker: str, lease: float, now: float
) -> list[Ticket]:
    """Expired pulls first, then what the method wants."""
    progress = stored.progress
    if progress.is_stopped:
        return []
    pulls = _take_expired(connection, stored, count, now) if stored.first_due <= now else []
    if not progress.is_stopped:
        taken = take_pulls(progress, count - len(pulls))
        pulls += [(arm, None, live.id) for live, arm in taken]
    first = progress.totals.tickets + 1
    progress.totals.tickets += len(pulls)
    expires = now + lease
    stored.first_due = min(stored.first_due, expires)
    made = []
    rows = []
    for number, (arm, slot, live_id) in enumerate(pulls, start=first):
        made.append(Ticket(number, progress.arms[arm], expires))
        slot = number if slot is None else slot
        row = open_tickets.OpenTicket(number, arm, slot, live_id, _PENDING, now, None, None)
        stored.tickets.hand_out(row, progress.pending.item(arm), progress.held.item(arm))
        rows.append((stored.key, number, arm, slot, live_id, _PENDING, worker, now, expires))
    if rows:
        open_tickets.add(connection, rows)
    return made


def _take_expired(
    connection: Connection, stored: StoredStudy, count: int, now: float
) -> list[tuple[int, int | None, int]]:
    """Pulls whose lease has run out; those of a paused arm are given up."""
    progress = stored.progress
    found = open_tickets.first_overdue(connection, stored.key, now, count)
    stored.tickets.forget()
    over = [row for row in found if row[1] in progress.paused]
    again = [row for row in found if row[1] not in progress.paused]
    set_status(connection, stored.key, [row[0] for row in over], TicketStatus.EXPIRED)
    step = Step(Kind.ASK, now, first=progress.totals.log + 1)
    for _, arm, _, live in over:
        # Pulls that are handed out again are out all the while.
        close_slot(connection, stored, arm, live, step)
    set_status(connection, stored.key, [row[0] for row in again], TicketStatus.EXPIRED)
    due = FIRST_DUE(connection, stored.key)
    stored.first_due = due[0][0] if due else math.inf
    if over:
        progress.settle(step)
        steps.write(connection, stored, step)
    return [(arm, slot, live) for _, arm, slot, live in again]


def close_slot(
    connection: Connection, stored: StoredStudy, arm: int, number: int, step: Step
) -> None:
    """A pull of round `number` will bring no reward: what waited behind it is counted now."""
    progress = stored.progress
    progress.pending[arm] -= 1
    progress.changes.arms.add(arm)
    live = progress.live_round(number)
    if live is not None:
        live.out -= 1
    release_held(connection, stored, arm, step)


def fail(
    connection: Connection, stored: StoredStudy, number: int, reason: str, worker: str, now: float
) -> None:
    """Give a ticket back. Giving it back twice is harmless."""
    progress = stored.progress
    row = open_tickets.find(connection, stored.key, [number]).get(number)
    if row is None or row.status == TicketStatus.HELD:
        known = 1 <= number <= progress.totals.tickets
        if known:
            raise ToldError(f"ticket {number} has been told already")
        raise TicketError(f"no ticket {number}")
    if row.status == TicketStatus.FAILED:
        return
    stored.tickets.forget()
    set_status(connection, stored.key, [number], TicketStatus.FAILED)
    progress.totals.failed += 1
    values = (stored.key, progress.totals.failed, now, row.arm, number, worker, clean(reason))
    reward_log.add_failure(connection, values)
    step = Step(Kind.FAIL, now, detail=list(values[1:]), first=progress.totals.log + 1)
    progress.failures[row.arm] += 1
    progress.streak[row.arm] += 1
    progress.changes.arms.add(row.arm)
    pause_if_often(progress, row.arm, reason)
    if row.status == TicketStatus.PENDING:
        # Else the pull was handed out again or has its reward: nothing to give back.
        live = progress.live_round(row.round)
        if live is not None and row.arm not in progress.paused and not progress.is_stopped:
            live.returned.append(row.arm)
        close_slot(connection, stored, row.arm, row.round, step)
        progress.settle(step)
    steps.write(connection, stored, step)


def pause(
    connection: Connection, stored: StoredStudy, arm: int, why: str, worker: str, now: float
) -> None:
    """Hand out no more pulls of an arm; the same again is no step."""
    progress = stored.progress
    if progress.paused.get(arm) == why:
        return
    step = Step(Kind.PAUSE, now, first=progress.totals.log + 1)
    step.note = json.dumps([arm, why, worker])
    progress.pause(arm, why)
    progress.settle(step)
    steps.write(connection, stored, step)


def resume(
    connection: Connection, stored: StoredStudy, arm: int, why: str, worker: str, now: float
) -> None:
    """Hand out pulls of a paused arm again, and forget its failures; the same again is no step."""
    progress = stored.progress
    if arm not in progress.paused and progress.streak[arm] == 0:
        return
    step = Step(Kind.RESUME, now, first=progress.totals.log + 1)
    step.note = json.dumps([arm, why, worker])
    steps.write(connection, stored, step)
    progress.paused.pop(arm, None)
    progress.streak[arm] = 0
    progress.changes.arms.add(arm)


def pause_if_often(progress: Progress, arm: int, reason: str) -> None:
    """Pause an arm that has failed too often in a row."""
    often = progress.pause_after is not None and progress.streak[arm] >= progress.pause_after
    if often and arm not in progress.paused:
        why = f"{progress.streak[arm]} failures in a row"
        progress.pause(arm, clean(f"{why}: {reason}" if reason else why))
