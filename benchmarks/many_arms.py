"""How narrow the threshold's interval is for thousands of arms with few rewards each.

Tells a file of counts (columns unfunny, somewhat_funny, funny: ratings 0, 1/2 and 1 of an arm,
as contests of captions publish them) to `focus`, whose threshold comes from an interval per arm,
and to `joint`, whose threshold comes from all means together, under the same noise assumption.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from standout import Problem
from standout.core.run import Run
from standout.core.state import THRESHOLD, THRESHOLD_LOWER, THRESHOLD_UPPER

RATINGS = {"unfunny": 0.0, "somewhat_funny": 0.5, "funny": 1.0}
FILE = Path("../shared/data/nycc_636_counts.csv")


def rewards_of(row: dict[str, str], noise: str, rng: np.random.Generator) -> list[float]:
    """The ratings of an arm, in random order; for rewards 0 and 1, whether it was funny at all."""
    counts = {name: int(row[name]) for name in RATINGS}
    rewards = [rating for name, rating in RATINGS.items() for _ in range(counts[name])]
    if noise == "bernoulli":
        rewards = [float(rating > 0) for rating in rewards]
    rng.shuffle(rewards)
    return rewards


def threshold_after(
    problem: Problem, method: str, told: Sequence[Sequence[float]]
) -> tuple[float, float, float, float, int]:
    """Lower end, estimate, upper end, seconds that they took, and arms that are decided."""
    run = Run(problem, [str(i) for i in range(len(told))], method, np.random.default_rng(0))
    for arm, rewards in enumerate(told):
        for reward in rewards:
            run.tell(str(arm), reward)
    before = time.process_time()
    run.update()
    seconds = time.process_time() - before
    bounds = run.state.bounds[0]
    decided = int((run.state.verdict != 0).sum())
    return bounds[THRESHOLD_LOWER], bounds[THRESHOLD], bounds[THRESHOLD_UPPER], seconds, decided


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=Path, default=FILE, help="CSV of counts of ratings")
    parser.add_argument("--noise", action="append", help="gaussian:0.28 and bernoulli")
    parser.add_argument("--k", type=float, default=3.0)
    parser.add_argument("--delta", type=float, default=0.05)
    given = parser.parse_args(arguments)
    if not given.counts.exists():
        print(f"skipped: no file {given.counts}")
        return
    with given.counts.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for noise in given.noise or ["gaussian:0.28", "bernoulli"]:
        rng = np.random.default_rng(0)
        told = [rewards_of(row, noise, rng) for row in rows]
        problem = Problem(noise=noise, k=given.k, delta=given.delta)
        print(f"{len(told)} arms, {sum(map(len, told)):,} rewards, {noise}, k = {given.k:g}")
        widths = []
        for method in ("focus", "joint"):
            lower, estimate, upper, seconds, decided = threshold_after(problem, method, told)
            widths.append(upper - lower)
            print(
                f"  {method:6} threshold {lower:.4f} to {upper:.4f} (estimate {estimate:.4f}), "
                f"width {widths[-1]:.4f}, {decided} arms decided, {seconds:.2f} s"
            )
        print(f"  {widths[0] / widths[1]:.2f} times narrower", flush=True)


if __name__ == "__main__":
    main()
