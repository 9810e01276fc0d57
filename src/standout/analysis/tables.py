"""Tables of past measurements as arrays: files, data frames, Arrow, or plain mappings.

One row per reward (`arm`, `value`), or one per arm (`arm`, `count` and `sum` or `mean`, with
`std` where the noise's scale is not known). No data frame library is needed to read those of
others: columns are taken by name, as pandas, Polars and Arrow give them, and anything else that
speaks Arrow's C interface goes through pyarrow.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from standout.core.typing import Floats, Ints
from standout.errors import ProblemError
from standout.extras import require
from standout.files import csv_records
from standout.study.csv_files import ARM_NAMES, REWARD_NAMES, decode, unguarded

ARM_COLUMNS, VALUE_COLUMNS = ARM_NAMES, REWARD_NAMES
COUNT_NAMES = ("count", "n", "pulls")
_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt")
_SAY_WHICH = "say which has the arms (arm=..., --arm) and which the rewards (value=..., --value)"


@dataclass(frozen=True, eq=False)
class Rewards:
    """One entry per reward, in the table's order; `codes` are positions among `arms`."""

    arms: tuple[str, ...]
    codes: Ints
    values: Floats

    @property
    def total(self) -> int:
        """How many rewards there are."""
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Sums:
    """One entry per arm: how many rewards it has had, their sum, and perhaps their scatter.

    `std` is the standard deviation of an arm's rewards (with n - 1), NaN where not given.
    """

    arms: tuple[str, ...]
    counts: Ints
    sums: Floats
    std: Floats

    @property
    def total(self) -> int:
        """How many rewards there are."""
        return int(self.counts.sum())


def read_table(table: Any, arm: str | None = None, value: str | None = None) -> Rewards | Sums:
    """What a table holds; `arm` and `value` name its columns where they are called otherwise.

    Raises `ProblemError`, which says what is missing in which row.
    """
    if isinstance(table, Rewards | Sums):
        return table
    if isinstance(table, str | os.PathLike):
        return _from_columns(*_read_file(Path(table), arm, value), arm, value)
    return _from_columns(_columns_of(table), "the table", 1, arm, value)


# Where columns come from ----------------------------------------------------------


def _read_file(path: Path, arm: str | None, value: str | None) -> tuple[dict[str, Any], str, int]:
    """The columns of a file, its name for messages, and the number of its first row."""
    ending = path.suffix.lower()
    if ending in _PARQUET:
        require("parquet", "a Parquet file")
        import pyarrow.parquet

        try:
            return _columns_of(pyarrow.parquet.read_table(path)), str(path), 1
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise ProblemError(f"{path}: cannot be read: {error}") from None
    if ending not in _CSV:
        raise ProblemError(f"{path}: a table is a .csv or a .parquet file")
    try:
        text = decode(path.read_bytes(), str(path))
    except OSError as error:
        raise ProblemError(f"{path}: cannot be read: {error.strerror}") from None
    return columns_of_csv(text, str(path)), str(path), 2


def columns_of_csv(text: str, label: str) -> dict[str, Any]:
    """The columns of a CSV as lists of texts, by their names in the header."""
    lines = csv_records(text, label, ProblemError)
    _, header = next(lines, (1, []))
    names = [field.strip() for field in header]
    if not any(names):
        raise ProblemError(f"{label}: empty; write a header such as arm,value")
    for name in names:
        if name and names.count(name) > 1:
            raise ProblemError(f"{label}: {names.count(name)} columns are called {name}")
    rows = [fields for _, fields in lines]
    for number, fields in enumerate(rows):
        if len(fields) != len(names):
            raise ProblemError(
                f"{label}, row {number + 2}: {len(fields)} fields, but the header has {len(names)}"
            )
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return dict(zip(names, columns, strict=True))


