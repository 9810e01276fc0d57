"""The log of rewards as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from standout.extras import require
from standout.study.csv_files import guarded, quoted
from standout.study.storage.database import Connection
from standout.study.storage.log.reward_log import batches
from standout.study.storage.mirror import Mirror

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "counted")
FORMS = ("csv", "json", "parquet")


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
        """An Arrow table; needs the extra `parquet`."""
        require("parquet", "an Arrow table")
        import pyarrow

        return pyarrow.table(self.columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let any Arrow-aware library read the history without a copy."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def read_history(connection: Connection, mirror: Mirror) -> History:
    """Read the whole log into columns."""
    kinds = (np.int64, np.float64, np.int64, np.float64, np.float64, np.float64, object, np.bool_)
    parts: list[list[Any]] = [[] for _ in COLUMNS]
    for rows in batches(connection, mirror.key):
        for part, values, kind in zip(parts, zip(*rows, strict=True), kinds, strict=True):
            part.append(np.array(values, dtype=kind))
    columns = [
        np.concatenate(part) if part else np.zeros(0, dtype=kind)
        for part, kind in zip(parts, kinds, strict=True)
    ]
    named = dict(zip(COLUMNS, columns, strict=True))
    names = np.array(mirror.progress.arms, dtype=object)
    named["arm"] = names[named["arm"]]
    named["ticket"] = np.nan_to_num(named["ticket"]).astype(np.int64)
    return History(named)


def write_history(
    connection: Connection, mirror: Mirror, file: IO[Any], form: str, raw: bool = False
) -> int:
    """Write the log as `csv`, `json` (text files) or `parquet` (a binary file); its length.

    `raw`: see `text_of`.
    """
    if form == "parquet":
        require("parquet", "Parquet")
        import pyarrow.parquet

        history = read_history(connection, mirror)
        pyarrow.parquet.write_table(history.to_arrow(), file)
        return len(history)
    text = text_of(form, mirror.progress.arms, raw)
    file.write(text.head())
    for rows in batches(connection, mirror.key):
        file.write(text.rows(rows))
    file.write(text.tail())
    return text.count


class Text(ABC):
    """The log as text, part after part."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.count = 0

    @abstractmethod
    def head(self) -> str:
        """The text before the first row."""

    @abstractmethod
    def rows(self, rows: Sequence[Any]) -> str:
        """Some rows, as `batches` gives them."""

    @abstractmethod
    def tail(self) -> str:
        """The text after the last row."""


class CsvText(Text):
    """A line per reward, under a header."""

    def __init__(self, names: Sequence[str], *, raw: bool = False) -> None:
        self._write = quoted if raw else lambda text: quoted(guarded(text))
        super().__init__([self._write(name) for name in names])
        self._workers: dict[str, str] = {}

    def head(self) -> str:
        """The names of the columns."""
        return ",".join(COLUMNS) + "\n"

    def rows(self, rows: Sequence[Any]) -> str:
        """A line for each, in the order given."""
        self.count += len(rows)
        arms, workers = self.names, self._workers
        for text in {row[6] for row in rows}:
            workers[text] = self._write(text)
        return "".join(
            [
                f"{seq},{time!r},{arms[arm]},{reward!r},{'' if ticket is None else ticket},"
                f"{'' if asked is None else asked!r},{workers[worker]},"
                f"{'true' if counted else 'false'}\n"
                for seq, time, arm, reward, ticket, asked, worker, counted in rows
            ]
        )

    def tail(self) -> str:
        """Nothing: the last row ends the file."""
        return ""


class JsonText(Text):
    """One array, an object per reward."""

    def head(self) -> str:
        """The array's beginning."""
        return "["

    def rows(self, rows: Sequence[Any]) -> str:
        """Their objects."""
        parts = []
        for row in rows:
            record = dict(zip(COLUMNS, row, strict=True))
            record["arm"], record["counted"] = self.names[row[2]], bool(row[7])
            parts.append((",\n" if self.count else "\n") + json.dumps(record))
            self.count += 1
        return "".join(parts)

    def tail(self) -> str:
        """The array's end."""
        return "\n]\n" if self.count else "]\n"


TEXTS = ("csv", "json")


def text_of(form: str, names: Sequence[str], raw: bool) -> Text:
    """The writer of a form.

    A CSV is opened in spreadsheets, which run a name that begins with `=`: such
    names of arms and workers get a `'` in front, unless `raw`.
    """
    return CsvText(names, raw=raw) if form == "csv" else JsonText(names)
