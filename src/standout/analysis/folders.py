"""Folders of Parquet or CSV files, larger than memory, reduced to the sums that intervals need.

The cores of this machine, or the workers of a cluster, sum up shares of the files
(`folder_shares`). The sums are added in the order of the shares, so the result is the same to the
last digit wherever they were computed. Only a few numbers per arm are kept.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.folder_shares import Share, add_up, as_texts, cut, read
from standout.analysis.tables import Sums
from standout.core.noise import Noise
from standout.core.typing import Floats, Ints
from standout.csv_files import unguarded
from standout.driver.campaign import threads
from standout.errors import ProblemError, RewardError
from standout.extras import require
from standout.text import agree, plural

MOST_THREADS = 4
"""Shares that are processed at a time: each needs memory for all arms."""


@dataclass(frozen=True, eq=False)
class FolderSums(Sums):
    """The sums of a folder; its rows can be read again, in order."""

    names: Any
    """The arms as an Arrow array: in the same order, and as written in the files."""
    shares: tuple[Share, ...]

    def rows(self) -> Iterator[tuple[Ints, Floats]]:
        """All rewards in the order of file names and rows, in batches.

        Each batch has the positions of the arms, and the rewards.
        """
        from pyarrow import compute

        for share in self.shares:
            for batch in read(share):
                encoded = batch.column("arm").dictionary_encode()
                places = compute.index_in(as_texts(encoded.dictionary), value_set=self.names)
                if places.null_count:
                    raise ProblemError(f"{share.folder}: changed while it was read")
                codes = places.to_numpy().astype(np.int64)[encoded.indices.to_numpy()]
                yield codes, batch.column("value").to_numpy()


Progress = Callable[[int, int], None]
"""Called with the number of finished shares, and of all shares."""


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
    """All rewards in a folder's files (one per row), as sums by arm, in the order of names.

    Every reward is checked against `noise`, if given. With an `executor` (Dask's
    `client.get_executor()`), its workers sum up the shares, `jobs` at a time; they must see the
    same files. Otherwise this machine's cores do. Raises `ProblemError` for files that cannot be
    read together, `RewardError` for rewards that the noise cannot produce.
    """
    require("parquet", "a folder of Parquet or CSV files")
    shares = list(cut(folder, noise, arm, value))
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
    """The sums of each share, in order, with at most `ahead` that are not consumed yet.

    A share whose worker died is computed again elsewhere; each counts once.
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


class _Totals:
    """The sums of all shares so far, per arm."""

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
        """The totals, checked against the noise, in the order of names."""
        from pyarrow import compute

        if self.names is None or not len(self.names):
            raise ProblemError(f"{folder}: the files have no reward")
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
    """Refuse rows without arm or number, and rewards that the noise cannot produce."""
    if any(not name for name in names):
        raise ProblemError(f"{folder}: some rows have no arm")
    lacking = int(kept["lacking"].sum())
    is_infinite = (kept["lowest"] == -np.inf) | (kept["highest"] == np.inf)
    unclear = np.flatnonzero(np.isnan(kept["sum"]) & ~is_infinite)
    if lacking or len(unclear):
        which = f"rows of arm {names[int(unclear[0])]!r} have"
        if lacking:
            which = f"{plural(lacking, 'row')} {agree(lacking, 'has', 'have')}"
        raise ProblemError(
            f"{folder}: {which} no number. Leave such rows out only if the reason for a missing "
            "number does not depend on its value"
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
