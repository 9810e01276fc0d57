"""How long `analyse` takes for a table of half a million rewards, by where it comes from.

Ratios are against what pandas takes to read the CSV and average it by arm, in the same run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pyarrow

from standout import Problem, analyse
from standout.analysis.begin_study import begin_study
from standout.analysis.tables import read_table


def timed(what: str, call: Callable[[], object], base: float | None = None) -> float:
    begin = time.perf_counter()
    call()
    took = time.perf_counter() - begin
    ratio = "" if base is None else f", {took / base:.1f} times pandas' group-by"
    print(f"{what}: {took:.2f} s{ratio}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--arms", type=int, default=200)
    parser.add_argument("--study", action="store_true", help="tell them to a study, too")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    means = rng.normal(0, 1, options.arms)
    means[:3] += 8
    arms = rng.integers(0, options.arms, options.rows)
    values = rng.normal(means[arms], 1.0)
    frame = pandas.DataFrame({"arm": [f"arm {i}" for i in arms], "value": values})
    problem = Problem(noise="gaussian:1", k=3)
    analyse(frame.head(5000), problem)  # Compiles.
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder) / "log.csv", Path(folder) / "log.parquet"
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet)
        print(f"{options.rows:,} rewards of {options.arms:,} arms")
        base = timed("pandas, read_csv and group-by", lambda: _average(csv))
        timed("analyse, CSV", lambda: analyse(csv, problem), base)
        timed("analyse, Parquet", lambda: analyse(parquet, problem), base)
        timed("analyse, pandas", lambda: analyse(frame, problem), base)
        timed("analyse, Arrow", lambda: analyse(pyarrow.table(frame), problem), base)
        if options.study:
            place, data = Path(folder) / "study.db", read_table(frame)
            timed("begin a study with them", lambda: begin_study(place, data, problem).close())


def _average(path: Path) -> object:
    return pandas.read_csv(path).groupby("arm")["value"].agg(["count", "sum"])


if __name__ == "__main__":
    main()
