"""How far above the information limit a method lies, and how that changes with delta.

The limit is what no method can go below (`standout.theory.limit`). As delta falls, what a
method spends on finding out where to look, and on certificates that hold for all
arms at once, matters less beside log(1/delta): the ratio must fall.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from standout import Problem, simulate
from standout.simulation import default_problem, parse_instance
from standout.theory import information_limit

INSTANCES = ("fig1:gap=0.6", "fig1:gap=0.4", "fig1:gap=0.2")
DELTAS = (0.2, 0.05, 1e-2, 1e-3, 1e-5, 1e-10)


def curve(name: str, method: str, runs: int, seed: int, jobs: int) -> dict[str, Any]:
    family = parse_instance(name)
    instance = family.draw(np.random.default_rng(0))
    problem = default_problem(family)
    limit = information_limit(instance.means, problem, instance.sigmas)
    lines = []
    for delta in DELTAS:
        asked = Problem(noise=problem.noise, k=problem.k, delta=delta)
        (found,) = simulate(family, [method], asked, runs=runs, seed=seed, jobs=jobs).results
        here = limit.at(delta)
        values = found.to_dict()
        lines.append(
            {
                "delta": delta,
                "lower": here.lower,
                "upper": here.upper,
                "pulls_mean": values["pulls_mean"],
                "pulls_se": values["pulls_se"],
                "wrong": found.wrong,
                "ratio": values["pulls_mean"] / here.lower,
            }
        )
    return {"instance": name, "method": method, "runs": runs, "lines": lines}


def show(table: dict[str, Any]) -> None:
    print(f"\n{table['instance']}: pulls of {table['method']}, {table['runs']} runs")
    print(f"  {'delta':>7} {'limit':>17} {'pulls':>9} {'± se':>6} {'wrong':>6} {'× limit':>8}")
    for line in table["lines"]:
        limit = f"{line['lower']:,.0f} to {line['upper']:,.0f}"
        print(
            f"  {line['delta']:7g} {limit:>17} {line['pulls_mean']:9,.0f} "
            f"{line['pulls_se'] or 0:6,.0f} {line['wrong']:6} {line['ratio']:8.1f}",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="focus")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to FILE")
    given = parser.parse_args(arguments)
    words = list(sys.argv[1:] if arguments is None else arguments)
    print("$ python benchmarks/limit.py " + shlex.join(words))
    tables = []
    for name in INSTANCES:
        table = curve(name, given.method, given.runs, given.seed, given.jobs)
        show(table)
        tables.append(table)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(tables, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
