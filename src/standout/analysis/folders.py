"""Folders of Parquet or CSV files, larger than memory, brought down to what intervals need.

The files are cut into shares, by their rows alone. Arrow's own engine adds up each share by arm;
shares go through the cores of this machine, or through those of a cluster, and their sums are
added in the shares' order: the same numbers, to the last digit, wherever they were worked out. What
is kept is a few numbers per arm. No row is ever seen by Python.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.tables import ARM_COLUMNS, VALUE_COLUMNS, Sums, find_column, listed_columns
from standout.core.noise import Bernoulli, GaussianUnknown, Noise
from standout.core.typing import Floats, Ints
from standout.errors import ProblemError, RewardError
from standout.extras import require
from standout.study.csv_files import unguarded
from standout.study.measuring.campaign import threads

FORMS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
SHARE_ROWS = 2**24
"""Rows of a share of Parquet files: many, since its sums have a row for each of its arms."""
SHARE_BYTES = 2**28
"""Bytes of a share of CSV files, of which the rows are not known beforehand."""
BATCH_ROWS = 2**20
"""Rows that are decoded at a time."""
MOST_THREADS = 4
"""Shares that are added up at a time: each needs memory for all arms."""


@dataclass(frozen=True, eq=False)
class FolderSums(Sums):
    """The sums of a folder; its rows can be gone through once more, in order."""

    names: Any
    """The arms as Arrow has them: in the same order, and as they are written in the files."""
    shares: tuple[Share, ...]

    def rows(self) -> Iterator[tuple[Ints, Floats]]:
        """All rewards in the order of the files' names and their rows, some at a time.

        Each time the positions of their arms, and the rewards.
        """
        from pyarrow import compute

        for share in self.shares:
            for batch in _reader(share):
                encoded = batch.column("arm").dictionary_encode()
                places = compute.index_in(_texts(encoded.dictionary), value_set=self.names)
                if places.null_count:
                    raise ProblemError(f"{share.folder}: changed while it was read")
                codes = places.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
                yield codes, batch.column("value").to_numpy()


Progress = Callable[[int, int], None]
"""Told how many shares are done, and of how many."""


@dataclass(frozen=True)
class Part:
    """A file, or some row groups of it; `size` in bytes shows whether it is the same elsewhere."""

    path: str
    size: int
    groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Share:
    """Files to add up, and how: all that a worker needs to know.

    `schema` is Arrow's, of the first file. `has_flags`: rows that the export of a study marks
    as not counted are left out. `is_binary`: rewards must be 0 or 1; `needs_scatter`: their
    squared differences from the mean are needed, too. What is added up is how far they lie from
    `origin`: sums of large numbers that differ little would lose what they differ by.
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


