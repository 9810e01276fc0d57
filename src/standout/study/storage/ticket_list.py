"""Tickets that are out, as lists: for handing out again, for giving again, and for looking."""

from __future__ import annotations

from standout.study.storage.statements import Statement

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
