"""The log of rewards as plain numbers, for looking at all of it at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from standout.core.typing import Floats, Ints
from standout.study.log.history import read_columns
from standout.study.storage import open_tickets
from standout.study.storage.schema import TicketStatus
from standout.study.study import Study


@dataclass(frozen=True)
class RewardTable:
    """Every counted reward, in the order of telling; one entry per reward in each array.

    `arm` is a position among the study's arms, `worker` one in `workers`, `time` in seconds
    since 1970.
    `ticket` is 0 and `delay` (seconds from asking to telling) NaN for a reward
    told without asking. `closed` counts the tickets that brought no reward, by
    what became of them: `expired`, `cancelled` (another ticket was first) or `failed`.
    """

    arm: Ints
    reward: Floats
    worker: Ints
    time: Floats
    ticket: Ints
    delay: Floats
    workers: tuple[str, ...]
    surplus: int
    closed: dict[str, int]
    is_ordered: bool
    lease: float
    file: str | None
    """Name of the study's file, without its folder; None for a PostgreSQL database."""

    def __len__(self) -> int:
        return len(self.arm)


def read_reward_table(study: Study) -> RewardTable:
    """Read the whole log."""
    stored = study._stored
    with study._reading() as (connection, _):
        log = read_columns(connection, stored)
        by_status: dict[int, int] = dict(open_tickets.count_by_status(connection, stored.key))
    codes = {name: code for code, name in enumerate(dict.fromkeys(log["worker"]))}
    worker: Ints = np.fromiter(
        (codes[name] for name in log["worker"]), np.int64, len(log["worker"])
    )
    counted = log["counted"]
    lost = (TicketStatus.EXPIRED, TicketStatus.CANCELLED, TicketStatus.FAILED)
    return RewardTable(
        arm=log["arm"][counted],
        reward=log["reward"][counted],
        worker=worker[counted],
        time=log["time"][counted],
        ticket=log["ticket"][counted],
        delay=(log["time"] - log["asked"])[counted],
        workers=tuple(codes),
        surplus=int(np.count_nonzero(~counted)),
        closed={status.name.lower(): by_status.get(int(status), 0) for status in lost},
        is_ordered=stored.progress.ordered,
        lease=study.lease,
        file=Path(study._storage.shown).name if study._storage.is_sqlite else None,
    )
