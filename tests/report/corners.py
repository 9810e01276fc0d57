"""Faultless studies in corners where sums of ranks are far from Gaussian.

Rare successes, few arms, few pulls, ties, arms that hardly vary, lattices of
values, one worker, many workers, late stragglers, adaptive order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from standout.core.problem import Problem
from standout.core.typing import Floats, Ints
from tests.report import played
from tests.report.played import Log

Corner = Callable[[np.random.Generator, int], Log]


def fixed(n_arms: int, pulls: int, p: float, workers: int = 5) -> Corner:
    """Bernoulli arms of one chance, pulled equally often in a random order."""

    def make(rng: np.random.Generator, seed: int) -> Log:
        arm = rng.permutation(np.repeat(np.arange(n_arms), pulls))
        return _log(rng, arm, (rng.random(len(arm)) < p).astype(float), n_arms, workers)

    return make


def values(of: Callable[[np.random.Generator, Ints], Floats], n_arms: int, pulls: int) -> Corner:
    """Any rewards, arms pulled equally often in a random order."""

    def make(rng: np.random.Generator, seed: int) -> Log:
        arm = rng.permutation(np.repeat(np.arange(n_arms), pulls))
        return _log(rng, arm, of(rng, arm), n_arms, 5)

    return make


def stragglers(rng: np.random.Generator, seed: int) -> Log:
    """Five arms pulled early; long after, when a constant one had its turn, one more pull."""
    early = rng.permutation(np.repeat(np.arange(5), 60))
    arm = np.concatenate([early, np.full(5000, 5), [0]])
    reward = np.where(arm == 5, 0.0, rng.random(len(arm)) < 0.03)
    return _log(rng, arm, reward, 6, 3)


def one_busy_worker(rng: np.random.Generator, seed: int) -> Log:
    """One worker tells nearly all, others ten each."""
    arm = rng.integers(0, 5, 1000)
    worker = np.concatenate([np.zeros(900, dtype=np.int64), np.repeat(np.arange(1, 11), 10)])
    return Log(arm, (rng.random(1000) < 0.02).astype(float), rng.permutation(worker), 5)


def passing_workers(rng: np.random.Generator, seed: int) -> Log:
    """Each worker comes once and tells ten in a row."""
    arm = rng.integers(0, 10, 1000)
    return Log(arm, (rng.random(1000) < 0.05).astype(float), np.repeat(np.arange(100), 10), 10)


def unlike_arms(rng: np.random.Generator, seed: int) -> Log:
    """An arm with next to no successes beside one with half of them."""
    arm = rng.integers(0, 3, 1500)
    return _log(rng, arm, (rng.random(1500) < np.array([0.002, 0.02, 0.5])[arm]).astype(float), 3)


def adaptive(p: float, n_arms: int, budget: int, method: str, most: float = 0.9) -> Corner:
    """Bernoulli arms of one rare chance and one that is common, pulled as the method says."""

    def make(rng: np.random.Generator, seed: int) -> Log:
        means = np.append(np.full(n_arms - 1, p), most)
        return played.play(
            Problem(noise="bernoulli", k=3),  # type: ignore[arg-type]
            method, means, played.bernoulli, budget=budget, shifts=seed % 2 == 1, seed=seed,
        )  # fmt: skip

    return make


def _log(rng: np.random.Generator, arm: Ints, reward: Floats, n_arms: int, workers: int = 5) -> Log:
    return Log(arm, reward, rng.integers(0, workers, len(arm)), n_arms)


def _heavy(rng: np.random.Generator, arm: Ints) -> Floats:
    return rng.standard_t(1.2, len(arm))


def _lattice(rng: np.random.Generator, arm: Ints) -> Floats:
    return rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], p=[0.94, 0.03, 0.01, 0.01, 0.01], size=len(arm))


def _unit(rng: np.random.Generator, arm: Ints) -> Floats:
    return rng.normal(arm, 1.0)


def _rarely_far(rng: np.random.Generator, arm: Ints) -> Floats:
    """Standard deviation 1, all of it from one reward in two hundred."""
    return rng.choice([-10.0, 0.0, 10.0], p=[0.005, 0.99, 0.005], size=len(arm))


def _gaussian(rng: np.random.Generator, arm: Ints) -> Floats:
    return rng.normal(arm, 1.0 + arm)


CORNERS: dict[str, tuple[str, Corner]] = {
    "3 x 500, p .004": ("bernoulli", fixed(3, 500, 0.004)),
    "3 x 100, p .03": ("bernoulli", fixed(3, 100, 0.03)),
    "3 x 100, p .97": ("bernoulli", fixed(3, 100, 0.97)),
    "3 x 17, p .5": ("bernoulli", fixed(3, 17, 0.5)),
    "20 x 5, p .5": ("bernoulli", fixed(20, 5, 0.5)),
    "200 x 5, p .05": ("bernoulli", fixed(200, 5, 0.05)),
    "100 x 100, p .01": ("bernoulli", fixed(100, 100, 0.01)),
    "3 x 500, p .01, one worker": ("bernoulli", fixed(3, 500, 0.01, 1)),
    "3 x 500, p .01, two workers": ("bernoulli", fixed(3, 500, 0.01, 2)),
    "5 x 200, p .05, 300 workers": ("bernoulli", fixed(5, 200, 0.05, 300)),
    "10 workers of ten, one of 900": ("bernoulli", one_busy_worker),
    "100 workers in passing": ("bernoulli", passing_workers),
    "arms of p .002, .02, .5": ("bernoulli", unlike_arms),
    "one pull long after the rest": ("bernoulli", stragglers),
    "5 x 100, 1 to 5, mostly 1": ("bounded:1,5", values(_lattice, 5, 100)),
    "5 x 12, heavy tails": ("bounded:-1e9,1e9", values(_heavy, 5, 12)),
    "10 x 5, gaussian": ("gaussian", values(_gaussian, 10, 5)),
    "100 x 5, gaussian": ("gaussian", values(_gaussian, 100, 5)),
    "3 x 100, gaussian": ("gaussian", values(_gaussian, 3, 100)),
    "10 x 5, gaussian:1": ("gaussian:1", values(_unit, 10, 5)),
    "5 x 100, heavy:1, rarely far": ("heavy:1", values(_rarely_far, 5, 100)),
    "focus, p .01": ("bernoulli", adaptive(0.01, 6, 1500, "focus")),
    "focus, p .05, p .4": ("bernoulli", adaptive(0.05, 4, 600, "focus", 0.4)),
    "roai-lucb, p .01": ("bernoulli", adaptive(0.01, 6, 1500, "roai-lucb")),
}


def log_of(name: str, seed: int) -> Log:
    """Study number `seed` of a corner."""
    place = list(CORNERS).index(name)
    return CORNERS[name][1](np.random.default_rng([seed, place, 11]), seed)
