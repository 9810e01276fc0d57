"""Shares of a folder of Parquet or CSV files: split by rows only, summed by arm with Arrow.

No row is ever converted to Python objects.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from standout.analysis.columns import named_column
from standout.analysis.tables import ARM_COLUMNS, VALUE_COLUMNS
from standout.core.noise import Bernoulli, GaussianUnknown, Noise
from standout.csv_files import COUNTED, is_export
from standout.errors import ProblemError
from standout.extras import require

FORMS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
SHARE_ROWS = 2**24
"""Rows per share of Parquet files: many, because its sums have one row per arm."""
SHARE_BYTES = 2**28
"""Bytes per share of CSV files, whose number of rows is unknown."""
BATCH_ROWS = 2**20
"""Rows that are decoded at a time."""
_ROWS = "files of a folder have a row per reward"


@dataclass(frozen=True)
class Part:
    """A file, or some of its row groups; `size` in bytes shows whether it is the same elsewhere."""

    path: str
    size: int
    groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Share:
    """Files to sum up, and how: everything that a worker needs.

    `schema` is Arrow's, of the first file. `has_flags`: rows that a study's export marks as not
    counted are left out. `is_binary`: rewards must be 0 or 1. `needs_scatter`: the squared
    differences from the mean are needed, too. Sums are of distances from `origin`, because sums of
    large numbers would lose their small differences.
    """

    folder: str
    parts: tuple[Part, ...]
    form: str
    schema: Any
    arm: str
    value: str
    has_flags: bool
    is_binary: bool
    needs_scatter: bool
    origin: float


def cut(folder: Path, noise: Noise | None, arm: str | None, value: str | None) -> Iterator[Share]:
    """The shares of all data files of a folder; raises `ProblemError` if they cannot be read."""
    import pyarrow
    import pyarrow.dataset

    paths, form = _files_of(folder)
    try:
        first = pyarrow.dataset.dataset(str(paths[0]), format=form)
        schema = first.schema
        columns = schema.names
        number = named_column(columns, folder, value, VALUE_COLUMNS, "value", _ROWS)
        whole = Share(
            folder=str(folder),
            parts=(),
            form=form,
            schema=schema,
            arm=named_column(columns, folder, arm, ARM_COLUMNS, "arm", _ROWS),
            value=number,
            has_flags=is_export(columns),
            is_binary=isinstance(noise, Bernoulli),
            needs_scatter=noise is None or isinstance(noise, GaussianUnknown),
            origin=0.0 if isinstance(noise, Bernoulli) else _first_number(first, number),
        )
        parts: list[Part] = []
        weight = 0
        for part, size in _parts(paths, form):
            parts.append(part)
            weight += size
            if weight >= (SHARE_ROWS if form == "parquet" else SHARE_BYTES):
                yield replace(whole, parts=tuple(parts))
                parts, weight = [], 0
    except (OSError, pyarrow.ArrowException) as error:
        raise ProblemError(f"{folder}: cannot be read: {error}") from None
    if parts:
        yield replace(whole, parts=tuple(parts))


def _first_number(data: Any, column: str) -> float:
    """The first reward, or 0 if there is none."""
    try:
        (first,) = data.head(1, columns=[column])[column].to_pylist()
        return float(first) if math.isfinite(float(first)) else 0.0
    except (TypeError, ValueError):
        return 0.0


def _parts(paths: list[Path], form: str) -> Iterator[tuple[Part, int]]:
    """Files with their rows or bytes; large files in pieces of whole row groups."""
    from pyarrow import parquet

    for path in paths:
        size = path.stat().st_size
        if form != "parquet":
            yield Part(str(path), size), size
            continue
        kept = parquet.read_metadata(path)
        rows = [kept.row_group(number).num_rows for number in range(kept.num_row_groups)]
        if sum(rows) <= SHARE_ROWS:
            yield Part(str(path), size), sum(rows)
            continue
        for number, each in enumerate(rows):
            yield Part(str(path), size, (number,)), each


def _files_of(folder: Path) -> tuple[list[Path], str]:
    """The data files in a folder and below, and their form, which must be one."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in FORMS)
    paths = [path for path in paths if path.is_file() and not path.name.startswith((".", "_"))]
    forms = {FORMS[path.suffix.lower()] for path in paths}
    if not paths:
        raise ProblemError(f"{folder}: no Parquet or CSV file in this folder")
    if len(forms) > 1:
        raise ProblemError(f"{folder}: both Parquet and CSV files; keep one of them")
    return paths, forms.pop()


