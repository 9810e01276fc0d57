"""How long a look at the chances takes.

Run it as: python benchmarks/bench_chances.py. Seconds are processor time of all threads.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from bars import end, report

from standout.core.problem import Problem
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence

BARS = {30: 5.0, 123: 20.0, 1_000: None, 10_000: 800.0}
"""By number of arms, milliseconds at most."""
LOOKS = 20
"""The quickest of this many runs counts: other work of the machine only adds time."""


def some(noise: str, n_arms: int, rng: np.random.Generator) -> tuple[Problem, Evidence]:
    """Means with a few outliers, between 5 and 200 rewards each."""
    pulls = rng.integers(5, 200, n_arms)
    means = np.clip(rng.normal(0.3, 0.075, n_arms), 0.02, 0.98)
    means[: max(1, n_arms // 50)] = 0.8
    if noise == "bernoulli":
        seen = rng.binomial(pulls, means) / pulls
    else:
        seen = means + rng.normal(0.0, 0.3, n_arms) / np.sqrt(pulls)
    squares = 0.09 * rng.chisquare(pulls - 1.0)
    known = np.zeros(n_arms, dtype=np.bool_)
    return Problem(noise=noise), Evidence(pulls, seen, squares, known)


def main() -> None:
    for noise in ("bernoulli", "gaussian:0.3", "gaussian"):
        for n_arms, most in BARS.items():
            rng = np.random.default_rng(n_arms)
            problem, evidence = some(noise, n_arms, rng)
            names = [str(i) for i in range(n_arms)]
            estimate(problem, evidence, names)
            seconds = []
            for _ in range(LOOKS):
                begin = time.process_time()
                estimate(problem, evidence, names)
                seconds.append(time.process_time() - begin)
            report(f"{noise}, {n_arms:,} arms", 1000 * min(seconds), "ms", most)
    end()


if __name__ == "__main__":
    main()
