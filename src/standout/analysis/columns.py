"""Tables as columns by name: files, data frames, series, Arrow, or plain mappings.

No data frame library is needed to read its tables: columns are taken by name, as pandas, Polars
and Arrow offer them. Any other object with Arrow's C interface is read by pyarrow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from standout.csv_files import ARM_NAMES, REWARD_NAMES, decode
from standout.errors import ProblemError
from standout.extras import require
from standout.files import csv_records

COUNT_NAMES = ("count", "n", "pulls")
_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SAY_WHICH = "name the column of the arms (arm=..., --arm) and of the rewards (value=..., --value)"


@dataclass(frozen=True)
class Layout:
    """How a table is laid out, as stated by the user.

    `arm` and `value` name the columns. `wide`: each column is an arm, with a reward in each row.
    `separator` separates the fields of a CSV (None: a comma, or a tab in a .tsv), `decimal` is the
    decimal sign. `drop_missing`: rows without a reward are left out. `min_count`: arms with fewer
    rewards are left out.
    """

    arm: str | None = None
    value: str | None = None
    wide: bool = False
    separator: str | None = None
    decimal: str = "."
    drop_missing: bool = False
    min_count: int = 1

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.separator) != 1:
            raise ProblemError(f"the separator must be one character, not {self.separator!r}")
        if self.min_count < 1:
            raise ProblemError(f"the fewest rewards must be at least 1, not {self.min_count}")
        if self.decimal not in (".", ","):
            raise ProblemError(f"the decimal sign must be . or , not {self.decimal!r}")
        if self.wide and (self.arm is not None or self.value is not None):
            raise ProblemError("in a wide table each column is an arm: leave out arm and value")


def read_file(path: Path, layout: Layout) -> tuple[dict[str, Any], int]:
    """The columns of a file, and the number of its first row for messages."""
    ending = path.suffix.lower()
    if ending in _PARQUET:
        require("parquet", "a Parquet file")
        import pyarrow.parquet

        try:
            return columns_of(pyarrow.parquet.read_table(path), layout), 1
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise ProblemError(f"{path}: cannot be read: {error}") from None
    if ending not in _CSV:
        raise ProblemError(f"{path}: a table is a .csv or a .parquet file")
    try:
        text = decode(path.read_bytes(), str(path))
    except OSError as error:
        raise ProblemError(f"{path}: cannot be read: {error.strerror}") from None
    separator = layout.separator or ("\t" if ending == ".tsv" else ",")
    columns = columns_of_csv(text, str(path), separator)
    if not layout.wide:
        return columns, 2
    return _columns_by_arm({name: _filled(each) for name, each in columns.items()}, layout), 2


def columns_of_csv(text: str, label: str, separator: str = ",") -> dict[str, Any]:
    """The columns of a CSV as lists of texts, by their names in the header."""
    lines = csv_records(text, label, ProblemError, separator)
    _, header = next(lines, (1, []))
    names = [field.strip() for field in header]
    if not any(names):
        raise ProblemError(f"{label}: empty; write a header such as arm,value")
    _hint_at_separator(names, label, separator)
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


def _hint_at_separator(names: list[str], label: str, separator: str) -> None:
    """Refuse a header that is one field with another separator in it."""
    for other, words in _SEPARATORS.items():
        if len(names) == 1 and other != separator and other in names[0]:
            shown = "tab" if other == "\t" else f"'{other}'"
            raise ProblemError(
                f"{label}: the fields seem to be separated by {words}; add --sep {shown} "
                f"(sep={other!r}), and --decimal , (decimal=',') if numbers are written 0,5"
            )


def _filled(column: Iterable[str]) -> list[str]:
    """The fields of a wide table's column, without the empty ones at its end."""
    cells = [field.strip() for field in column]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def columns_of(table: Any, layout: Layout) -> dict[str, Any]:
    """The columns of a data frame, a series, an Arrow table or a mapping."""
    if isinstance(table, Mapping):
        is_by_arm = find_column(table, ARM_NAMES) is None and layout.arm is None
        if layout.wide or (is_by_arm and all(_is_sequence(each) for each in table.values())):
            return _columns_by_arm(table, layout)
        return dict(table)
    if hasattr(table, "ngroups") and hasattr(table, "obj"):
        return _columns_by_arm(_groups_of(table, layout), layout)
    if hasattr(table, "index") and hasattr(table, "to_frame") and not hasattr(table, "columns"):
        return _columns_of_series(table, layout)
    if hasattr(table, "collect_schema") and not hasattr(table, "to_arrow"):
        table = table.collect()  # A lazy frame of Polars.
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    if hasattr(table, "compute") and hasattr(table, "npartitions"):
        raise ProblemError(
            "a Dask frame cannot be read: give frame.compute(), or let a cluster read the folder "
            "of its files (standout analyse FOLDER --dask ADDRESS)"
        )
    if names is not None and not callable(names) and hasattr(table, "__getitem__"):
        return _columns_of_frame(table, list(names), layout)
    if hasattr(table, "__arrow_c_stream__"):
        require("parquet", "a table through Arrow's interface")
        import pyarrow

        try:
            return columns_of(pyarrow.table(table), layout)
        except pyarrow.ArrowInvalid as error:
            raise ProblemError(f"a {type(table).__name__} is not a table: {error}") from None
    if hasattr(table, "__dataframe__"):
        require("parquet", "a table through the interchange protocol")
        from pyarrow.interchange import from_dataframe

        return columns_of(from_dataframe(table), layout)
    raise ProblemError(
        f"a table is a file's name, a data frame (pandas, Polars, Arrow), a series with an index "
        f"of arms, or a mapping such as {{'arm': [...], 'value': [...]}}, not a "
        f"{type(table).__name__}"
    )


