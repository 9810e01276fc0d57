"""Tickets: handing out pulls, and what becomes of those that bring no reward."""

from __future__ import annotations

import json
import math
import os
import socket

import numpy as np

from standout.errors import TicketError, ToldError, shown
from standout.results import Failure, Pending, Ticket
from standout.study import numbers
from standout.study.chain import Kind, Step
from standout.study.desk import Desk
from standout.study.order import release_held
from standout.study.planner import take_pulls
from standout.study.storage import open_tickets, reward_log, steps, ticket_list
from standout.study.storage.database import Connection
from standout.study.storage.mirror import Ledger
from standout.study.storage.mirror_statements import FIRST_DUE
from standout.study.storage.open_tickets import set_status
from standout.study.storage.schema import TicketStatus

_PENDING = int(TicketStatus.PENDING)
MOST = 2**62
"""No study gets so far; databases hold no larger numbers."""


def read_pending(connection: Connection, ledger: Ledger) -> list[Pending]:
    """The tickets that are owed a reward, oldest first."""
    names = ledger.desk.arms
    return [
        Pending(number, names[arm], worker, asked, expires)
        for number, arm, worker, asked, expires in ticket_list.pending(connection, ledger.key)
    ]


def read_failures(
    connection: Connection, ledger: Ledger, limit: int, before: int | None
) -> list[Failure]:
    """The newest failures, or those before a `seq`, newest first."""
    names = ledger.desk.arms
    rows = reward_log.newest_failures(
        connection, ledger.key, limit, MOST if before is None else before
    )
    return [
        Failure(seq, time, names[arm], ticket, worker, reason)
        for seq, time, arm, ticket, worker, reason in rows
    ]


def ticket_id(ticket: Ticket | int) -> int:
    """The number of a ticket."""
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TicketError(f"{shown(ticket)} is not a ticket")
    if not 1 <= number <= MOST:
        raise TicketError(f"there is no ticket {shown(number)}")
    return int(number)


def worker_name() -> str:
    """Who asks, unless told otherwise: machine and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def clean(text: str) -> str:
    """Free text as both databases can store it."""
    return (
        numbers.text("a reason or a worker", text)
        .encode("utf-8", "replace")
        .decode()
        .replace("\x00", "\ufffd")
    )


def hand_out(
    connection: Connection, ledger: Ledger, count: int, worker: str, lease: float, now: float
) -> list[Ticket]:
    """Expired pulls first, then what the method wants."""
    desk = ledger.desk
    if desk.is_stopped:
        return []
    pulls = _take_expired(connection, ledger, count, now) if ledger.first_due <= now else []
    if not desk.is_stopped:
        taken = take_pulls(desk, count - len(pulls))
        pulls += [(arm, None, live.id) for live, arm in taken]
    first = desk.totals.tickets + 1
    desk.totals.tickets += len(pulls)
    expires = now + lease
    ledger.first_due = min(ledger.first_due, expires)
    made = []
    rows = []
    for number, (arm, slot, live_id) in enumerate(pulls, start=first):
        made.append(Ticket(number, desk.arms[arm], expires))
        slot = number if slot is None else slot
        rows.append((ledger.key, number, arm, slot, live_id, _PENDING, worker, now, expires))
    if rows:
        open_tickets.add(connection, rows)
    return made


def _take_expired(
    connection: Connection, ledger: Ledger, count: int, now: float
) -> list[tuple[int, int | None, int]]:
    """Pulls whose lease has run out; those of a paused arm are given up."""
    desk = ledger.desk
    found = ticket_list.first_overdue(connection, ledger.key, now, count)
    set_status(connection, ledger.key, [row[0] for row in found], TicketStatus.EXPIRED)
    due = FIRST_DUE(connection, ledger.key)
    ledger.first_due = due[0][0] if due else math.inf
    again: list[tuple[int, int | None, int]] = []
    step = Step(Kind.ASK, now, first=desk.totals.log + 1)
    for _, arm, slot, live in found:
        if arm in desk.paused:
            close_slot(connection, ledger, arm, live, step)
        else:
            again.append((arm, slot, live))
    if len(again) < len(found):
        desk.settle(step)
        steps.write(connection, ledger, step)
    return again


def close_slot(connection: Connection, ledger: Ledger, arm: int, number: int, step: Step) -> None:
    """A pull of round `number` will bring no reward: what waited behind it is counted now."""
    desk = ledger.desk
    desk.pending[arm] -= 1
    desk.changes.arms.add(arm)
    live = desk.live_round(number)
    if live is not None:
        live.out -= 1
    release_held(connection, ledger, arm, step)


def fail(
    connection: Connection, ledger: Ledger, number: int, reason: str, worker: str, now: float
) -> None:
    """Give a ticket back. Giving it back twice is harmless."""
    desk = ledger.desk
    row = open_tickets.find(connection, ledger.key, [number]).get(number)
    if row is None or row.status == TicketStatus.HELD:
        known = 1 <= number <= desk.totals.tickets
        if known:
            raise ToldError(f"ticket {number} has been told already")
        raise TicketError(f"no ticket {number}")
    if row.status == TicketStatus.FAILED:
        return
    set_status(connection, ledger.key, [number], TicketStatus.FAILED)
    desk.totals.failed += 1
    values = (ledger.key, desk.totals.failed, now, row.arm, number, worker, clean(reason))
    reward_log.add_failure(connection, values)
    step = Step(Kind.FAIL, now, detail=list(values[1:]), first=desk.totals.log + 1)
    desk.failures[row.arm] += 1
    desk.streak[row.arm] += 1
    desk.changes.arms.add(row.arm)
    pause_if_often(desk, row.arm, reason)
    if row.status == TicketStatus.PENDING:
        # Else the pull was handed out again or has its reward: nothing to give back.
        live = desk.live_round(row.round)
        if live is not None and row.arm not in desk.paused and not desk.is_stopped:
            live.returned.append(row.arm)
        close_slot(connection, ledger, row.arm, row.round, step)
        desk.settle(step)
    steps.write(connection, ledger, step)


def pause(connection: Connection, ledger: Ledger, arm: int, why: str, now: float) -> None:
    """Hand out no more pulls of an arm."""
    desk = ledger.desk
    step = Step(Kind.PAUSE, now, first=desk.totals.log + 1)
    step.note = json.dumps([arm, why])
    desk.pause(arm, why)
    desk.settle(step)
    steps.write(connection, ledger, step)


def resume(connection: Connection, ledger: Ledger, arm: int, now: float) -> None:
    """Hand out pulls of a paused arm again."""
    desk = ledger.desk
    step = Step(Kind.RESUME, now, first=desk.totals.log + 1)
    step.note = json.dumps([arm])
    steps.write(connection, ledger, step)
    desk.paused.pop(arm, None)
    desk.streak[arm] = 0
    desk.changes.arms.add(arm)


def pause_if_often(desk: Desk, arm: int, reason: str) -> None:
    """Pause an arm that has failed too often in a row."""
    often = desk.pause_after is not None and desk.streak[arm] >= desk.pause_after
    if often and arm not in desk.paused:
        why = f"{desk.streak[arm]} failures in a row"
        desk.pause(arm, clean(f"{why}: {reason}" if reason else why))
