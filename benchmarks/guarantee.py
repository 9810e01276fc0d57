"""The share of wrong answers, over random questions that were not used for tuning.

Each run draws a noise, a side, a k, a tolerance, a number of arms and their means. It plays a
method to the end or to its budget through one of the drivers. A run is wrong if any certified
verdict is wrong; at most a share of delta of the runs may be. The drivers are

- the simulator;
- rounds by hand;
- `identify`, alone and with threads;
- a study, and a study with a crowd whose small rewards take longest, so they arrive last.

python benchmarks/guarantee.py --method joint --runs 10000 --seed 1
python benchmarks/guarantee.py --method joint --runs 40 --arms 310 --delta 0.3

In parts: `--seconds 400 --seed S --sums FILE` adds its counts to those in FILE and prints the sums.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.stats import beta

from standout import Problem, Study, UndecidableWarning, identify
from standout.core import robust
from standout.core.problem import Side
from standout.core.run import Run
from standout.core.state import PULLS, UNDECIDED
from standout.core.typing import Floats
from standout.errors import AllOutError
from standout.results import Ticket
from standout.simulation.play import play as play_rounds
from standout.simulation.rewards import rewards_of

NOISES = ("gaussian:0.5", "bernoulli", "bounded:0,1", "gaussian", "heavy:0.5")
DRIVERS = ("simulate", "run", "identify", "threads", "study", "crowd")
OFTEN = (0.3, 0.3, 0.2, 0.1, 0.05, 0.05)
"""The probability of each driver; a study takes long."""
SCATTER = 0.5
"""Standard deviation of rewards that have no bounds."""
SPREADS = {False: (1.0, 3.0, 10.0), True: (0.12, 0.3)}
"""Standard deviations of means, by whether they are rates: many pulls decide, or few."""
BATCH = 16


def draw_problem(rng: np.random.Generator, delta: float, noise: str, spread: float) -> Problem:
    side = str(rng.choice(["high", "low", "both"]))
    return Problem(
        noise=noise,
        k=float(rng.choice([1.0, 1.5, 2.0, 3.0])),
        k_low=float(rng.choice([1.0, 2.0])) if side == "both" and rng.random() < 0.5 else None,
        mad_scale=float(rng.choice([1.0, 1.4826])),
        side=side,
        tolerance=spread * float(rng.choice([0.0, 0.05, 0.5])),
        delta=delta,
    )


def draw_means(rng: np.random.Generator, n: int, noise: str, spread: float) -> Floats:
    means: Floats = rng.normal(0.0, spread, n)
    means[rng.random(n) < 0.15] *= 4
    return np.clip(0.4 + means, 0.02, 0.98) if is_rate(noise) else means


def is_rate(noise: str) -> bool:
    return noise.startswith(("bernoulli", "bounded"))


def rewards(problem: Problem, means: Floats, rng: np.random.Generator) -> Callable[[str], float]:
    noise = problem.noise.spec()

    def measure(arm: str) -> float:
        mean = means[int(arm)]
        if noise == "bernoulli":
            return float(rng.random() < mean)
        if noise.startswith("bounded"):
            return float(rng.beta(3 * mean, 3 * (1 - mean)))
        if noise.startswith("heavy"):
            return float(mean + SCATTER * rng.standard_t(4) / np.sqrt(2))
        return float(rng.normal(mean, SCATTER))

    return measure


def is_wrong(
    problem: Problem, means: Floats, outliers: Sequence[str], normal: Sequence[str]
) -> bool:
    is_out, may_be_out = np.zeros(len(means), np.bool_), np.zeros(len(means), np.bool_)
    for side in problem.sides():
        sign = 1.0 if side is Side.HIGH else -1.0
        theta = robust.threshold(sign * means, problem.factor_of(side))
        # An arm may lie on the threshold, which it makes by itself, up to rounding.
        near = problem.tolerance + 1e-12
        is_out |= sign * means > theta + near
        may_be_out |= sign * means > theta - near
    return any(is_out[int(arm)] for arm in normal) or any(not may_be_out[int(a)] for a in outliers)


def play(
    driver: str, problem: Problem, means: Floats, method: str, budget: int, seed: int, place: Path
) -> tuple[bool, bool]:
    """Whether the answer is wrong, and whether all was decided."""
    measure = rewards(problem, means, np.random.default_rng((seed, 1)))
    arms = [str(i) for i in range(len(means))]
    if driver in ("identify", "threads"):
        with ThreadPoolExecutor(2) as threads:
            executor = threads if driver == "threads" else None
            found = identify(
                measure, arms, problem, method, budget=budget, seed=seed, executor=executor
            )
    elif driver in ("study", "crowd"):
        budget = min(budget, 100 * len(arms))
        with Study.create(place, arms, problem, method, name=str(seed), budget=budget) as study:
            answer_all(study, measure, is_slow=driver == "crowd")
            found = study.identification()
    else:
        run = Run(problem, arms, method, np.random.default_rng((seed, 2)), budget=budget)
        if driver == "simulate":
            play_compiled(run, problem, means, budget, seed)
        while chosen := run.choose():
            for arm, count in chosen:
                for _ in range(count):
                    run.tell(arm, measure(arm))
            run.update()
        found = run.identification()
    return is_wrong(problem, means, found.outliers, found.normal), not found.undecided


def play_compiled(run: Run, problem: Problem, means: Floats, budget: int, seed: int) -> None:
    """As the simulator does it."""
    sigmas = np.full(means.size, SCATTER) if problem.noise.spec() == "gaussian" else None
    drawn = rewards_of(means, problem.noise, sigmas)
    nothing = np.zeros(0, dtype=np.int64)
    guesses = np.zeros((0, means.size), dtype=np.bool_)
    rng = np.random.default_rng((seed, 3))
    while run.state.counters[UNDECIDED] > 0 and run.state.counters[PULLS] < budget:
        play_rounds(run.spec, run.state, drawn, budget, 1000, nothing, 0, guesses, rng, run.rng)


def answer_all(study: Study, measure: Callable[[str], float], *, is_slow: bool) -> None:
    """Answer what is asked in batches; the smaller half of a slow one only after the next."""
    late: list[tuple[Ticket, float]] = []
    while (tickets := asked(study)) or late:
        told = [(ticket, measure(ticket.arm)) for ticket in tickets]
        told.sort(key=lambda answer: -answer[1])
        middle = len(told) // 2 if is_slow else len(told)
        study.tell_many(told[:middle] + late)
        late = told[middle:]


def asked(study: Study) -> list[Ticket]:
    """A batch of tickets, none while the next ones need a reward that is still late."""
    try:
        return study.ask(BATCH)
    except AllOutError:
        return []


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="joint")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--arms", type=int, help="number of arms; 3 to 12 by default")
    parser.add_argument("--noise", choices=NOISES, help="one of them; all by default")
    parser.add_argument("--budget", type=int, default=6000, help="pulls of a run at most")
    parser.add_argument("--seconds", type=float, default=np.inf, help="end after so long")
    parser.add_argument("--sums", type=Path, metavar="FILE", help="add the counts to those there")
    given = parser.parse_args(arguments)
    words = list(sys.argv[1:] if arguments is None else arguments)
    print("$ python benchmarks/guarantee.py " + shlex.join(words))
    counts: dict[str, Counter[str]] = {}
    if given.sums and given.sums.exists():
        counts = {name: Counter(c) for name, c in json.loads(given.sums.read_text()).items()}
    warnings.simplefilter("ignore", UndecidableWarning)  # Not all of these can be decided.
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="standout-guarantee-") as folder:
        for number in range(given.runs):
            if time.monotonic() - begun > given.seconds:
                break
            seed = 1_000_000 * given.seed + number
            rng = np.random.default_rng((seed, 0))
            noise = str(rng.choice(NOISES))
            noise = given.noise or noise
            spread = float(rng.choice(SPREADS[is_rate(noise)]))
            problem = draw_problem(rng, given.delta, noise, spread)
            n = given.arms or int(rng.integers(3, 13))
            means = draw_means(rng, n, noise, spread)
            driver = str(rng.choice(DRIVERS, p=OFTEN))
            wrong, decided = play(
                driver, problem, means, given.method, given.budget, seed, Path(folder) / "x.db"
            )
            for name in ("all", noise, driver):
                count = counts.setdefault(name, Counter())
                count.update(runs=1, wrong=int(wrong), decided=int(decided))
    if given.sums:
        given.sums.write_text(json.dumps(counts, indent=1) + "\n", "utf-8")
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
