"""Tables of past measurements as arrays: files, data frames, Arrow, or plain mappings.

One row per reward (`arm`, `value`), or one per arm (`arm`, `count` and `sum` or `mean`, with
`std` where the noise's scale is not known). `columns` finds the columns of all kinds of tables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.columns import (
    COUNT_NAMES,
    Layout,
    columns_of,
    columns_of_csv,
    exploded,
    find_column,
    listable,
    listed_columns,
    named_column,
    read_file,
)
from standout.core.arms import label_of, warn_trimmed
from standout.core.typing import Floats, Ints
from standout.csv_files import (
    ARM_NAMES,
    COUNTED,
    REWARD_NAMES,
    is_export,
    left_out_words,
    unguarded,
)
from standout.errors import ProblemError
from standout.results.display import some
from standout.text import count, plural

ARM_COLUMNS, VALUE_COLUMNS = ARM_NAMES, REWARD_NAMES
DROPPED = (
    "left out. This is sound only if the reason for a missing value does not depend on the value"
)


@dataclass(frozen=True, eq=False)
class Rewards:
    """One entry per reward, in the table's order; `codes` are positions in `arms`."""

    arms: tuple[Any, ...]
    codes: Ints
    values: Floats
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    left_out: int = field(default=0, kw_only=True)
    """Arms that had too few rewards."""

    @property
    def total(self) -> int:
        """The number of rewards."""
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Sums:
    """One entry per arm: the number of its rewards, their sum, and perhaps their scatter.

    `std` is the standard deviation of an arm's rewards (with n - 1), NaN if not given.
    """

    arms: tuple[Any, ...]
    counts: Ints
    sums: Floats
    std: Floats
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    left_out: int = field(default=0, kw_only=True)
    """Arms that had too few rewards."""

    @property
    def total(self) -> int:
        """The number of rewards."""
        return int(self.counts.sum())


def read_table(table: Any, layout: Layout | None = None) -> Rewards | Sums:
    """The contents of a table.

    Raises `ProblemError`, which names what is missing in which row.
    """
    if isinstance(table, Rewards | Sums):
        return table
    layout = layout or Layout()
    label, first = "the table", 1
    if isinstance(table, str | os.PathLike):
        label = str(Path(table))
        columns, first = read_file(Path(table), layout)
    else:
        columns = columns_of(table, layout)
    if layout.wide:
        label += " (column by column)"
    return _without_few(_Reader(label, first, layout).read(columns), layout.min_count)


def _without_few(data: Rewards | Sums, least: int) -> Rewards | Sums:
    """The table without the arms that have fewer rewards; a note names them."""
    if isinstance(data, Rewards):
        counts = np.bincount(data.codes, minlength=len(data.arms))
    else:
        counts = data.counts
    kept = counts >= least
    if kept.all():
        return data
    few = [str(arm) for arm, is_kept in zip(data.arms, kept.tolist(), strict=True) if not is_kept]
    note = (
        f"{plural(len(few), 'arm')} with fewer than {plural(least, 'reward')} left out: "
        f"{some(few, 5)}. The threshold is that of the other arms, and delta is shared as if none "
        "were left out"
    )
    arms = tuple(arm for arm, is_kept in zip(data.arms, kept.tolist(), strict=True) if is_kept)
    said: dict[str, Any] = {"notes": (*data.notes, note), "left_out": len(few)}
    if isinstance(data, Sums):
        return Sums(arms, data.counts[kept], data.sums[kept], data.std[kept], **said)
    rows = kept[data.codes]
    places = np.cumsum(kept) - 1
    return Rewards(arms, places[data.codes[rows]], data.values[rows], **said)


def read_csv_table(text: str, label: str, layout: Layout) -> Rewards | Sums:
    """What the text of a CSV holds; raises `ProblemError` with the row, as `read_table` does."""
    columns = columns_of_csv(text, label, layout.separator or ",")
    return _Reader(label, 2, layout).read(columns)


