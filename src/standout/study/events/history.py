"""The ledger as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from standout.csv_files import guarded, quoted
from standout.extras import require
from standout.study.events.state import StudyState
from standout.study.events.tables import Open, RewardStatus

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "status", "turn")
STATUSES = tuple(status.name.lower() for status in RewardStatus)
OUT = "out"
"""The status of a pending pull."""
PART = 20_000
"""Rewards per batch of output."""


@dataclass(frozen=True)
class History:
    """Every recorded reward, in the order of recording; one array per column.

    `time` and `asked` are in seconds since 1970. `ticket` is 0 and `asked` is NaN for a reward
    without a ticket. `status` is `counted`, `waiting` (for an earlier pull of its arm), `void` (by
    hand; `Study.changes` says by whom and why) or `surplus` (in no total). `turn` numbers the
    counted rewards in the order of counting; it is 0 for the others. `out` has the same columns for
    pending pulls, with a `seq` of 0, no reward (NaN) and the status `out`; an export ends with
    them.
    """

    columns: dict[str, Any]
    out: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["seq"])

    def __getitem__(self, column: str) -> Any:
        return self.columns[column]

    def with_out(self) -> dict[str, Any]:
        """The columns, followed by the pending pulls."""
        return {name: np.concatenate([each, self.out[name]]) for name, each in self.columns.items()}

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
        table = History(self.with_out(), {}).to_arrow()
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, file)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let any Arrow-aware library read the history without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _codes(state: StudyState) -> dict[str, Any]:
    """The ledger as plain numbers; arms and workers by position."""
    part = state.ledger.part(1, state.ledger.size)
    asked = np.full(len(part["time"]), np.nan)
    told = np.flatnonzero(part["ticket"])
    asked[told] = state.tickets.asked[part["ticket"][told] - 1]
    return {
        "seq": np.arange(1, state.ledger.size + 1),
        "time": part["time"].copy(),
        "arm": part["arm"].astype(np.int64),
        "reward": part["value"].copy(),
        "ticket": part["ticket"].copy(),
        "asked": asked,
        "worker": part["worker"].astype(np.int64),
        "status": part["status"].copy(),
        "turn": part["turn"].copy(),
    }


def history(state: StudyState) -> History:
    """The whole ledger with names in place of numbers, and the pending pulls."""
    found = _codes(state)
    names = {"arm": state.arms, "worker": state.ledger.workers, "status": STATUSES}
    for name, texts in names.items():
        found[name] = np.array([*texts, ""], dtype=object)[found[name]]
    kinds = {name: values.dtype for name, values in found.items()}
    rows = [_out(state, number, one) for number, one in sorted(state.tickets.open.items())]
    out = {name: np.array([row[name] for row in rows], dtype=kind) for name, kind in kinds.items()}
    return History(found, out)


def _out(state: StudyState, number: int, opened: Open) -> dict[str, Any]:
    """A pull that is out, as a row of the history."""
    row = number - 1
    return {
        "seq": 0, "time": math.nan, "arm": state.arms[state.tickets.arm.item(row)],
        "reward": math.nan, "ticket": number, "asked": state.tickets.asked.item(row),
        "worker": opened.worker, "status": OUT, "turn": 0,
    }  # fmt: skip


def rows_of(found: History) -> Iterator[list[list[Any]]]:
    """The history's rows in the order of `COLUMNS`, in batches; unknown values are None."""
    columns = found.with_out()
    for first in range(0, len(columns["seq"]), PART):
        part = {name: columns[name][first : first + PART].tolist() for name in COLUMNS}
        for name in ("time", "reward", "asked"):
            part[name] = [None if value != value else value for value in part[name]]
        part["ticket"] = [ticket or None for ticket in part["ticket"]]
        yield [list(row) for row in zip(*part.values(), strict=True)]


def csv_text(found: History, raw: bool = False) -> Iterator[str]:
    """The history as CSV, in batches.

    Spreadsheets run a name that begins with `=` as a formula. So such names of arms and workers get
    a leading `'`, unless `raw`.
    """
    names: dict[str, str] = {}
    yield ",".join(COLUMNS) + "\n"
    for rows in rows_of(found):
        for row in rows:
            for place in (2, 6):
                name = row[place]
                if name not in names:
                    names[name] = quoted(name if raw else guarded(name))
                row[place] = names[name]
        yield "".join(",".join(map(_field, row)) + "\n" for row in rows)


def _field(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else repr(value)


def json_text(found: History, raw: bool = False) -> Iterator[str]:
    """The history as a JSON array of objects, in batches; `raw` has no effect."""
    yield "["
    before = "\n"
    for rows in rows_of(found):
        texts = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
        yield before + ",\n".join(texts)
        before = ",\n"
    yield "]\n" if before == "\n" else "\n]\n"


TEXTS = {"csv": csv_text, "json": json_text}
FORMS = (*TEXTS, "parquet")
