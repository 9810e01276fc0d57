"""How long chances take: all arms at once, and an update after 100 rewards.

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
from standout.estimation.estimate import Memory, estimate
from standout.estimation.evidence import Evidence

FULL, UPDATE = 2.0, 0.2
"""Seconds, at most, for 10,000 arms."""
LIVE = 0.2
"""Seconds, at most, for 123 arms: quick enough to be shown live."""
REWARDS = 100


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


def after_rewards(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """The same with more rewards, of the same mean, for each of 100 arms."""
    pulls = evidence.pulls.copy()
    # Doubled: so the number of ones stays whole.
    picked = rng.choice(len(pulls), min(REWARDS, len(pulls)), replace=False)
    pulls[picked] *= 2
    return Evidence(pulls, evidence.means, evidence.squares, evidence.known)


def main() -> None:
    for noise in ("bernoulli", "gaussian:0.3", "gaussian"):
        for n_arms, full, update in ((123, LIVE, LIVE), (1000, None, None), (10_000, FULL, UPDATE)):
            rng = np.random.default_rng(n_arms)
            problem, evidence = some(noise, n_arms, rng)
            names, memory = [str(i) for i in range(n_arms)], Memory()
            seconds = []
            for each in (evidence, after_rewards(evidence, rng)):
                begin = time.process_time()
                estimate(problem, each, names, memory=memory)
                seconds.append(time.process_time() - begin)
            report(f"{noise}, {n_arms:,} arms: all chances", seconds[0], "s", full)
            report(f"{noise}, {n_arms:,} arms: after 100 rewards", seconds[1], "s", update)
    end()


if __name__ == "__main__":
    main()