@dataclass(frozen=True)
class _Reader:
    """Reads a table; holds its layout and its name for messages."""

    label: str
    first: int
    layout: Layout

    def read(self, columns: Mapping[str, Any]) -> Rewards | Sums:
        """The arrays of a table from its columns."""
        label, value = self.label, self.layout.value
        arm_column = named_column(columns, label, self.layout.arm, ARM_NAMES, "arm")
        names = listable(columns[arm_column])
        value_column = value if value is not None else find_column(columns, REWARD_NAMES)
        counts = None if value is not None else find_column(columns, COUNT_NAMES)
        if value_column is None and counts is not None:
            return self._sums(columns, self._labels(names), counts)
        if value_column is None or value_column not in columns:
            wanted = value or "value (or count with sum or mean)"
            raise ProblemError(
                f"{label}: no column {wanted} among {listed_columns(columns)}; if each column is "
                "an arm, add --wide (wide=True)"
            )
        if counts is not None:
            raise ProblemError(
                f"{label}: columns {value_column} and {counts}: if each row is one reward, name "
                f"its column (value={value_column!r}, --value {value_column}); if each row counts "
                "for several, write one row per reward, or one per arm with count and sum"
            )
        names, column = exploded(names, columns[value_column])
        labels = self._labels(names)
        may_lack = self.layout.drop_missing or is_export(columns)  # A pending ticket has no reward.
        values = self._numbers(column, value_column, may_lack=may_lack)
        labels, values, left_out = _only_counted(columns, labels, values)
        labels, values, notes = _without_missing(labels, values)
        arms, codes = _codes(labels)
        return Rewards(arms, codes, values, notes=(*left_out, *notes))

    def _sums(self, columns: Mapping[str, Any], names: list[Any], counts: str) -> Sums:
        numbers = self._numbers(columns[counts], counts)
        whole = numbers == np.floor(numbers)
        if not ((numbers >= 0) & whole).all():
            row = int(np.flatnonzero(~((numbers >= 0) & whole))[0])
            raise ProblemError(
                f"{self._row(row)}: {counts} is {numbers[row]:g}, not a whole number"
            )
        given = {name: find_column(columns, (name,)) for name in ("sum", "mean", "std")}
        if (given["sum"] is None) == (given["mean"] is None):
            raise ProblemError(f"{self.label}: beside {counts} there must be a column sum or mean")
        if given["sum"] is not None:
            sums = self._numbers(columns[given["sum"]], "sum")
        else:
            sums = numbers * self._numbers(columns[str(given["mean"])], "mean")
            # 100 times .29 is 29, in spite of rounding.
            sums = np.where(abs(sums - np.round(sums)) <= 1e-15 * abs(sums), np.round(sums), sums)
        std = np.full(len(names), np.nan)
        if given["std"] is not None:
            std = self._numbers(columns[given["std"]], "std", may_lack=True)
        seen: set[Any] = set()
        for row, name in enumerate(names):
            if name in seen:
                raise ProblemError(f"{self._row(row)}: arm {name!r} is there already")
            seen.add(name)
        return Sums(tuple(names), numbers.astype(np.int64), sums, std)

    def _row(self, row: int) -> str:
        return f"{self.label}, row {row + self.first}"

    def _labels(self, found: list[Any]) -> list[Any]:
        """The arms: numbers stay numbers, texts lose surrounding blanks; none is empty."""
        labels = []
        trimmed: dict[str, None] = {}
        for row, each in enumerate(found):
            label = label_of(each) if each is not None and each == each else ""
            if label == "":
                raise ProblemError(f"{self._row(row)}: no arm")
            if isinstance(label, str):
                if len(label) != len(each):
                    trimmed[each] = None
                label = unguarded(label)
            labels.append(label)
        if trimmed:
            warn_trimmed(list(trimmed))
        return labels

    def _numbers(self, column: Any, name: str, *, may_lack: bool = False) -> Floats:
        """A column as numbers; an error names the first row without one."""
        kind = getattr(getattr(column, "dtype", None), "kind", "")
        if kind in ("m", "M", "c"):  # "Not a time" would become a number, too.
            raise ProblemError(
                f"{self.label}: the column {name} has {column.dtype}, not plain numbers"
            )
        try:
            found = _as_array(column, self.layout.decimal)
        except (TypeError, ValueError):
            found = self._one_by_one(listable(column), name)
        if found.ndim != 1:
            raise ProblemError(f"{self.label}: the column {name} is not a list of numbers")
        lacking = np.flatnonzero(np.isnan(found))
        if len(lacking) and not may_lack:
            have = "row has" if len(lacking) == 1 else "rows have"
            raise ProblemError(
                f"{self._row(int(lacking[0]))}: no {name} ({count(len(lacking))} {have} none). "
                "To leave such rows out, add --drop-missing (drop_missing=True). This is sound "
                "only if the reason for a missing value does not depend on the value"
            )
        return found + 0.0

    def _one_by_one(self, values: list[Any], name: str) -> Floats:
        found = np.full(len(values), np.nan)
        for row, each in enumerate(values):
            if each is None or (isinstance(each, str) and not each.strip()):
                continue
            try:
                found[row] = _number(each, self.layout.decimal)
            except (TypeError, ValueError):
                hint = ""
                if isinstance(each, str) and "," in each and self.layout.decimal == ".":
                    hint = "; with decimal commas add --decimal , (decimal=',')"
                raise ProblemError(
                    f"{self._row(row)}: {name} {each!r} is not a number{hint}"
                ) from None
        return found


