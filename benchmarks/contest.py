"""Wrong arms on a caption contest, replayed from its ratings, after 10, 30 and 100 ratings per arm.

Run it as: python benchmarks/contest.py [--runs 3] [--seed 1]. With --limit it prints a lower bound
for every way of sampling, even one that knows theta and the distribution of the means.

Each of the 2,930 captions has some 375 recorded ratings. A rating counts as 1 if it is "somewhat
funny" or "funny". A pull draws from the caption's recorded shares, with replacement. These shares
are the truth: 10 captions lie above median + 3 * 1.4826 * MAD. The methods are uniform sampling (by
plain estimates, and by chances), ROAILUCB and `focus:goal=anytime` (by their best guesses, and the
latter also by chances), with equal total pulls. An empty answer has 10 wrong arms.

The data (CC BY 4.0; Jain et al. 2020) are not part of this project: the file
`nycc_636_counts.csv` is searched where `populations.py` searches it.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from populations import CONTEST, contest, play_to, truth, uniform

from standout.core import robust
from standout.core.engine import best_guess
from standout.core.methods import as_method
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence, evidence_of
from standout.simulation import Instance

PER_ARM = (10, 30, 100)
ADAPTIVE = ("roai-lucb", "focus:goal=anytime")
MOST = 3_000
"""Ratings of an arm after which the limit knows whether it stands out."""
PRICES = np.geomspace(1e-6, 1e-4, 16)
"""The prices of a rating, in wrong arms, that the limit tries."""


def by_chances(problem: Problem, evidence: Evidence) -> tuple[np.ndarray, float]:
    """The arms with a chance above one half, and how many wrong ones are expected."""
    found = estimate(problem, evidence, [str(i) for i in range(len(evidence.pulls))])
    return found.chance > 0.5, found.expected_wrong


def answers(instance: Instance, problem: Problem, rng: np.random.Generator) -> dict:
    """Each way's answer after each number of ratings per arm, with what it expects."""
    found: dict[str, list] = {}
    for evidence in uniform(instance, problem, PER_ARM, rng):
        plain = robust.outliers(evidence.means, problem.factor)
        found.setdefault("uniform, plain estimates", []).append((plain, np.nan))
        found.setdefault("uniform, chances", []).append(by_chances(problem, evidence))
    for name in ADAPTIVE:
        method = as_method(name)
        n = instance.n_arms
        spec, state = method.spec(problem, n), start_state(problem, method, n, rng)
        for total in PER_ARM:
            play_to(instance, spec, state, total * n, rng)
            guess = np.zeros(n, dtype=np.bool_)
            best_guess(spec, state, guess)
            found.setdefault(f"{name}, best guess", []).append((guess, np.nan))
            if name != ADAPTIVE[0]:
                chances = by_chances(problem, evidence_of(spec, state))
                found.setdefault(f"{name}, chances", []).append(chances)
    return found


def limit(instance: Instance, true: np.ndarray) -> list[float]:
    """A lower bound on the expected number of wrong arms, for each number of ratings per arm.

    Each arm is a draw from all arms. If ratings have a price, the arms are independent problems: an
    arm is rated until the expected benefit is below the price (by backward induction). For any
    price, the sum of both costs minus the price of all ratings is a lower bound on the wrong arms
    of any method.
    """
    means, inverse = np.unique(np.round(instance.means, 3), return_inverse=True)
    beyond = np.bincount(inverse, weights=true) / np.bincount(inverse)
    mass = np.bincount(inverse) / len(inverse)
    values = np.zeros((len(PRICES), MOST + 1))
    for ratings in range(MOST - 1, -1, -1):
        ones = np.arange(ratings + 1)[:, None]
        logs = ones * np.log(means) + (ratings - ones) * np.log1p(-means)
        share = mass * np.exp(logs - logs.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        chance, one = share @ beyond, share @ means
        more = PRICES[:, None] + one * values[:, 1:] + (1 - one) * values[:, :-1]
        values = np.minimum(np.minimum(chance, 1 - chance), more)
    return [float((values[:, 0] - PRICES * total).max() * len(true)) for total in PER_ARM]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", action="store_true", help="only what none can do better")
    options = parser.parse_args()
    if not CONTEST.exists():
        sys.exit(f"there are no data at {CONTEST.name}: see the docstring")
    instance = contest()
    problem = Problem(noise=instance.noise, k=3)
    true = truth(instance, problem)
    if options.limit:
        print(" ".join(f"{each:.1f}" for each in limit(instance, true)))
        return
    wrong: dict[str, list] = {}
    expected: dict[str, list] = {}
    for run in range(options.runs):
        rng = np.random.default_rng([options.seed, run])
        for way, given in answers(instance, problem, rng).items():
            wrong.setdefault(way, []).append([float((each != true).sum()) for each, _ in given])
            expected.setdefault(way, []).append([hoped for _, hoped in given])
    print(
        f"\n{true.sum()} of {len(true):,} stand out; mean wrong arms of {options.runs} runs, "
        "and its standard error"
    )
    print("| ratings per arm | " + " | ".join(map(str, PER_ARM)) + " |")
    print("|---|" + "---|" * len(PER_ARM))
    for way, counts in wrong.items():
        mean, hoped = np.mean(counts, axis=0), np.mean(expected[way], axis=0)
        error = np.std(counts, axis=0, ddof=1) / np.sqrt(len(counts)) if len(counts) > 1 else None
        cells = [
            f"{mean[i]:.1f}"
            + ("" if error is None else f" ± {error[i]:.1f}")
            + ("" if np.isnan(hoped[i]) else f" ({hoped[i]:.1f} expected)")
            for i in range(len(PER_ARM))
        ]
        print(f"| {way} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
