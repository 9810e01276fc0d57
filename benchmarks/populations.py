"""Populations whose truth is known, and rewards of them: what calibration is measured on.

Apart from these, the estimate was chosen on normal, contaminated normal, gamma, Student's t
and two-group means with Gaussian noise, and on seeds of their own.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from standout.core import robust
from standout.core.methods import as_method
from standout.core.noise import Bernoulli, Bounded, Gaussian, GaussianUnknown, HeavyTailed, Noise
from standout.core.problem import Problem
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED, Spec, State
from standout.estimation.evidence import Evidence, evidence_of
from standout.simulation import Instance
from standout.simulation.instances import make_instance, parse_instance
from standout.simulation.play import play
from standout.simulation.rewards import rewards_of

PER_ARM = (5, 20, 100, 500)
MOST_LOOKS = 2e8
"""Adaptive sampling looks at every arm before every pull: so many looks in a run, at most."""
CONTEST = Path(__file__).parents[2] / "shared" / "data" / "nycc_636_counts.csv"
Draw = Callable[[np.random.Generator], Instance]


@dataclass(frozen=True)
class Case:
    """A population of so many arms, and how often it is drawn anew and played."""

    name: str
    n_arms: int
    runs: int
    draw: Draw
    is_adaptive: bool = True
    per_arm: tuple[int, ...] = PER_ARM


def cases() -> Iterator[Case]:
    """Every population, at several numbers of arms; the contest only where its data are."""
    for name, n_arms in (("fig4", 105), ("wine", 123)):
        yield Case(name, n_arms, 60, parse_instance(name).draw)
    for n_arms, runs in ((5, 200), (20, 100), (105, 40), (1000, 6), (3000, 2)):
        few = max(1, n_arms // 20)
        yield Case("normal", n_arms, runs, parse_instance(f"normal:n={n_arms},outliers=0").draw)
        text = f"normal:n={n_arms},outliers={few},low=0.55,high=0.9"
        yield Case("normal, 5 % out", n_arms, runs, parse_instance(text).draw)
    for n_arms, runs in ((20, 100), (105, 40), (1000, 6)):
        yield Case("skewed", n_arms, runs, made("skewed", n_arms, _skewed))
        yield Case("two groups", n_arms, runs, made("two groups", n_arms, _two_groups))
    yield Case("small rates", 51, 100, made("rates", 51, _rates))
    for noise in (Gaussian(0.5), GaussianUnknown(), Bounded(0.0, 1.0), HeavyTailed(0.3)):
        draw = made(noise.name, 105, _contaminated, noise)
        yield Case(f"5 % out, {noise.name}{'?' * (noise.sigma == np.inf)}", 105, 40, draw, False)
    if CONTEST.exists():
        found = contest()
        yield Case("contest 636", found.n_arms, 2, lambda rng: found, True, PER_ARM[:3])


def contest() -> Instance:
    """A caption contest: each caption's share of ratings that call it funny, or somewhat."""
    with CONTEST.open() as file:
        rows = [[int(value) for value in list(row.values())[1:]] for row in csv.DictReader(file)]
    counts = np.array(rows, dtype=np.float64)
    return make_instance("contest", counts[:, 1:].sum(axis=1) / counts.sum(axis=1), Bernoulli())


def made(
    name: str,
    n_arms: int,
    means: Callable[[np.random.Generator, int], np.ndarray],
    noise: Noise | None = None,
) -> Draw:
    """Draw means anew for every run."""
    return lambda rng: make_instance(name, means(rng, n_arms), noise or Bernoulli())


def _skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.minimum(0.12 * rng.lognormal(0.0, 0.5, n), 0.95)


def _two_groups(rng: np.random.Generator, n: int) -> np.ndarray:
    high = rng.random(n) < 0.15
    return np.clip(np.where(high, rng.normal(0.6, 0.05, n), rng.normal(0.25, 0.06, n)), 0.01, 0.99)


def _rates(rng: np.random.Generator, n: int) -> np.ndarray:
    means = 0.03 * rng.lognormal(0.0, 0.25, n)
    means[:3] = rng.uniform(0.08, 0.14, 3)
    return means


def _contaminated(rng: np.random.Generator, n: int) -> np.ndarray:
    means = np.clip(rng.normal(0.3, 0.075, n), 0.05, 0.95)
    means[: n // 20] = rng.uniform(0.5, 0.9, n // 20)
    return means


def uniform(
    instance: Instance, problem: Problem, per_arm: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Evidence]:
    """The evidence after each number of pulls per arm."""
    n, noise = instance.n_arms, instance.noise
    pulls, mean, squares = np.zeros(n), np.zeros(n), np.zeros(n)
    for total in per_arm:
        size = total - int(pulls[0])
        rewards = _rewards(instance.means, noise, size, rng)
        batch, off = rewards.mean(axis=1), rewards - rewards.mean(axis=1, keepdims=True)
        both = pulls + size
        squares += (off**2).sum(axis=1) + (batch - mean) ** 2 * pulls * size / both
        mean = mean + (batch - mean) * size / both
        pulls = both
        known = np.zeros(n, dtype=np.bool_)
        yield Evidence(pulls.astype(np.int64), mean.copy(), squares.copy(), known)


def _rewards(means: np.ndarray, noise: Noise, size: int, rng: np.random.Generator) -> np.ndarray:
    shape = (len(means), size)
    if isinstance(noise, Bernoulli):
        return (rng.random(shape) < means[:, None]).astype(np.float64)
    if isinstance(noise, Bounded):
        return rng.beta(6 * means[:, None], 6 * (1 - means[:, None]), shape)
    if isinstance(noise, HeavyTailed):
        return means[:, None] + noise.sigma * rng.standard_t(3, shape) / np.sqrt(3)
    sigma = noise.sigma if isinstance(noise, Gaussian) else 0.3
    return means[:, None] + sigma * rng.standard_normal(shape)


def adaptive(
    instance: Instance, problem: Problem, per_arm: tuple[int, ...], rng: np.random.Generator
) -> Iterator[Evidence]:
    """The same with `focus:goal=anytime`, after as many pulls in total."""
    method = as_method("focus:goal=anytime")
    n = instance.n_arms
    spec, state = method.spec(problem, n), start_state(problem, method, n, rng)
    for total in per_arm:
        if total * n * n > MOST_LOOKS:
            return
        play_to(instance, spec, state, total * n, rng)
        yield evidence_of(spec, state)


def play_to(
    instance: Instance, spec: Spec, state: State, pulls: int, rng: np.random.Generator
) -> None:
    """Go on until there are so many pulls, or all is decided."""
    n = instance.n_arms
    rewards = rewards_of(instance.means, instance.noise, None)
    none = np.zeros(0, dtype=np.int64), 0, np.zeros((0, n), dtype=np.bool_)
    while state.counters[PULLS] < pulls and state.counters[UNDECIDED]:
        play(spec, state, rewards, pulls, 4_000_000 // n, *none, rng, rng)


def truth(instance: Instance, problem: Problem) -> np.ndarray:
    """Which arms stand out."""
    return robust.outliers(instance.means, problem.factor)
