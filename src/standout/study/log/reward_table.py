"""The log of rewards as plain numbers, for looking at all of it at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from standout.core.typing import Floats, Ints
from standout.study.storage import ticket_list
from standout.study.storage.log.reward_log import batches
from standout.study.storage.schema import TicketStatus
from standout.study.storage.statements import without_collector
from standout.study.study import Study


@dataclass(frozen=True)
class RewardTable:
    """Every counted reward, in the order of telling; one entry per reward in each array.

    `arm` is a position among the study's arms, `worker` one in `workers`.
    `ticket` is 0 and `delay` (seconds from asking to telling) NaN for a reward
    told without asking. `closed` counts the tickets that brought no reward, by
    what became of them: `expired`, `cancelled` (another ticket was first) or `failed`.
    """

    arm: Ints
    reward: Floats
    worker: Ints
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
    with study._reading() as (connection, _):
        mirror = study._mirror
        codes: dict[str, int] = {}
        parts: list[tuple[Any, ...]] = []
        with without_collector(mirror.progress.totals.log):
            for rows in batches(connection, mirror.key):
                parts.append(_arrays(rows, codes))
        by_status = ticket_list.count_by_status(connection, mirror.key)
    return _columns(study, parts, codes, by_status)


def _arrays(rows: list[Any], codes: dict[str, int]) -> tuple[Any, ...]:
    _, time, arm, reward, ticket, asked, worker, counted = zip(*rows, strict=True)
    for name in dict.fromkeys(worker):
        codes.setdefault(name, len(codes))
    return (
        np.array(arm, dtype=np.int64),
        np.array(reward, dtype=np.float64),
        np.array([codes[name] for name in worker], dtype=np.int64),
        np.nan_to_num(np.array(ticket, dtype=np.float64)).astype(np.int64),
        np.array(time, dtype=np.float64) - np.array(asked, dtype=np.float64),
        np.array(counted, dtype=np.bool_),
    )


def _columns(
    study: Study, parts: list[tuple[Any, ...]], codes: dict[str, int], by_status: dict[int, int]
) -> RewardTable:
    kinds = (np.int64, np.float64, np.int64, np.int64, np.float64, np.bool_)
    *columns, counted = (
        np.concatenate([part[place] for part in parts]) if parts else np.zeros(0, dtype=kind)
        for place, kind in enumerate(kinds)
    )
    arm, reward, worker, ticket, delay = (column[counted] for column in columns)
    lost = (TicketStatus.EXPIRED, TicketStatus.CANCELLED, TicketStatus.FAILED)
    return RewardTable(
        arm=arm,
        reward=reward,
        worker=worker,
        ticket=ticket,
        delay=delay,
        workers=tuple(codes),
        surplus=int(np.count_nonzero(~counted)),
        closed={status.name.lower(): by_status.get(int(status), 0) for status in lost},
        is_ordered=study._mirror.progress.ordered,
        lease=study.lease,
        file=Path(study._storage.shown).name if study._storage.is_sqlite else None,
    )