def _columns_of(table: Any) -> dict[str, Any]:
    """The columns of a data frame, an Arrow table or a mapping."""
    if isinstance(table, Mapping):
        if find_column(table, ARM_NAMES) is None and all(
            _is_sequence(each) for each in table.values()
        ):
            return _columns_by_arm(table)
        return dict(table)
    if hasattr(table, "collect_schema") and not hasattr(table, "to_arrow"):
        table = table.collect()  # A lazy frame of Polars.
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if hasattr(table, "compute") and hasattr(table, "npartitions"):
        raise ProblemError(
            "a frame of Dask is not read as such: give frame.compute(), or let a cluster add up "
            "the folder of its files (standout analyse FOLDER --dask ADDRESS)"
        )
    if names is not None and not callable(names) and hasattr(table, "__getitem__"):
        return {str(name): table[name] for name in names}
    if hasattr(table, "__arrow_c_stream__"):
        require("parquet", "a table through Arrow's interface")
        import pyarrow

        try:
            return _columns_of(pyarrow.table(table))
        except pyarrow.ArrowInvalid as error:
            raise ProblemError(f"a {type(table).__name__} is not a table: {error}") from None
    if hasattr(table, "__dataframe__"):
        require("parquet", "a table through the interchange protocol")
        from pyarrow.interchange import from_dataframe

        return _columns_of(from_dataframe(table))
    raise ProblemError(
        f"a table is a file's name, a data frame (pandas, Polars, Arrow), or a mapping such as "
        f"{{'arm': [...], 'value': [...]}}, not a {type(table).__name__}"
    )


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _columns_by_arm(table: Mapping[Any, Iterable[float]]) -> dict[str, Any]:
    """A mapping from arms to their rewards, as columns."""
    arms: list[str] = []
    values: list[float] = []
    for arm, rewards in table.items():
        found = list(rewards)
        arms += [str(arm)] * len(found)
        values += found
    return {"arm": arms, "value": values}


# From columns to arrays -----------------------------------------------------------


def _from_columns(
    columns: Mapping[str, Any], label: str, first: int, arm: str | None, value: str | None
) -> Rewards | Sums:
    arm_column = named_column(columns, label, arm, ARM_NAMES, "arm")
    names = _texts(columns[arm_column], label, first)
    value_column = value if value is not None else find_column(columns, REWARD_NAMES)
    counts = None if value is not None else find_column(columns, COUNT_NAMES)
    if value_column is None and counts is not None:
        return _sums(columns, names, counts, label, first)
    if value_column is None or value_column not in columns:
        wanted = value or "value (or count with sum or mean)"
        raise ProblemError(f"{label}: no column {wanted} among {listed_columns(columns)}")
    if counts is not None:
        raise ProblemError(
            f"{label}: columns {value_column} and {counts}: if each row is one reward, name its "
            f"column (value={value_column!r}, --value {value_column}); if each row counts for "
            "several, write one row per reward, or one per arm with count and sum"
        )
    values = _numbers(columns[value_column], value_column, label, first)
    names, values = _only_counted(columns, names, values)
    arms, codes = _codes(names)
    return Rewards(arms, codes, values)


def _only_counted(
    columns: Mapping[str, Any], names: list[str], values: Floats
) -> tuple[list[str], Floats]:
    """Without what a study's export marks as not counted: surplus, and void."""
    if "counted" not in columns or "seq" not in columns:
        return names, values
    flags = [str(each).lower() in ("true", "1") for each in _listable(columns["counted"])]
    return [name for name, flag in zip(names, flags, strict=True) if flag], values[flags]