def _as_array(column: Any, decimal: str) -> Floats:
    """A column of plain numbers at once; raises `ValueError` if it must be read one by one."""
    plain = column.to_numpy() if hasattr(column, "to_numpy") else column
    if not hasattr(plain, "dtype") and not isinstance(plain, list | tuple):
        plain = list(plain)
    if isinstance(plain, np.ma.MaskedArray):
        plain = np.ma.filled(plain.astype(np.float64), np.nan)
    if isinstance(plain, list | tuple):
        # Python reads 1_000, which no other program writes, and no decimal commas.
        odd = "_" if decimal == "." else "_."
        if any(isinstance(cell, str) and set(odd) & set(cell) for cell in plain):
            raise ValueError
    return np.asarray(plain, dtype=np.float64)


def _number(value: Any, decimal: str) -> float:
    """A number as it is written with a decimal sign."""
    if isinstance(value, str):
        if "_" in value or (decimal == "," and "." in value):
            raise ValueError
        value = value.replace(decimal, ".")
    return float(value)


def _without_missing(
    labels: list[Any], values: Floats
) -> tuple[list[Any], Floats, tuple[str, ...]]:
    """The rows that have a reward, and a note with the number of the others."""
    lacks = np.isnan(values)
    dropped = int(np.count_nonzero(lacks))
    if not dropped:
        return labels, values, ()
    kept = [
        label for label, is_missing in zip(labels, lacks.tolist(), strict=True) if not is_missing
    ]
    of = f"of {plural(len(labels), 'row')}"
    was = "had no value and was" if dropped == 1 else "had no value and were"
    return kept, values[~lacks], (f"{count(dropped)} {of} {was} {DROPPED}",)


def _only_counted(
    columns: Mapping[str, Any], names: list[Any], values: Floats
) -> tuple[list[Any], Floats, tuple[str, ...]]:
    """The counted rewards of a study's export, in the order of counting.

    Rewards that wait for slower ones, void and surplus rewards, and pending tickets are left out,
    with a note.
    """
    if not is_export(columns):
        return names, values, ()
    status = [str(each) for each in listable(columns["status"])]
    turn = np.array([int(float(each or 0)) for each in listable(columns["turn"])], dtype=np.int64)
    kept = np.flatnonzero([each == COUNTED for each in status])
    kept = kept[np.argsort(turn[kept], kind="stable")]
    words = left_out_words(status)
    return [names[row] for row in kept], values[kept], () if words is None else (words,)


def _codes(names: list[Any]) -> tuple[tuple[Any, ...], Ints]:
    """The distinct names in the order of their first rows, and a position for each row."""
    index: dict[Any, int] = {}
    codes = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    return tuple(index), codes