def _columns_of_frame(table: Any, names: list[Any], layout: Layout) -> dict[str, Any]:
    columns = {str(name): table[name] for name in names}
    if layout.wide or _is_wide(columns, layout):
        return _columns_by_arm({name: _without_padding(table[name]) for name in names}, layout)
    index = getattr(table, "index", None)
    if layout.arm in columns or (layout.arm is None and find_column(columns, ARM_NAMES)):
        return columns
    # The result of `groupby("arm").agg(...)` has its arms in the index.
    if index is not None and type(index).__name__ != "RangeIndex" and not callable(index):
        return {layout.arm or "arm": listable(index), **columns}
    return columns


def _is_wide(columns: Mapping[str, Any], layout: Layout) -> bool:
    """Whether a frame has only numbers, and no column with a reserved name."""
    if layout.arm is not None or layout.value is not None or len(columns) < 3:
        return False
    known = (*ARM_NAMES, *REWARD_NAMES, *COUNT_NAMES)
    return find_column(columns, known) is None and all(map(_has_numbers, columns.values()))


def _has_numbers(column: Any) -> bool:
    kind: Any = getattr(column, "dtype", None)
    if hasattr(kind, "is_numeric"):  # Polars
        return bool(kind.is_numeric())
    return getattr(kind, "kind", "") in ("i", "u", "f", "b")


def _without_padding(column: Any) -> list[Any]:
    """A column of a wide frame without the missing values at its end."""
    values = listable(column)
    while values and (values[-1] is None or values[-1] != values[-1]):
        values.pop()
    return values


def _columns_of_series(table: Any, layout: Layout) -> dict[str, Any]:
    """A series of rewards, or of lists of them, with an index of arms."""
    if type(table.index).__name__ == "RangeIndex":
        raise ProblemError(
            "a Series without an index of arms is not a table: give a data frame with a column "
            "arm, or series.set_axis(arms)"
        )
    index = table.index
    if hasattr(index, "nlevels") and index.nlevels > 1:
        level = next((name for name in ARM_NAMES if name in index.names), index.names[0])
        index = index.get_level_values(level)
    return {layout.arm or "arm": listable(index), layout.value or "value": table}


def _groups_of(table: Any, layout: Layout) -> dict[Any, Any]:
    """The rewards of each group of pandas' `groupby`, in order."""
    if hasattr(table, "columns") or table.obj.ndim == 2:
        column = layout.value or find_column(table.obj.columns, REWARD_NAMES)
        if column is None or column not in table.obj.columns:
            among = listed_columns(table.obj.columns)
            raise ProblemError(f"the groups: no column {column or 'value'} among {among}")
        table = table[column]
    found = {}
    for name, rewards in table:
        found[name[0] if isinstance(name, tuple) and len(name) == 1 else name] = rewards
    return found


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _columns_by_arm(table: Mapping[Any, Iterable[Any]], layout: Layout) -> dict[str, Any]:
    """A mapping from arms to their rewards, as columns."""
    arms: list[Any] = []
    values: list[Any] = []
    for arm, rewards in table.items():
        found = listable(rewards) if hasattr(rewards, "tolist") else list(rewards)
        arms += [arm] * len(found)
        values += found
    return {layout.arm or "arm": arms, layout.value or "value": values}


def find_column(columns: Iterable[Any], names: Sequence[str]) -> str | None:
    """The first column with one of these names, in upper or lower case."""
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
    """The column with the given or a usual name; raises `ProblemError` with advice."""
    found = given if given is not None else find_column(columns, usual)
    if found is None or found not in columns:
        among = listed_columns(columns)
        raise ProblemError(f"{label}: no column {given or what} among {among}; {advice}")
    return found


def listed_columns(columns: Iterable[Any]) -> str:
    """Names of columns for a message."""
    return ", ".join(str(column) for column in columns) or "none"


def listable(column: Any) -> list[Any]:
    """A column as a list of plain values."""
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    return list(column.tolist() if hasattr(column, "tolist") else column)


def exploded(arms: list[Any], values: Any) -> tuple[list[Any], Any]:
    """One row per reward, if a row has a list of them; other columns unchanged."""
    if getattr(getattr(values, "dtype", None), "kind", "O") != "O":
        return arms, values
    cells = listable(values)
    if not cells or not all(_is_sequence(cell) for cell in cells):
        return arms, values
    lists = [list(cell) for cell in cells]
    return list(_repeated(arms, lists)), [each for cell in lists for each in cell]


def _repeated(arms: list[Any], lists: list[list[Any]]) -> Iterator[Any]:
    for arm, rewards in zip(arms, lists, strict=True):
        yield from [arm] * len(rewards)
