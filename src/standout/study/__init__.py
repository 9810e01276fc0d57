"""Live studies: ask and tell, kept safe in SQLite or PostgreSQL."""

from __future__ import annotations

from standout.results import Copy, Receipt, Status, Ticket, Verification
from standout.study.log.history import History
from standout.study.storage.copying import backup, restore
from standout.study.study import Study

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
