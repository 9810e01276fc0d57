"""How often an answer is wrong, over random questions that nothing was tuned on.

Each run draws a noise, a side, a k, a tolerance, a number of arms and their means, plays a method
to the end or its budget through one of the drivers (rounds by hand, `identify`, a study) and
counts as wrong if any certified verdict is. More than delta of the runs must not be.

python benchmarks/guarantee.py --method joint --runs 5000 --seed 1
python benchmarks/guarantee.py --method joint --runs 40 --arms 310 --delta 0.3
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import beta

from standout import Problem, Study, UndecidableWarning, identify
from standout.core import robust
from standout.core.problem import Side
from standout.core.run import Run
from standout.core.typing import Floats

NOISES = ("gaussian:0.5", "bernoulli", "bounded:0,1", "gaussian", "heavy:0.5")
DRIVERS = ("run", "run", "run", "run", "identify", "identify", "study")
BATCH = 16


def draw_problem(rng: np.random.Generator, delta: float) -> Problem:
    side = str(rng.choice(["high", "low", "both"]))
    return Problem(
        noise=str(rng.choice(NOISES)),
        k=float(rng.choice([1.0, 1.5, 2.0, 3.0])),
        k_low=float(rng.choice([1.0, 2.0])) if side == "both" and rng.random() < 0.5 else None,
        mad_scale=float(rng.choice([1.0, 1.4826])),
        side=side,
        tolerance=float(rng.choice([0.0, 0.0, 0.02])),
        delta=delta,
    )


def draw_means(rng: np.random.Generator, n: int, noise: str) -> Floats:
    means: Floats = rng.normal(0.0, 1.0, n)
    means[rng.random(n) < 0.15] *= 4
    if noise.startswith(("bernoulli", "bounded")):
        means = np.clip(0.4 + 0.12 * means, 0.02, 0.98)
    return means


def rewards(problem: Problem, means: Floats, rng: np.random.Generator) -> Callable[[str], float]:
    noise = problem.noise.spec()

    def measure(arm: str) -> float:
        mean = means[int(arm)]
        if noise == "bernoulli":
            return float(rng.random() < mean)
        if noise.startswith("bounded"):
            return float(rng.beta(3 * mean, 3 * (1 - mean)))
        if noise.startswith("heavy"):
            return float(mean + 0.5 * rng.standard_t(4) / np.sqrt(2))
        return float(rng.normal(mean, 0.5))

    return measure


def is_wrong(
    problem: Problem, means: Floats, outliers: Sequence[str], normal: Sequence[str]
) -> bool:
    is_out, may_be_out = np.zeros(len(means), np.bool_), np.zeros(len(means), np.bool_)
    for side in problem.sides():
        sign = 1.0 if side is Side.HIGH else -1.0
        theta = robust.threshold(sign * means, problem.factor_of(side))
        is_out |= sign * means > theta + problem.tolerance
        may_be_out |= sign * means > theta - problem.tolerance
    return any(is_out[int(arm)] for arm in normal) or any(not may_be_out[int(a)] for a in outliers)


def play(
    driver: str, problem: Problem, means: Floats, method: str, budget: int, seed: int, place: Path
) -> tuple[bool, bool]:
    """Whether the answer is wrong, and whether all was decided."""
    rng = np.random.default_rng((seed, 1))
    measure = rewards(problem, means, rng)
    arms = [str(i) for i in range(len(means))]
    if driver == "identify":
        found = identify(measure, arms, problem, method=method, budget=budget, seed=seed)
    elif driver == "study":
        budget = min(budget, 1500)
        with Study.create(place, arms, problem, method, name=str(seed), budget=budget) as study:
            while tickets := study.ask(BATCH):
                study.tell_many([(ticket, measure(ticket.arm)) for ticket in tickets])
            found = study.identification()
    else:
        run = Run(problem, arms, method, np.random.default_rng((seed, 2)), budget=budget)
        while chosen := run.choose():
            for arm, count in chosen:
                for _ in range(count):
                    run.tell(arm, measure(arm))
            run.update()
        found = run.identification()
    return is_wrong(problem, means, found.outliers, found.normal), not found.undecided


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="joint")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--arms", type=int, help="so many arms; else 3 to 12")
    parser.add_argument("--budget", type=int, default=6000, help="pulls of a run at most")
    parser.add_argument("--seconds", type=float, default=np.inf, help="end after so long")
    given = parser.parse_args(arguments)
    words = list(sys.argv[1:] if arguments is None else arguments)
    print("$ python benchmarks/guarantee.py " + shlex.join(words))
    counts: dict[str, Counter[str]] = {}
    warnings.simplefilter("ignore", UndecidableWarning)  # Not all of these can be decided.
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="standout-guarantee-") as folder:
        for number in range(given.runs):
            if time.monotonic() - begun > given.seconds:
                break
            seed = 1_000_000 * given.seed + number
            rng = np.random.default_rng((seed, 0))
            problem = draw_problem(rng, given.delta)
            n = given.arms or int(rng.integers(3, 13))
            means = draw_means(rng, n, problem.noise.spec())
            driver = str(rng.choice(DRIVERS))
            wrong, decided = play(
                driver, problem, means, given.method, given.budget, seed, Path(folder) / "x.db"
            )
            for name in ("all", problem.noise.spec(), driver):
                count = counts.setdefault(name, Counter())
                count["runs"] += 1
                count["wrong"] += wrong
                count["decided"] += decided
    for name, count in counts.items():
        runs, failed = count["runs"], count["wrong"]
        most = 1.0 if failed == runs else float(beta.isf(0.01, failed + 1, runs - failed))
        print(
            f"{name:14} {runs:6} runs {failed:4} wrong ({failed / runs:.4f}; with 99 % confidence "
            f"at most {most:.4f}), {count['decided']} decided"
        )
    return int(counts["all"]["wrong"] > given.delta * counts["all"]["runs"])


if __name__ == "__main__":
    sys.exit(main())