def add_up(share: Share) -> Any:
    """The sums of a share by arm, as an Arrow table; on one core, in the order of its rows."""
    require("parquet", "a folder of Parquet or CSV files")
    import pyarrow
    from pyarrow import acero, compute

    value = compute.field("value")
    aggregates = [
        ("value", "hash_count", None, "count"),
        ("value", "hash_count", compute.CountOptions(mode="only_null"), "lacking"),
        ("off", "hash_sum", None, "sum"),
        ("value", "hash_min_max", None, "ends"),
    ]
    off = compute.subtract(value, compute.scalar(share.origin))
    columns = {"arm": compute.field("arm"), "value": value, "off": off}
    if share.is_binary:
        # Of numbers from 0 to 1, only 0 and 1 give 0.
        columns["between"] = compute.multiply(value, compute.subtract(compute.scalar(1.0), value))
        aggregates.append(("between", "hash_max", None, "between"))
    if share.needs_scatter:
        aggregates.append(("off", "hash_variance", compute.VarianceOptions(ddof=0), "variance"))
    try:
        rows = acero.RecordBatchReaderSourceNodeOptions(read(share))
        steps = [
            acero.Declaration("record_batch_reader_source", rows),
            acero.Declaration("project", acero.ProjectNodeOptions([*columns.values()], [*columns])),
            acero.Declaration("aggregate", acero.AggregateNodeOptions(aggregates, keys=["arm"])),
        ]
        table = acero.Declaration.from_sequence(steps).to_table(use_threads=False)
    except (OSError, pyarrow.ArrowException) as error:
        raise ProblemError(f"{share.folder}: cannot be read: {error}") from None
    names = pyarrow.chunked_array([as_texts(table["arm"].combine_chunks())])
    return table.set_column(table.schema.get_field_index("arm"), "arm", names)


def read(share: Share) -> Any:
    """The arms and rewards of a share, in the order of its files."""
    import pyarrow.csv
    import pyarrow.fs
    from pyarrow import compute, dataset

    for part in share.parts:
        if os.stat(part.path).st_size != part.size:
            raise ProblemError(
                f"{part.path}: changed while it was read, or another file on this worker"
            )
    flag = compute.field("status") == COUNTED
    if share.form == "csv":
        # The type of a column is not guessed from the first lines of the first file.
        types = {share.arm: pyarrow.string(), share.value: pyarrow.float64()}
        types |= {"status": pyarrow.string()} if share.has_flags else {}
        schema = pyarrow.schema(
            [field.with_type(types.get(field.name, field.type)) for field in share.schema]
        )
        options = pyarrow.csv.ConvertOptions(column_types=types)
        form: Any = dataset.CsvFileFormat(convert_options=options)
    else:
        schema, form = share.schema, dataset.ParquetFileFormat()
    disk = pyarrow.fs.LocalFileSystem()
    fragments = [
        form.make_fragment(
            part.path, disk, **({} if part.groups is None else {"row_groups": part.groups})
        )
        for part in share.parts
    ]
    name = compute.field(share.arm)
    kind = schema.field(share.arm).type
    if pyarrow.types.is_dictionary(kind):
        name = name.cast(kind.value_type)
    data = dataset.FileSystemDataset(fragments, schema=schema, format=form, filesystem=disk)
    scanner = data.scanner(
        columns={"arm": name, "value": compute.field(share.value).cast(pyarrow.float64())},
        filter=flag if share.has_flags else None,
        batch_size=BATCH_ROWS,
        batch_readahead=1,
        fragment_readahead=1,
        use_threads=False,
    )
    return scanner.to_reader()


def as_texts(names: Any) -> Any:
    """Arms as texts; an arm without a name is an empty text."""
    import pyarrow

    if names.type == pyarrow.string() and not names.null_count:
        return names
    texts = ["" if name is None or name != name else str(name) for name in names.to_pylist()]
    return pyarrow.array(texts, pyarrow.string())
