"""The ledger as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from standout.extras import require
from standout.study.csv_files import guarded, quoted
from standout.study.events.ledger import RewardStatus
from standout.study.events.state import StudyState

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "status")
STATUSES = tuple(status.name.lower() for status in RewardStatus)
OUT = "out"
"""The status of a pull that is handed out and has no reward yet."""
PART = 20_000
"""Rewards that are written at a time."""


@dataclass(frozen=True)
class History:
    """Every reward ever told, in the order of telling; one array per column.

    `time` and `asked` are seconds since 1970. `ticket` is 0 and `asked` NaN for a reward told
    without asking. `status` is `counted`, `waiting` (for an earlier pull of its arm; it is in the
    totals when that is in), `void` (by hand; `Study.changes` says by whom and why) or
    `surplus` (in no total). Rows behind those, with a `seq` of 0 and no reward (NaN), are
    the pulls that are `out`.
    """

    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["seq"])

    def __getitem__(self, column: str) -> Any:
        return self.columns[column]

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """An Arrow table; needs the extra `parquet`."""
        require("parquet", "an Arrow table")
        import pyarrow

        return pyarrow.table(self.columns)

    def write_parquet(self, file: IO[Any]) -> None:
        """Write it to a binary file; needs the extra `parquet`."""
        table = self.to_arrow()
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, file)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let any Arrow-aware library read the history without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def codes_of(state: StudyState, first: int = 1, last: int | None = None) -> dict[str, Any]:
    """The rewards from one place to another as plain numbers; arms and workers by position."""
    ledger = state.ledger
    last = ledger.size if last is None else min(last, ledger.size)
    part = ledger.part(first, last)
    asked = np.full(len(part["time"]), np.nan)
    told = np.flatnonzero(part["ticket"])
    asked[told] = state.tickets.asked[part["ticket"][told] - 1]
    return {
        "seq": np.arange(first, last + 1),
        "time": part["time"].copy(),
        "arm": part["arm"].astype(np.int64),
        "reward": part["value"].copy(),
        "ticket": part["ticket"].copy(),
        "asked": asked,
        "worker": part["worker"].astype(np.int64),
        "status": part["status"].copy(),
    }


def out_of(state: StudyState) -> list[dict[str, Any]]:
    """The pulls that are out, in the order of their tickets, as rows of the history."""
    return [
        {
            "seq": 0, "time": None, "arm": state.arms[state.tickets.arm.item(number - 1)],
            "reward": None, "ticket": number, "asked": state.tickets.asked.item(number - 1),
            "worker": one.worker, "status": OUT,
        }
        for number, one in state.tickets.open.items()
    ]  # fmt: skip


def history(state: StudyState) -> History:
    """The whole ledger with names in place of numbers, and the pulls that are out."""
    found, out = codes_of(state), out_of(state)
    names = {"arm": state.arms, "worker": state.ledger.workers, "status": STATUSES}
    for name, texts in names.items():
        found[name] = np.array([*texts, ""], dtype=object)[found[name]]
    columns = {}
    for name, values in found.items():
        more = [np.nan if row[name] is None else row[name] for row in out]
        columns[name] = np.concatenate([values, np.array(more, dtype=values.dtype)])
    return History(columns)


def parts_of(state: StudyState) -> Iterator[list[Sequence[Any]]]:
    """The history's rows in order of `COLUMNS`, some at a time, as the ledger is now.

    What is not known is None. They may be taken one by one while the study goes on: the ledger
    only grows, and which rewards wait or are void is settled now.
    """
    last, out, status = state.ledger.size, out_of(state), state.ledger.status.copy()
    workers, arms = state.ledger.workers, state.arms
    for first in range(1, last + 1, PART):
        found = codes_of(state, first, min(first + PART - 1, last))
        found["status"] = status[first - 1 : first - 1 + len(found["seq"])]
        yield [
            (seq, time, arms[arm], reward, ticket or None, asked if ticket else None,
             workers[worker], STATUSES[code])
            for seq, time, arm, reward, ticket, asked, worker, code in zip(
                *(found[name].tolist() for name in COLUMNS), strict=True
            )
        ]  # fmt: skip
    if out:
        yield [tuple(row[name] for name in COLUMNS) for row in out]


def csv_text(state: StudyState, raw: bool = False) -> Iterator[str]:
    """A line per reward under a header, part after part.

    A CSV is opened in spreadsheets, which run a name that begins with `=`: such
    names of arms and workers get a `'` in front, unless `raw`.
    """
    write = quoted if raw else lambda text: quoted(guarded(text))
    names: dict[str, str] = {}
    yield ",".join(COLUMNS) + "\n"
    for rows in parts_of(state):
        for row in rows:
            for name in (row[2], row[6]):
                if name not in names:
                    names[name] = write(name)
        yield "".join(
            f"{seq},{_number(time)},{names[arm]},{_number(reward)},{_number(ticket)},"
            f"{_number(asked)},{names[worker]},{status}\n"
            for seq, time, arm, reward, ticket, asked, worker, status in rows
        )


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def json_text(state: StudyState, raw: bool = False) -> Iterator[str]:
    """One array with an object per reward, part after part; `raw` makes no difference."""
    yield "["
    before = "\n"
    for rows in parts_of(state):
        texts = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
        yield before + ",\n".join(texts)
        before = ",\n"
    yield "]\n" if before == "\n" else "\n]\n"


TEXTS = {"csv": csv_text, "json": json_text}
FORMS = (*TEXTS, "parquet")
