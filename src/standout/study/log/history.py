"""The log of rewards as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from standout.extras import require
from standout.study.csv_files import guarded, quoted
from standout.study.storage.database import Connection
from standout.study.storage.log.reward_log import batches
from standout.study.storage.statements import without_collector
from standout.study.storage.stored_study import StoredStudy

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "counted")


@dataclass(frozen=True)
class History:
    """Every reward ever told, in the order of telling; one array per column.

    `time` and `asked` are seconds since 1970. `ticket` is 0 and `asked` NaN for
    a reward told without asking; `counted` is False for one beyond the budget and
    for one that was made void (`Study.changes` says by whom and why).
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


def read_columns(connection: Connection, stored: StoredStudy) -> dict[str, Any]:
    """The whole log, an array for each of `COLUMNS`; arms by their positions."""
    kinds = (np.int64, np.float64, np.int64, np.float64, np.float64, np.float64, object, np.bool_)
    parts: list[list[Any]] = [[] for _ in COLUMNS]
    with without_collector(stored.progress.totals.log):
        for rows in without_void(batches(connection, stored.key), stored.progress.voided):
            for part, values, kind in zip(parts, zip(*rows, strict=True), kinds, strict=True):
                part.append(np.array(values, dtype=kind))
    columns = [
        np.concatenate(part) if part else np.zeros(0, dtype=kind)
        for part, kind in zip(parts, kinds, strict=True)
    ]
    named = dict(zip(COLUMNS, columns, strict=True))
    return named | {"ticket": np.nan_to_num(named["ticket"]).astype(np.int64)}


def read_history(connection: Connection, stored: StoredStudy) -> History:
    """Read the whole log, with the arms' names."""
    columns = read_columns(connection, stored)
    names = np.array(stored.progress.arms, dtype=object)
    return History(columns | {"arm": names[columns["arm"]]})


Batches = Iterable[Sequence[Any]]
"""Rows of the log, as `reward_log` gives them, some at a time."""


def without_void(log: Batches, voided: Collection[int]) -> Batches:
    """The log, with the rewards at the places `voided` marked as not counted."""
    if not voided:
        return log
    return ([(*row[:7], bool(row[7]) and row[0] not in voided) for row in rows] for rows in log)


def csv_text(log: Batches, names: Sequence[str], raw: bool) -> Iterator[str]:
    """A line per reward under a header, part after part.

    A CSV is opened in spreadsheets, which run a name that begins with `=`: such
    names of arms and workers get a `'` in front, unless `raw`.
    """
    write = quoted if raw else lambda text: quoted(guarded(text))
    arms = [write(name) for name in names]
    yield ",".join(COLUMNS) + "\n"
    for rows in log:
        workers = {worker: write(worker) for worker in {row[6] for row in rows}}
        yield "".join(
            [
                f"{seq},{time!r},{arms[arm]},{reward!r},{'' if ticket is None else ticket},"
                f"{'' if asked is None else asked!r},{workers[worker]},"
                f"{'true' if counted else 'false'}\n"
                for seq, time, arm, reward, ticket, asked, worker, counted in rows
            ]
        )


def json_text(log: Batches, names: Sequence[str], raw: bool) -> Iterator[str]:
    """One array with an object per reward, part after part; `raw` makes no difference."""
    yield "["
    before = "\n"
    for rows in log:
        parts = []
        for row in rows:
            record = dict(zip(COLUMNS, row, strict=True))
            record["arm"], record["counted"] = names[row[2]], bool(row[7])
            parts += [before, json.dumps(record)]
            before = ",\n"
        yield "".join(parts)
    yield "]\n" if before == "\n" else "\n]\n"


TEXTS = {"csv": csv_text, "json": json_text}
FORMS = (*TEXTS, "parquet")
