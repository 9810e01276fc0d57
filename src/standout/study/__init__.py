"""Live studies: ask and tell, kept safe in SQLite or PostgreSQL."""

from __future__ import annotations

from standout.study.copying import Copy, backup, restore
from standout.study.history import History
from standout.study.status import Status
from standout.study.study import Study
from standout.study.telling import Receipt
from standout.study.tickets import Ticket
from standout.study.verify import Verification

__all__ = [
    "Copy",
    "History",
    "Receipt",
    "Status",
    "Study",
    "Ticket",
    "Verification",
    "backup",
    "restore",
]