def _sums(
    columns: Mapping[str, Any], names: list[str], counts: str, label: str, first: int
) -> Sums:
    numbers = _numbers(columns[counts], counts, label, first)
    whole = numbers == np.floor(numbers)
    if not ((numbers >= 0) & whole).all():
        row = int(np.flatnonzero(~((numbers >= 0) & whole))[0])
        raise ProblemError(
            f"{label}, row {row + first}: {counts} is {numbers[row]:g}, not a whole number"
        )
    given = {name: find_column(columns, (name,)) for name in ("sum", "mean", "std")}
    if (given["sum"] is None) == (given["mean"] is None):
        raise ProblemError(f"{label}: beside {counts} there must be a column sum or mean")
    if given["sum"] is not None:
        sums = _numbers(columns[given["sum"]], "sum", label, first)
    else:
        sums = numbers * _numbers(columns[str(given["mean"])], "mean", label, first)
        # 100 times .29 is 29, not what rounding makes of it.
        sums = np.where(abs(sums - np.round(sums)) <= 1e-15 * abs(sums), np.round(sums), sums)
    std = np.full(len(names), np.nan)
    if given["std"] is not None:
        std = _numbers(columns[given["std"]], "std", label, first, may_lack=True)
    seen: set[str] = set()
    for row, name in enumerate(names):
        if name in seen:
            raise ProblemError(f"{label}, row {row + first}: arm {name!r} is there already")
        seen.add(name)
    return Sums(tuple(names), numbers.astype(np.int64), sums, std)


def find_column(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """The first column of one of these names, in whatever letters."""
    small = {str(column).strip().lower(): column for column in columns}
    return next((small[name] for name in names if name in small), None)


def named_column(
    columns: Collection[str],
    label: object,
    given: str | None,
    usual: Sequence[str],
    what: str,
    advice: str = _SAY_WHICH,
) -> str:
    """The column that is called as given, or as usual; raises `ProblemError` with advice."""
    found = given if given is not None else find_column(columns, usual)
    if found is None or found not in columns:
        among = listed_columns(columns)
        raise ProblemError(f"{label}: no column {given or what} among {among}; {advice}")
    return found


def listed_columns(columns: Iterable[str]) -> str:
    """Names of columns for a message."""
    return ", ".join(str(column) for column in columns) or "none"


def _listable(column: Any) -> list[Any]:
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _texts(column: Any, label: str, first: int) -> list[str]:
    """The arms' names; a number is one, too, a blank is not."""
    found = _listable(column)
    texts = [each if type(each) is str else str(each) for each in found]
    for row, (each, text) in enumerate(zip(found, texts, strict=True)):
        if not text or each is None or each != each:
            raise ProblemError(f"{label}, row {row + first}: no arm")
    return [unguarded(text) if text[0] == "'" else text for text in texts]


def _numbers(column: Any, name: str, label: str, first: int, *, may_lack: bool = False) -> Floats:
    """A column as numbers; names the first row that has none."""
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind in ("m", "M", "c"):  # "Not a time" would become a number, too.
        raise ProblemError(f"{label}: the column {name} has {column.dtype}, not plain numbers")
    try:
        plain = column.to_numpy() if hasattr(column, "to_numpy") else column
        if not hasattr(plain, "dtype") and not isinstance(plain, list | tuple):
            plain = list(plain)
        if isinstance(plain, np.ma.MaskedArray):
            plain = np.ma.filled(plain.astype(np.float64), np.nan)
        if isinstance(plain, list | tuple) and any(isinstance(x, str) and "_" in x for x in plain):
            raise ValueError  # Python reads 1_000; nobody else writes it.
        found = np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError):
        found = _one_by_one(_listable(column), name, label, first)
    if found.ndim != 1:
        raise ProblemError(f"{label}: the column {name} is not a list of numbers")
    lacking = np.flatnonzero(np.isnan(found))
    if len(lacking) and not may_lack:
        raise ProblemError(
            f"{label}, row {int(lacking[0]) + first}: no {name} ({len(lacking):,} rows have none). "
            "Leave such rows out only if why they have none has nothing to do with what it was"
        )
    return found + 0.0


def _one_by_one(values: list[Any], name: str, label: str, first: int) -> Floats:
    found = np.full(len(values), np.nan)
    for row, each in enumerate(values):
        if each is None or (isinstance(each, str) and not each.strip()):
            continue
        try:
            if isinstance(each, str) and "_" in each:
                raise ValueError
            found[row] = float(each)
        except (TypeError, ValueError):
            raise ProblemError(
                f"{label}, row {row + first}: {name} {each!r} is not a number"
            ) from None
    return found


def _codes(names: list[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct names in the order of their first rows, and a position for each row."""
    index: dict[str, int] = {}
    codes = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    return tuple(index), codes
