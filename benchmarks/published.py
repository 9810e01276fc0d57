"""All published methods for outlier arms, and ours, on the same questions.

0/1 rewards, which every method is defined for, and means for which the threshold of median and
MAD, that of mean and standard deviation and the gaps of GOLD give the same outliers: all methods
are asked the same, but GOLD is told how many arms stand out. Pulls to the end, with their standard
error, and the runs with a wrong answer. `--markdown` prints the table of docs/methods.md.
"""

from __future__ import annotations

import argparse

import numpy as np

from standout import METHODS, Problem, simulate
from standout.core import robust
from standout.simulation.instances import FixedFamily, Instance, NumberedArms

K = 2.0
QUESTIONS = {
    "n = 10": [*np.linspace(0.1, 0.26, 9).tolist(), 0.9],
    "n = 20": [*np.linspace(0.1, 0.26, 18).tolist(), 0.85, 0.9],
    "n = 40": [*np.linspace(0.1, 0.26, 38).tolist(), 0.85, 0.9],
}


def family_of(name: str, means: list[float], problem: Problem) -> FixedFamily:
    """The question as an instance, after a look at both thresholds."""
    truth = robust.outliers(means, problem.factor)
    other = np.array(means) > robust.mean_std_threshold(means, K)
    assert truth.any()
    assert (truth == other).all(), name
    arms = NumberedArms(len(means))
    return FixedFamily(Instance(name, arms, np.array(means), problem.noise, None), K)


def rows(runs: int, seed: int, batch: int) -> list[list[str]]:
    problem = Problem(noise="bernoulli", k=K)
    table = [["method", *(f"pulls, {name}" for name in QUESTIONS), "wrong", "from"]]
    found = []
    for name, means in QUESTIONS.items():
        share = robust.outliers(means, problem.factor).mean()
        labels = [
            label
            + ("" if method.refines else f":batch={batch}")
            + ("" if method.rho is None else f",rho={1 - share}")
            for label, method in METHODS.items()
        ]
        family = family_of(name, means, problem)
        found.append(simulate(family, labels, problem, runs=runs, seed=seed, jobs=1))
    for number, (name, method) in enumerate(METHODS.items()):
        results = [each.results[number] for each in found]
        assert all(result.stopped == runs for result in results)
        error = [result.pulls.std(ddof=1) / np.sqrt(runs) for result in results]
        pulls = [
            f"{result.pulls.mean():,.0f} ± {e:,.0f}"
            for result, e in zip(results, error, strict=True)
        ]
        wrong = sum(result.wrong for result in results)
        table.append([f"`{name}`", *pulls, f"{wrong} of {len(results) * runs}", method.reference])
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=20, help="pulls of a chosen arm at a time")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    table = rows(given.runs, given.seed, given.batch)
    if given.markdown:
        table.insert(1, ["---"] * len(table[0]))
    for row in table:
        print(
            "| " + " | ".join(row) + " |" if given.markdown else "  ".join(f"{x:<22}" for x in row)
        )


if __name__ == "__main__":
    main()