def read_folder(
    folder: Path,
    noise: Noise | None,
    arm: str | None = None,
    value: str | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> FolderSums:
    """All rewards in a folder's files (one row each), as sums by arm, in the order of names.

    `noise`, if given, is what every reward is checked against. With an `executor` (Dask's
    `client.get_executor()`, say) the shares are added up there, `jobs` at a time, by workers
    that see the same files; otherwise on this machine's cores. Raises `ProblemError` for
    files that cannot be read together, `RewardError` for rewards that the noise cannot produce.
    """
    require("parquet", "a folder of Parquet or CSV files")
    shares = list(_shares(folder, noise, arm, value))
    totals = _Totals()
    if executor is not None:
        _add_all(executor, shares, jobs or 1, totals, progress)
    else:
        at_once = min(MOST_THREADS, len(shares), jobs or os.cpu_count() or 1)
        with threads(at_once) as pool:
            _add_all(pool, shares, at_once, totals, progress)
    return totals.finished(folder, noise, tuple(shares))


def _add_all(
    executor: Executor, shares: list[Share], jobs: int, totals: _Totals, progress: Progress | None
) -> None:
    for done, table in enumerate(_in_order(executor, shares, 2 * jobs), start=1):
        totals.add(table)
        if progress is not None:
            progress(done, len(shares))


def _in_order(executor: Executor, shares: Iterable[Share], ahead: int) -> Iterator[Any]:
    """The sums of each share, in their order, with at most `ahead` that nobody has taken yet.

    A share whose worker died is added up again elsewhere; each is taken once.
    """
    running: deque[Future[Any]] = deque()
    try:
        for share in shares:
            running.append(executor.submit(add_up, share))
            if len(running) >= ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()


# Cutting a folder into shares ------------------------------------------------------


def _shares(
    folder: Path, noise: Noise | None, arm: str | None, value: str | None
) -> Iterator[Share]:
    import pyarrow
    import pyarrow.dataset

    paths, form = _files_of(folder)
    try:
        first = pyarrow.dataset.dataset(str(paths[0]), format=form)
        schema = first.schema
        columns = schema.names
        number = _column(columns, value, VALUE_COLUMNS, "value", folder)
        whole = Share(
            folder=str(folder),
            parts=(),
            form=form,
            schema=schema,
            arm=_column(columns, arm, ARM_COLUMNS, "arm", folder),
            value=number,
            has_flags="counted" in columns and "seq" in columns,
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
    """The first reward, or 0 where there is none."""
    try:
        (first,) = data.head(1, columns=[column])[column].to_pylist()
        return float(first) if math.isfinite(float(first)) else 0.0
    except (TypeError, ValueError):
        return 0.0


def _parts(paths: list[Path], form: str) -> Iterator[tuple[Part, int]]:
    """Files with their rows, or bytes; large ones in pieces of whole row groups."""
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


def _column(
    columns: list[str], given: str | None, usual: tuple[str, ...], what: str, folder: Path
) -> str:
    found = given if given is not None else find_column(columns, usual)
    if found is None or found not in columns:
        raise ProblemError(f"{folder}: no column {given or what} among {listed_columns(columns)}")
    return found


# A share, in Arrow's engine ---------------------------------------------------------


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
        rows = acero.RecordBatchReaderSourceNodeOptions(_reader(share))
        steps = [
            acero.Declaration("record_batch_reader_source", rows),
            acero.Declaration("project", acero.ProjectNodeOptions([*columns.values()], [*columns])),
            acero.Declaration("aggregate", acero.AggregateNodeOptions(aggregates, keys=["arm"])),
        ]
        table = acero.Declaration.from_sequence(steps).to_table(use_threads=False)
    except (OSError, pyarrow.ArrowException) as error:
        raise ProblemError(f"{share.folder}: cannot be read: {error}") from None
    names = pyarrow.chunked_array([_texts(table["arm"].combine_chunks())])
    return table.set_column(table.schema.get_field_index("arm"), "arm", names)


def _reader(share: Share) -> Any:
    """The arms and rewards of a share, in the order of its files."""
    import pyarrow.csv
    import pyarrow.fs
    from pyarrow import compute, dataset

    for part in share.parts:
        if os.stat(part.path).st_size != part.size:
            raise ProblemError(
                f"{part.path}: changed while it was read, or another file on this worker"
            )
    flag = compute.field("counted")
    if share.form == "csv":
        # What a column holds is not guessed from the first lines of the first file.
        types = {share.arm: pyarrow.string(), share.value: pyarrow.float64()}
        types |= {"counted": pyarrow.string()} if share.has_flags else {}
        schema = pyarrow.schema(
            [field.with_type(types.get(field.name, field.type)) for field in share.schema]
        )
        options = pyarrow.csv.ConvertOptions(column_types=types)
        form: Any = dataset.CsvFileFormat(convert_options=options)
        flag = compute.is_in(compute.utf8_lower(flag), pyarrow.array(["true", "1"]))
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


def _texts(names: Any) -> Any:
    """Arms as texts, whatever they were; one without a name has an empty one."""
    import pyarrow

    if names.type == pyarrow.string() and not names.null_count:
        return names
    texts = ["" if name is None or name != name else str(name) for name in names.to_pylist()]
    return pyarrow.array(texts, pyarrow.string())


# All shares together ----------------------------------------------------------------


class _Totals:
    """What all shares so far add up to, per arm."""

    def __init__(self) -> None:
        self.names: Any = None
        self.columns: dict[str, Any] = {}

    def add(self, table: Any) -> None:
        """Add the sums of one more share."""
        from pyarrow import compute

        names = table["arm"].combine_chunks()
        new = _numbers(table)
        if self.names is None:
            self.names, self.columns = names, new
            return
        places = compute.index_in(names, value_set=self.names)
        is_new = compute.is_null(places).to_numpy(zero_copy_only=False)
        known = compute.drop_null(places).to_numpy(zero_copy_only=False)
        _merge(self.columns, known, {name: column[~is_new] for name, column in new.items()})
        if is_new.any():
            self._append(names.filter(is_new), {name: new[name][is_new] for name in new})

    def _append(self, names: Any, new: dict[str, Any]) -> None:
        import pyarrow

        self.names = pyarrow.concat_arrays([self.names, names])
        self.columns = {name: np.concatenate([self.columns[name], new[name]]) for name in new}

    def finished(self, folder: Path, noise: Noise | None, shares: tuple[Share, ...]) -> FolderSums:
        """What it all comes to, checked against the noise, in the order of names."""
        from pyarrow import compute

        if self.names is None or not len(self.names):
            raise ProblemError(f"{folder}: the files hold no reward")
        order = compute.sort_indices(self.names)
        written = self.names.take(order)
        names, place = written.to_pylist(), order.to_numpy()
        kept = {name: column[place] for name, column in self.columns.items()}
        self.names, self.columns = None, {}
        _check(folder, names, kept, noise)
        arms = tuple(unguarded(name) if name[0] == "'" else name for name in names)
        counts = kept["count"]
        std: Floats = np.full(len(arms), np.nan)
        if "squares" in kept:
            np.divide(kept["squares"], counts - 1, out=std, where=counts > 1)
            np.sqrt(std, out=std)
        sums = kept["sum"] + counts * shares[0].origin
        return FolderSums(arms, counts, sums, std, written, shares)


_ADDED = ("count", "lacking", "sum")


def _numbers(table: Any) -> dict[str, Any]:
    """The columns of a share's sums, with the squared differences from the mean of each arm."""
    from pyarrow import compute

    ends = table["ends"].combine_chunks()
    columns = {
        "lowest": compute.struct_field(ends, "min"),
        "highest": compute.struct_field(ends, "max"),
        **{name: table[name] for name in (*_ADDED, "between") if name in table.column_names},
    }
    found = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    if "variance" in table.column_names:
        found["squares"] = table["variance"].to_numpy() * found["count"]
    return {
        name: np.array(column, dtype=np.int64 if name in ("count", "lacking") else np.float64)
        for name, column in found.items()
    }


def _merge(kept: dict[str, Any], places: Any, new: dict[str, Any]) -> None:
    """Add sums to those at `places`, in place."""
    if "squares" in kept:
        # Chan, Golub and LeVeque: exact in the numbers, and stable.
        had, more = kept["count"][places], new["count"]
        both = np.maximum(had + more, 1)
        apart = new["sum"] / np.maximum(more, 1) - kept["sum"][places] / np.maximum(had, 1)
        kept["squares"][places] += new["squares"] + apart**2 * (had * (more / both))
    for name, column in kept.items():
        if name in _ADDED:
            column[places] += new[name]
        elif name != "squares":
            choose = np.fmin if name == "lowest" else np.fmax
            column[places] = choose(column[places], new[name])


def _check(folder: Path, names: list[str], kept: dict[str, Any], noise: Noise | None) -> None:
    """Refuse rows without arm or number, and what the noise cannot produce."""
    if any(not name for name in names):
        raise ProblemError(f"{folder}: some rows have no arm")
    lacking = int(kept["lacking"].sum())
    is_infinite = (kept["lowest"] == -np.inf) | (kept["highest"] == np.inf)
    unclear = np.flatnonzero(np.isnan(kept["sum"]) & ~is_infinite)
    if lacking or len(unclear):
        which = f"{lacking:,} rows" if lacking else f"rows of arm {names[int(unclear[0])]!r}"
        raise ProblemError(
            f"{folder}: {which} have no number. Leave such rows out only if why they have none "
            "has nothing to do with what it was"
        )
    if noise is None:
        return
    for ends in (kept["lowest"], kept["highest"]):
        for worst in (int(np.argmin(ends)), int(np.argmax(ends))):
            try:
                noise.check_reward(float(ends[worst]))
            except RewardError as error:
                raise RewardError(f"arm {names[worst]!r}: {error}") from None
    if "between" in kept and (wrong := np.flatnonzero(kept["between"] > 0)).size:
        raise RewardError(f"arm {names[int(wrong[0])]!r} has rewards that are neither 0 nor 1")
