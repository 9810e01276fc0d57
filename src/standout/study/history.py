"""The log of rewards as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from sqlalchemy import Connection

from standout.study import schema
from standout.study.ledger import Ledger
from standout.study.tables import quoted

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "counted")
FORMS = ("csv", "json", "parquet")
_PART = 20_000


@dataclass(frozen=True)
class History:
    """Every reward ever told, in the order of telling; one array per column.

    `time` and `asked` are seconds since 1970. `ticket` is 0 and `asked` NaN for
    a reward told without asking; `counted` is False for one beyond the budget.
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
        """An Arrow table."""
        import pyarrow

        return pyarrow.table(self.columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let any Arrow-aware library read the history without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def read_history(connection: Connection, ledger: Ledger) -> History:
    """Read the whole log into columns."""
    kinds = (np.int64, np.float64, np.int64, np.float64, np.float64, np.float64, object, np.bool_)
    parts: list[list[Any]] = [[] for _ in COLUMNS]
    for rows in batches(connection, ledger.key):
        for part, values, kind in zip(parts, zip(*rows, strict=True), kinds, strict=True):
            part.append(np.array(values, dtype=kind))
    columns = [
        np.concatenate(part) if part else np.zeros(0, dtype=kind)
        for part, kind in zip(parts, kinds, strict=True)
    ]
    named = dict(zip(COLUMNS, columns, strict=True))
    names = np.array(ledger.desk.arms, dtype=object)
    named["arm"] = names[named["arm"]]
    named["ticket"] = np.nan_to_num(named["ticket"]).astype(np.int64)
    return History(named)


def batches(connection: Connection, key: int) -> Iterator[list[Any]]:
    """The rows of the log, straight from the driver, some at a time."""
    driver: Any = connection.connection
    is_sqlite = connection.dialect.name == "sqlite"
    # PostgreSQL would send everything at once; a named cursor stays on the server.
    cursor = driver.cursor() if is_sqlite else driver.driver_connection.cursor(name="standout_log")
    try:
        cursor.execute(
            "SELECT seq, time, arm, value, ticket, asked, worker, counted "
            f"FROM {schema.rewards.name} WHERE study = {'?' if is_sqlite else '%s'} ORDER BY seq",
            (key,),
        )
        while rows := cursor.fetchmany(_PART):
            yield rows
    finally:
        cursor.close()


def write_history(connection: Connection, ledger: Ledger, file: IO[Any], form: str) -> int:
    """Write the log as `csv`, `json` (text files) or `parquet` (a binary file); its length."""
    if form == "parquet":
        import pyarrow.parquet

        history = read_history(connection, ledger)
        pyarrow.parquet.write_table(history.to_arrow(), file)
        return len(history)
    write = {"csv": _write_csv, "json": _write_json}[form]
    return write(file, ledger.desk.arms, batches(connection, ledger.key))


def _write_csv(file: IO[Any], names: Sequence[str], parts: Iterator[list[Any]]) -> int:
    arms = [quoted(name) for name in names]
    workers: dict[str, str] = {}
    count = 0
    file.write(",".join(COLUMNS) + "\n")
    for rows in parts:
        count += len(rows)
        for text in {row[6] for row in rows}:
            workers[text] = quoted(text)
        file.write(
            "".join(
                [
                    f"{seq},{time!r},{arms[arm]},{reward!r},{'' if ticket is None else ticket},"
                    f"{'' if asked is None else asked!r},{workers[worker]},"
                    f"{'true' if counted else 'false'}\n"
                    for seq, time, arm, reward, ticket, asked, worker, counted in rows
                ]
            )
        )
    return count


def _write_json(file: IO[Any], names: Sequence[str], parts: Iterator[list[Any]]) -> int:
    count = 0
    for rows in parts:
        for row in rows:
            record = dict(zip(COLUMNS, row, strict=True))
            record["arm"], record["counted"] = names[row[2]], bool(row[7])
            file.write((",\n" if count else "[\n") + json.dumps(record))
            count += 1
    file.write("\n]\n" if count else "[]\n")
    return count
