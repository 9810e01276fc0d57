"""Folders of Parquet or CSV files, larger than memory, brought down to what intervals need.

Arrow's own engine reads them file by file and adds up by arm, on all cores; what is kept is a few
numbers per arm: how many rewards, their sum and their scatter. No row is ever seen by Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.tables import ARM_COLUMNS, VALUE_COLUMNS, Sums, find_column, listed_columns
from standout.core.noise import Bernoulli, Noise
from standout.errors import ProblemError, RewardError
from standout.extras import require

FORMS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}


def read_folder(
    folder: Path, noise: Noise | None, arm: str | None = None, value: str | None = None
) -> Sums:
    """All rewards in a folder's files (one row each), as sums by arm, in the order of names.

    `noise`, if given, is what every reward is checked against. Raises `ProblemError` for
    files that cannot be read together, `RewardError` for rewards that the noise cannot produce.
    """
    require("parquet", "a folder of Parquet or CSV files")
    import pyarrow
    import pyarrow.dataset

    paths, form = _files_of(folder)
    try:
        data = pyarrow.dataset.dataset([str(path) for path in paths], format=form)
        columns = data.schema.names
        arm_column = _column(columns, arm, ARM_COLUMNS, "arm", folder)
        value_column = _column(columns, value, VALUE_COLUMNS, "value", folder)
        table = _add_up(data, arm_column, value_column)
    except (OSError, pyarrow.ArrowException) as error:
        raise ProblemError(f"{folder}: cannot be read: {error}") from None
    return _sums(table, folder, noise)


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


def _add_up(data: Any, arm: str, value: str) -> Any:
    """Group by arm, in Arrow's engine: file after file, with memory for the groups only."""
    import pyarrow
    from pyarrow import acero, compute

    number = compute.field(value).cast(pyarrow.float64())
    name = compute.field(arm).cast(pyarrow.string())
    columns = {"arm": name, "value": number}
    sample = compute.VarianceOptions(ddof=1)
    lacking = compute.CountOptions(mode="only_null")
    aggregates = [
        ("value", "hash_count", None, "count"),
        ("value", "hash_count", lacking, "lacking"),
        ("value", "hash_sum", None, "sum"),
        ("square", "hash_sum", None, "squares"),
        ("value", "hash_variance", sample, "variance"),
        ("value", "hash_min_max", None, "ends"),
    ]
    whole = acero.Declaration.from_sequence(
        [
            acero.Declaration("scan", acero.ScanNodeOptions(data, columns=columns)),
            acero.Declaration(
                "project", acero.ProjectNodeOptions([name, number], ["arm", "value"])
            ),
            acero.Declaration(
                "project",
                acero.ProjectNodeOptions(
                    [
                        compute.field("arm"),
                        compute.field("value"),
                        compute.multiply(compute.field("value"), compute.field("value")),
                    ],
                    ["arm", "value", "square"],
                ),
            ),
            acero.Declaration("aggregate", acero.AggregateNodeOptions(aggregates, keys=["arm"])),
        ]
    )
    return whole.to_table(use_threads=True).sort_by("arm")


def _sums(table: Any, folder: Path, noise: Noise | None) -> Sums:
    names = table["arm"].to_pylist()
    if any(name is None or name == "" for name in names):
        raise ProblemError(f"{folder}: some rows have no arm")
    lacking = np.asarray(table["lacking"].to_numpy())
    counts = np.asarray(table["count"].to_numpy()).astype(np.int64)
    sums = np.nan_to_num(np.asarray(table["sum"].to_numpy(), dtype=np.float64))
    if lacking.any() or not np.isfinite(sums).all():
        raise ProblemError(
            f"{folder}: {int(lacking.sum()):,} rows have no number. Leave such rows out only if "
            "why they have none has nothing to do with what it was"
        )
    if noise is not None:
        _check(table, names, sums, noise)
    variance = np.asarray(table["variance"].to_numpy(), dtype=np.float64)
    return Sums(tuple(names), counts, sums, np.sqrt(variance))


def _check(table: Any, names: list[str], sums: Any, noise: Noise) -> None:
    """Refuse what the noise cannot produce, by each arm's smallest and largest reward."""
    import pyarrow.compute

    squares = np.asarray(table["squares"].to_numpy(), dtype=np.float64)
    for end in ("min", "max"):
        ends = pyarrow.compute.struct_field(table["ends"], end).to_numpy()
        worst = int(np.argmin(ends) if end == "min" else np.argmax(ends))
        reward = float(ends[worst])
        try:
            noise.check_reward(reward)
        except RewardError as error:
            raise RewardError(f"arm {names[worst]!r}: {error}") from None
    if isinstance(noise, Bernoulli):
        # Of numbers from 0 to 1, only 0 and 1 are their own squares.
        wrong = np.flatnonzero(squares != sums)
        if len(wrong):
            name = names[int(wrong[0])]
            raise RewardError(f"arm {name!r} has rewards that are neither 0 nor 1")
