"""How studies grow: with arms, with rewards, with studies, and when rewards come as averages.

Run it as: python benchmarks/scaling.py [--quick]. SQLite in a temporary folder, one process; every
told reward is on disk. For several processes and PostgreSQL: bench_studies.py --crowds.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bars import disk

from standout import Bernoulli, Bounded, Problem, Study, identify

BATCH = 5_000


def names(count: int) -> list[str]:
    return [f"arm {number}" for number in range(count)]


def tell(study: Study, count: int, rng: np.random.Generator) -> None:
    """0/1 rewards without asking, in batches."""
    arms = study.arms
    for begin in range(0, count, BATCH):
        size = min(BATCH, count - begin)
        chosen = rng.integers(len(arms), size=size).tolist()
        values = rng.integers(2, size=size).tolist()
        study.tell_many([(arms[a], float(v)) for a, v in zip(chosen, values, strict=True)])


def megabytes(path: Path) -> float:
    return sum(os.path.getsize(each) for each in path.parent.glob(path.name + "*")) / 1e6


def grow_arms(folder: Path, quick: bool) -> None:
    print("\narms     create s   open s   ask(100) ms   told/s in batches   file MB before rewards")
    for count in (100, 1_000, 10_000) if quick else (100, 1_000, 10_000, 100_000):
        path = folder / f"arms-{count}.db"
        begin = time.perf_counter()
        study = Study.create(str(path), names(count), Problem(noise="bernoulli"))
        made = time.perf_counter() - begin
        size = megabytes(path)
        rng = np.random.default_rng(1)
        tell(study, BATCH, rng)  # What is compiled or read once, ...
        study.tell_many([(ticket, 1.0) for ticket in study.ask(100)])  # ... here, too.
        begin = time.perf_counter()
        tell(study, 4 * BATCH, rng)
        told = 4 * BATCH / (time.perf_counter() - begin)
        begin = time.perf_counter()
        study.ask(100)
        asked = 1000 * (time.perf_counter() - begin)
        study.close()
        begin = time.perf_counter()
        with Study.open(str(path)) as again:
            again.status()
        opened = time.perf_counter() - begin
        print(f"{count:7,} {made:9.2f} {opened:8.2f} {asked:13.1f} {told:19,.0f} {size:24.1f}")


def grow_rewards(folder: Path, quick: bool) -> None:
    print("\nrewards    told/s   bytes each   verify s   MB of memory")
    path = folder / "rewards.db"
    study = Study.create(str(path), names(200), Problem(noise="bernoulli"))
    rng = np.random.default_rng(2)
    before = megabytes(path)
    so_far = 0
    for goal in (50_000, 200_000) if quick else (50_000, 200_000, 500_000):
        begin = time.perf_counter()
        tell(study, goal - so_far, rng)
        rate = (goal - so_far) / (time.perf_counter() - begin)
        so_far = goal
        begin = time.perf_counter()
        assert study.verify()
        checked = time.perf_counter() - begin
        each = 1e6 * (megabytes(path) - before) / so_far
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"{so_far:9,} {rate:7,.0f} {each:12.0f} {checked:10.1f} {memory:14,.0f}")
    study.close()


def grow_studies(folder: Path, quick: bool) -> None:
    print("\nstudies in one file   tell-and-asks/s, in turn")
    for count in (1, 10) if quick else (1, 10, 100):
        path = str(folder / f"studies-{count}.db")
        studies = [
            Study.create(path, names(50), Problem(noise="bernoulli"), name=f"s{number}")
            for number in range(count)
        ]
        told = [study.ask() for study in studies]
        begin = time.perf_counter()
        done = 0
        while done < 600:
            for place, study in enumerate(studies):
                ticket = told[place]
                assert ticket is not None
                _, told[place] = study.tell_and_ask([(ticket, 1.0)])
                done += 1
        print(f"{count:19,} {done / (time.perf_counter() - begin):24,.0f}")
        for study in studies:
            study.close()


def averages() -> None:
    """The same question with rewards one by one, and as averages of so many."""
    rng = np.random.default_rng(3)
    rates = dict(zip(names(20), np.linspace(0.2, 0.4, 20).tolist(), strict=True)) | {"arm 7": 0.8}
    print("\nrewards per pull   pulls    rewards in all   found")
    for size in (1, 10, 100, 1000):
        noise = Bernoulli() if size == 1 else Bounded(0.0, 1.0)

        def measure(arm: str, size: int = size) -> float:
            return float(rng.binomial(size, rates[arm]) / size)

        problem = Problem(noise=noise, k=3, tolerance=0.05)
        found = identify(measure, list(rates), problem)
        print(f"{size:16,} {found.pulls:7,} {found.pulls * size:17,}   {', '.join(found.outliers)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smaller half of it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("$ python benchmarks/scaling.py", *sys.argv[1:], f"({os.cpu_count()} cores)")
        print(f"the disk takes {disk(folder):.2f} ms to make a write safe")
        for part in (grow_arms, grow_rewards, grow_studies):
            part(Path(folder), given.quick)
    averages()


if __name__ == "__main__":
    main()
