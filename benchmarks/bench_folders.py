"""How fast `analyse` goes through a folder of Parquet files, beside Arrow's own group-by.

The files are made first, with as many rewards and arms as asked for; both are timed in one run, and
the most memory that the process ever had is told.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from pyarrow import dataset

from standout import Problem, analyse
from standout.analysis.folders import read_folder

PER_FILE = 1_000_000


def write(folder: Path, rows: int, arms: int) -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(0, 1, arms)
    means[: max(3, arms // 10_000)] += 12
    names = pyarrow.array([f"arm {i}" for i in range(arms)])
    for number, start in enumerate(range(0, rows, PER_FILE)):
        codes = rng.integers(0, arms, min(PER_FILE, rows - start))
        values = rng.normal(means[codes], 1.0)
        table = pyarrow.table({"arm": names.take(pyarrow.array(codes)), "value": values})
        pyarrow.parquet.write_table(table, folder / f"part-{number:05}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--arms", type=int, default=1_000_000)
    options = parser.parse_args()
    problem = Problem(noise="gaussian:1", k=3)
    small = {f"arm {i}": [0.0, 1.0, 2.0] for i in range(20_001)}
    analyse(small, problem)  # Compiles.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, options.rows, options.arms)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        print(f"{options.rows:,} rewards of {options.arms:,} arms, {size:,.0f} MB of Parquet")
        begin = time.perf_counter()
        data = dataset.dataset(str(folder))
        data.to_table().group_by("arm").aggregate([("value", "count"), ("value", "sum")])
        base = time.perf_counter() - begin
        print(
            f"Arrow, group-by of it all in memory: {base:.1f} s, {options.rows / base:,.0f} rows/s"
        )
        begin = time.perf_counter()
        read_folder(folder, problem.noise)
        took = time.perf_counter() - begin
        print(f"added up by arm: {took:.1f} s, {options.rows / took:,.0f} rows/s")
        begin = time.perf_counter()
        said = analyse(folder, problem)
        took = time.perf_counter() - begin
        print(f"analyse: {took:.1f} s, {options.rows / took:,.0f} rows/s: {said!r}")
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"most memory: {most:.2f} GB")


if __name__ == "__main__":
    main()
