"""The log of rewards as columns, for pandas, Arrow, CSV, Parquet and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from sqlalchemy import Connection

from standout.study import schema
from standout.study.ledger import Ledger
from standout.study.tables import quoted

COLUMNS = ("seq", "time", "arm", "reward", "ticket", "asked", "worker", "counted")
_PART = 50_000


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

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows, with None for a ticket that was never asked for."""
        plain = {name: values.tolist() for name, values in self.columns.items()}
        plain["ticket"] = [number or None for number in plain["ticket"]]
        plain["asked"] = [None if moment != moment else moment for moment in plain["asked"]]
        return zip(*plain.values(), strict=True)

    def _write_csv(self, file: IO[Any]) -> None:
        file.write(",".join(COLUMNS) + "\n")
        fields = {text: quoted(text) for name in ("arm", "worker") for text in set(self[name])}
        for start in range(0, len(self), _PART):
            part = History({name: self[name][start : start + _PART] for name in COLUMNS})
            file.writelines(
                f"{seq},{time!r},{fields[arm]},{reward!r},{'' if ticket is None else ticket},"
                f"{'' if asked is None else repr(asked)},{fields[worker]},{counted}\n"
                for seq, time, arm, reward, ticket, asked, worker, counted in part.rows()
            )

    def write(self, file: IO[Any], form: str) -> None:
        """Write as `csv`, `json` (text files) or `parquet` (a binary file)."""
        if form == "parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(self.to_arrow(), file)
        elif form == "csv":
            self._write_csv(file)
        elif form == "json":
            separator = "[\n"
            for row in self.rows():
                file.write(separator + json.dumps(dict(zip(COLUMNS, row, strict=True))))
                separator = ",\n"
            file.write("\n]\n" if len(self) else "[]\n")
        else:
            raise ValueError(f"no format {form!r}; there are csv, json and parquet")


def read_history(connection: Connection, ledger: Ledger) -> History:
    """Read the whole log, some rows at a time."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    statement = (
        "SELECT seq, time, arm, value, ticket, asked, worker, counted "
        f"FROM {schema.rewards.name} WHERE study = {mark} ORDER BY seq"
    )
    result = connection.exec_driver_sql(
        statement, (ledger.key,), execution_options={"stream_results": True}
    )
    parts: list[list[Any]] = [[] for _ in COLUMNS]
    kinds = (np.int64, np.float64, np.int64, np.float64, np.float64, np.float64, object, np.bool_)
    while rows := result.fetchmany(_PART):
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
