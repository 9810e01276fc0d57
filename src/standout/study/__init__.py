"""Live studies: ask for pulls and tell rewards, stored in SQLite or PostgreSQL."""

from __future__ import annotations

from standout.results import Copy as Copy
from standout.results import Receipt as Receipt
from standout.results import Status as Status
from standout.results import Ticket as Ticket
from standout.results import Verification as Verification
from standout.study.copying import backup as backup
from standout.study.copying import restore as restore
from standout.study.events.history import History as History
from standout.study.study import Study as Study
