"""The table of tickets: each look costs the same however long it is.

Closed tickets stay in the table, since a late answer may still come, and are in
no index but that of their numbers. So every statement here either names a ticket
or names its `status`, in words that let a partial index serve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from standout.core.typing import Ints
from standout.study.storage.connection import Connection, Row
from standout.study.storage.schema import TicketStatus
from standout.study.storage.statements import Statement, insert_columns

PENDING, HELD = int(TicketStatus.PENDING), int(TicketStatus.HELD)
NO_SLOT = 2**62
"""Behind every pull that a study hands out."""
_AHEAD = 64
"""The most tickets that are looked up ahead."""
_MOST_HELD = 64
"""The most rewards of an arm that wait and are looked up with its tickets."""
_KEPT = 256
"""The most tickets, and arms, of which something is remembered."""
_DENSE = 4
"""Tickets are read as a range if that reads at most so many times what was asked for."""
Pair = tuple[int, int]


class OpenTicket(NamedTuple):
    """A row of the table of tickets."""

    id: int
    arm: int
    slot: int
    round: int
    status: int
    asked: float
    value: float | None
    logged: int | None


_SELECT = f"SELECT {', '.join(OpenTicket._fields)} FROM standout_tickets WHERE study = ? "
_ONE = Statement(_SELECT + "AND id = ?")
_RANGE = Statement(_SELECT + "AND id BETWEEN ? AND ?")
_ANY = Statement(_SELECT + "AND id = ANY(?)")
# `+ 0`: SQLite would go by `status <= 1` instead of the status, and so through all that is held.
_OPEN = (
    "FROM standout_tickets INDEXED BY standout_tickets_open WHERE study = ? AND status + 0 <= 1 "
)
_IN_SLOT = Statement(f"SELECT slot, id {_OPEN} AND arm = ? AND slot = ? AND status = 0")
_IN_SLOTS = Statement(
    "SELECT t.slot, t.id FROM unnest(?::integer[], ?::bigint[]) AS w(arm, slot) "
    "JOIN standout_tickets t ON t.study = ? AND t.arm = w.arm AND t.slot = w.slot AND t.status = 0"
)
_FIRST = Statement(f"SELECT arm, slot {_OPEN} AND arm = ? AND status = 0 ORDER BY slot LIMIT ?")
_BESIDE = 2
"""For each that is told, one, and the next."""
_FIRST_BESIDE = Statement(
    f"SELECT arm, slot {_OPEN} AND arm = (SELECT arm FROM standout_tickets WHERE study = ? "
    "AND id = ?) AND status = 0 ORDER BY slot LIMIT ?"
)
_FIRSTS_BESIDE = Statement(
    "SELECT f.arm, f.slot FROM (SELECT DISTINCT arm FROM standout_tickets WHERE study = ? "
    "AND id = ANY(?)) AS w CROSS JOIN LATERAL (SELECT arm, slot FROM standout_tickets t "
    "WHERE t.study = ? AND t.arm = w.arm AND t.status = 0 ORDER BY t.slot LIMIT ?) f "
    "ORDER BY f.arm, f.slot"
)
_HELD_BESIDE = Statement(
    "SELECT f.arm, f.id, f.slot, f.value, f.logged FROM (SELECT DISTINCT arm FROM standout_tickets "
    "WHERE study = ? AND id = ANY(?)) AS w CROSS JOIN LATERAL (SELECT arm, id, slot, value, logged "
    "FROM standout_tickets t WHERE t.study = ? AND t.arm = w.arm AND t.status = 1 "
    "ORDER BY t.slot LIMIT ?) f"
)
_FIRSTS = Statement(
    "SELECT f.arm, f.slot FROM unnest(?::integer[], ?::bigint[]) AS w(arm, most) "
    "CROSS JOIN LATERAL (SELECT arm, slot FROM standout_tickets t WHERE t.study = ? "
    "AND t.arm = w.arm AND t.status = 0 ORDER BY t.slot LIMIT w.most) f"
)
_HELD_BEFORE = Statement(
    f"SELECT arm, id, slot, value, logged {_OPEN} AND arm = ? AND status = 1 AND slot < ?"
)
_ALL_HELD_BEFORE = Statement(
    "SELECT t.arm, t.id, t.slot, t.value, t.logged "
    "FROM unnest(?::integer[], ?::bigint[]) AS w(arm, slot) JOIN standout_tickets t "
    "ON t.study = ? AND t.arm = w.arm AND t.status = 1 AND t.slot < w.slot"
)
first_of_all = Statement(
    "SELECT slot FROM standout_tickets INDEXED BY standout_tickets_due WHERE study = ? "
    "AND status = 0 ORDER BY slot LIMIT ?"
)
"""The first slots that are out, of whichever arms, in order."""
all_held_before = Statement(
    f"SELECT arm, id, slot, value, logged {_OPEN} AND status = 1 AND slot < ?"
)
"""As `held_before`, of all arms before one slot."""
_DELETE = Statement("DELETE FROM standout_tickets WHERE study = ? AND id = ?")
_HOLD = Statement(
    "UPDATE standout_tickets SET status = 1, value = ?, logged = ? WHERE study = ? AND id = ?"
)
_SET_STATUS = Statement("UPDATE standout_tickets SET status = ? WHERE study = ? AND id = ?")
_SET_EXPIRY = Statement(
    "UPDATE standout_tickets SET expires = ? WHERE study = ? AND id = ? AND status = 0"
)
WAITING_COLUMNS = (
    "study", "id", "arm", "slot", "round", "status", "worker", "asked", "expires", "value",
    "logged",
)  # fmt: skip
_DROP_TOLD = Statement(
    "DELETE FROM standout_tickets WHERE study = ? AND status <> 1 AND id IN "
    "(SELECT ticket FROM standout_rewards WHERE study = ? AND seq > ?)"
)
_NEW_COLUMNS = WAITING_COLUMNS[:-2]
_OUT = "FROM standout_tickets INDEXED BY standout_tickets_due WHERE study = ? AND status = 0 "
_HELD_BY = (
    "FROM standout_tickets INDEXED BY standout_tickets_holder "
    "WHERE study = ? AND status = 0 AND worker = ? "
)
_OVERDUE = _OUT + "AND expires <= ? "
count_overdue = Statement("SELECT count(*) " + _OVERDUE)
"""How many leases have run out at a moment."""
first_overdue = Statement(f"SELECT id, arm, slot, round {_OVERDUE} ORDER BY expires, id LIMIT ?")
"""Tickets whose leases have run out, the longest first: id, arm, slot, round."""
pending = Statement(f"SELECT id, arm, worker, asked, expires {_OUT} ORDER BY id")
"""All that are out, oldest first: id, arm, worker, asked, expires."""
pending_by_slot = Statement(f"SELECT arm, id, worker, expires {_OUT} ORDER BY slot")
"""All that are out, in the order of their pulls: arm, id, worker, expires."""
held_by = Statement(f"SELECT id, arm, expires {_HELD_BY} AND expires > ? ORDER BY id")
"""What a worker has, with leases beyond a moment, oldest first: id, arm, expires."""
given_at = Statement(f"SELECT id, arm, expires {_HELD_BY} AND asked = ? ORDER BY id")
"""What a worker was given at a moment and still has: id, arm, expires."""
count_of_prefix = Statement(
    f"SELECT count(*) {_OUT} AND expires > ? AND instr(worker, ?) = 1",
    f"SELECT count(*) {_OUT} AND expires > ? AND starts_with(worker, ?)",
)
"""How many are out, with leases beyond a moment, with workers whose names begin with a text."""
holder = Statement("SELECT worker FROM standout_tickets WHERE study = ? AND id = ?")
"""The worker of a ticket that is not told."""
count_by_status = Statement(
    "SELECT status, count(*) FROM standout_tickets WHERE study = ? GROUP BY status"
)
"""Each `TicketStatus`, and how many tickets have it."""


class Looked:
    """Tickets that were looked up when a transaction began, or handed out; each to be used once.

    With each the first pulls of its arm that are out, and the told rewards of its arm that wait:
    to ask for them later would be one more round trip per ticket, while others wait. What this
    process does to them has to be said here, since the tables are not looked at again until
    somebody else has changed the study (on SQLite, where a look is cheap: in the next transaction).
    """

    def __init__(self) -> None:
        self._found: dict[int, list[Row]] = {}
        self._out: dict[int, list[int]] = {}
        """By arm, the first slots that are out, in order."""
        self._whole: set[int] = set()
        """The arms of which all are there."""
        self._held: dict[int, list[Row]] = {}
        """By arm, all that is told and waits, as `held_before` gives it."""

    def forget(self) -> None:
        """Another transaction; or tickets have changed that belong to others."""
        self._found.clear()
        self._out.clear()
        self._whole.clear()
        self._held.clear()

    def hand_out(self, ticket: OpenTicket, out: int, held: int) -> None:
        """A new ticket, of an arm of which so many pulls are `out` now and so many rewards wait."""
        if max(len(self._found), len(self._out)) >= _KEPT:
            self.forget()
        arm = ticket.arm
        self._found[ticket.id] = [ticket]
        if out == 1:
            self._out[arm] = [ticket.slot]
            self._whole.add(arm)
        elif arm in self._whole:
            self._out[arm].append(ticket.slot)
        if not held:
            self._held.setdefault(arm, [])

    def knows(self, numbers: Sequence[int]) -> bool:
        """Whether nothing need be looked up to tell of these."""
        rows = [self._found.get(number) for number in numbers]
        return all(
            found and found[0][1] in self._whole and found[0][1] in self._held for found in rows
        )

    def tell(
        self, filled: Mapping[int, Collection[int]], changed: Iterable[int], waits: Iterable[Row]
    ) -> None:
        """By arm, slots that are no longer out; tickets that are told, cancelled or counted now.

        And what waits from now on, as `held_before` gives it.
        """
        for arm in filled:
            if arm in self._out:
                self._out[arm] = [slot for slot in self._out[arm] if slot not in filled[arm]]
        gone = set(changed)
        for number in gone:
            self._found.pop(number, None)
        for arm, rows in self._held.items():
            if rows:
                self._held[arm] = [row for row in rows if row[1] not in gone]
        for row in waits:
            if row[0] in self._held:
                self._held[row[0]].append(row)

    def calls(self, key: int, numbers: Sequence[int], *, held: bool) -> list[tuple[Statement, Row]]:
        """The statements that look up some tickets; `held`: rewards wait, of whichever arms."""
        if not 1 <= len(numbers) <= _AHEAD:
            return []
        most, some = _BESIDE * len(numbers), list(numbers)
        waiting = [(_HELD_BESIDE, (key, some, key, _MOST_HELD))] if held else []
        if len(numbers) == 1:
            beside = (_FIRST_BESIDE, (key, key, numbers[0], most))
            return [(_ONE, (key, numbers[0])), beside, *waiting]
        return [(_ANY, (key, some)), (_FIRSTS_BESIDE, (key, some, key, most)), *waiting]

    def remember(self, numbers: Sequence[int], found: Sequence[list[Row]], waiting: Ints) -> None:
        """What came of `calls`; by arm, how many rewards are `waiting`."""
        self.forget()
        if not found:
            return
        rows, out, *held = found
        self._found = {number: [] for number in numbers}
        for row in rows:
            self._found[row[0]] = [row]
            self._out[row[1]] = []
        for arm, slot in out:
            self._out[arm].append(slot)
        most = _BESIDE * len(numbers)
        self._whole = {arm for arm, slots in self._out.items() if len(slots) < most}
        by_arm: dict[int, list[Row]] = {arm: [] for arm in self._out}
        for row in chain(*held):
            by_arm[row[0]].append(row)
        self._held = {arm: rows for arm, rows in by_arm.items() if len(rows) == waiting[arm]}

    def take(self, number: int) -> list[Row] | None:
        """Its row, in a list; None if it was not looked up, or may have changed since."""
        return self._found.pop(number, None)

    def first_out(self, pairs: Sequence[Pair]) -> dict[int, list[int]] | None:
        """By arm, the first slots that are out and how many at most; None if that is not known."""
        if all(arm in self._whole or len(self._out.get(arm, ())) >= most for arm, most in pairs):
            return {arm: self._out[arm][:most] for arm, most in pairs}
        return None

    def held_before(self, pairs: Sequence[Pair]) -> list[Row] | None:
        """As the function of that name; None if that is not known."""
        if not all(arm in self._held for arm, _ in pairs):
            return None
        return [row for arm, slot in pairs for row in self._held[arm] if row[2] < slot]


def find(
    connection: Connection, key: int, numbers: Sequence[int], looked: Looked | None = None
) -> dict[int, OpenTicket]:
    """The rows of these tickets, as far as they are in the table."""
    if not numbers:
        return {}
    if len(numbers) == 1:
        kept = None if looked is None else looked.take(numbers[0])
        rows = _ONE(connection, key, numbers[0]) if kept is None else kept
    elif (last := max(numbers)) - (first := min(numbers)) < _DENSE * len(numbers):
        rows = _RANGE(connection, key, first, last)
    elif connection.is_sqlite:
        rows = [row for number in numbers for row in _ONE(connection, key, number)]
    else:
        rows = _ANY(connection, key, list(numbers))
    return {row[0]: OpenTicket._make(row) for row in rows}


def _per_arm(
    connection: Connection, key: int, pairs: Sequence[Pair], one: Statement, many: Statement
) -> list[Row]:
    """The rows of each pair: by one statement for all on PostgreSQL, where asking takes long."""
    if not pairs:
        return []
    if connection.is_sqlite or len(pairs) == 1:
        return [row for arm, value in pairs for row in one(connection, key, arm, value)]
    arms, values = zip(*pairs, strict=True)
    return many(connection, list(arms), list(values), key)


def pending_in(connection: Connection, key: int, pairs: Sequence[Pair]) -> dict[int, int]:
    """Slot to pending ticket, for pairs of an arm and a slot."""
    return dict(_per_arm(connection, key, pairs, _IN_SLOT, _IN_SLOTS))


def first_pending(
    connection: Connection, key: int, pairs: Sequence[Pair], looked: Looked
) -> dict[int, list[int]]:
    """The first slots that are out, in order, for pairs of an arm and how many at most."""
    known = looked.first_out(pairs)
    if known is not None:
        return known
    found: dict[int, list[int]] = {}
    for arm, slot in _per_arm(connection, key, pairs, _FIRST, _FIRSTS):
        found.setdefault(arm, []).append(slot)
    return {arm: sorted(slots) for arm, slots in found.items()}


def held_before(
    connection: Connection, key: int, pairs: Sequence[Pair], looked: Looked
) -> list[Row]:
    """Told rewards that wait (arm, ticket, slot, value, place), for pairs of an arm and a slot."""
    known = looked.held_before(pairs)
    return (
        known
        if known is not None
        else _per_arm(connection, key, pairs, _HELD_BEFORE, _ALL_HELD_BEFORE)
    )


def drop(connection: Connection, key: int, numbers: Iterable[int]) -> None:
    """Remove tickets whose rewards are counted: the log has them."""
    rows = [(key, number) for number in numbers]
    if rows:
        _DELETE.many(connection, rows)


def hold(connection: Connection, key: int, told: Iterable[tuple[float, int, int]]) -> None:
    """Let tickets wait: value, place in the log and number of each."""
    rows = [(value, place, key, number) for value, place, number in told]
    if rows:
        _HOLD.many(connection, rows)


def set_status(
    connection: Connection, key: int, numbers: Sequence[int], status: TicketStatus
) -> None:
    """Move tickets to another status."""
    if numbers:
        _SET_STATUS.many(connection, [(int(status), key, number) for number in numbers])


def set_expiry(connection: Connection, key: int, numbers: Sequence[int], until: float) -> None:
    """Let leases end at another moment, as far as the tickets are pending."""
    _SET_EXPIRY.many(connection, [(until, key, number) for number in numbers])


def add(connection: Connection, rows: Sequence[Row]) -> None:
    """Keep new tickets: study, id, arm, slot, round, status, worker, asked, expires of each."""
    insert_columns(connection, "standout_tickets", _NEW_COLUMNS, rows, len(rows))


def add_waiting(connection: Connection, rows: Sequence[Row]) -> None:
    """Keep told rewards that wait and have no ticket: the same, then value and place."""
    insert_columns(connection, "standout_tickets", WAITING_COLUMNS, rows, len(rows))


def drop_told(connection: Connection, key: int, after: int) -> None:
    """Remove the tickets of what the log has behind a place, but for those that wait."""
    _DROP_TOLD.run(connection, key, key, after)
