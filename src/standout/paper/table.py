"""A small table of results: `compute` makes it, a CSV stores it, drawings and claims read it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Value = str | int | float
Row = dict[str, Value]
Tables = Mapping[str, "Table"]


@dataclass(frozen=True)
class Table:
    """Rows with the same named columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __iter__(self) -> Iterator[Row]:
        for row in self.rows:
            yield dict(zip(self.columns, row, strict=True))

    def where(self, **wanted: Value) -> Table:
        """The rows in which every named column has the wanted value."""
        places = [(self.columns.index(name), value) for name, value in wanted.items()]
        kept = tuple(row for row in self.rows if all(row[i] == value for i, value in places))
        return Table(self.columns, kept)

    def column(self, name: str) -> list[Value]:
        """All values of a column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """All values of a column of numbers."""
        return [float(value) for value in self.column(name)]

    def number(self, name: str, /, **wanted: Value) -> float:
        """The value of a column in the only row with the wanted values."""
        (value,) = self.where(**wanted).numbers(name)
        return value

    def to_csv(self) -> str:
        """The table as CSV. Numbers have ten digits, which are the same on all machines."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_text(value) for value in row] for row in self.rows)
        return out.getvalue()


def make_table(columns: str, rows: Sequence[Sequence[Value]]) -> Table:
    """A table from its column names, separated by spaces, and its rows."""
    return Table(tuple(columns.split()), tuple(tuple(row) for row in rows))


def _text(value: Value) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.10g}"
    return str(value)
