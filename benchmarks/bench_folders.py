"""The speed of `analyse` on a folder of Parquet files, compared with the engine's own group-by.

The files are made first, with the given numbers of rewards and arms, a million rows at a time; a
row takes some 15 bytes. Then three steps are timed one after the other, each in its own process,
with its peak memory: the engine's count and sum by arm on all cores, the sums that the intervals
need (in the order of shares), and the whole answer.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from pyarrow import acero, dataset

from standout import Problem, analyse
from standout.analysis.folders import read_folder

PER_FILE = 1_000_000


def write(folder: Path, rows: int, arms: int, noise: str) -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(0, 1, arms)
    means[: max(3, arms // 10_000)] += 12
    names = pyarrow.array([f"arm {i}" for i in range(arms)])
    for number, start in enumerate(range(0, rows, PER_FILE)):
        codes = rng.integers(0, arms, min(PER_FILE, rows - start))
        values = rng.normal(means[codes], 1.0)
        if noise == "bernoulli":
            values = (values > 2).astype(np.float64)
        elif noise.startswith("bounded"):
            values = np.clip(values, -5, 15)
        table = pyarrow.table({"arm": names.take(pyarrow.array(codes)), "value": values})
        pyarrow.parquet.write_table(table, folder / f"part-{number:05}.parquet")


def group_by(folder: Path, problem: Problem) -> str:
    """Arrow's own, with all its threads, file after file."""
    rows = acero.ScanNodeOptions(dataset.dataset(str(folder)), columns=["arm", "value"])
    fields = acero.ProjectNodeOptions(
        [dataset.field("arm"), dataset.field("value")], ["arm", "value"]
    )
    sums = [("value", "hash_count", None, "count"), ("value", "hash_sum", None, "sum")]
    steps = [
        acero.Declaration("scan", rows),
        acero.Declaration("project", fields),
        acero.Declaration("aggregate", acero.AggregateNodeOptions(sums, keys=["arm"])),
    ]
    table = acero.Declaration.from_sequence(steps).to_table(use_threads=True)
    return f"{table.num_rows:,} arms"


def add_up(folder: Path, problem: Problem) -> str:
    return f"{len(read_folder(folder, problem.noise).arms):,} arms"


def answer(folder: Path, problem: Problem) -> str:
    return repr(analyse(folder, problem))


def answer_in_order(folder: Path, problem: Problem) -> str:
    return repr(analyse(folder, problem, is_ordered=True))


def timed(call: Callable[[Path, Problem], str], folder: Path, problem: Problem) -> None:
    """In a process of its own: how long it takes, and with how much memory."""
    small = {f"arm {i}": [0.0, 1.0, 1.0] for i in range(20_001)}
    analyse(small, problem)  # Loads what is compiled.
    begin, cpu = time.perf_counter(), time.process_time()
    said = call(folder, problem)
    took, cpu = time.perf_counter() - begin, time.process_time() - cpu
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rows = sum(pyarrow.parquet.read_metadata(path).num_rows for path in folder.iterdir())
    print(
        f"{took:.1f} s ({cpu:.1f} s of processors), {rows / took:,.0f} rows/s, "
        f"at most {most:.2f} GB: {said}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--arms", type=int, default=1_000_000)
    parser.add_argument(
        "--noise", default="gaussian:1", help="or gaussian, bernoulli, bounded:-5,15"
    )
    parser.add_argument("--ordered", action="store_true", help="the order is part of the answer")
    parser.add_argument("--folder", type=Path, help="keep the files here, or take those that are")
    options = parser.parse_args()
    problem = Problem(noise=options.noise, k=3)
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        if options.folder is None or not folder.exists():
            folder.mkdir(exist_ok=True)
            write(folder, options.rows, options.arms, options.noise)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        print(f"{options.rows:,} rewards of {options.arms:,} arms, {size:,.0f} MB of Parquet")
        ways = {
            "Arrow, count and sum by arm": group_by,
            "added up, all that is needed": add_up,
            "analyse": answer_in_order if options.ordered else answer,
        }
        for words, call in ways.items():
            print(words, end=": ", flush=True)
            child = multiprocessing.get_context("spawn").Process(
                target=timed, args=(call, folder, problem)
            )
            child.start()
            child.join()


if __name__ == "__main__":
    main()
