"""Populations whose truth is known, and rewards of them: what calibration is measured on.

None of these kinds was used while the estimate was developed. That was done on bells, bells with
outliers, gamma, exponential, Weibull, Laplace and normal tails above or around 60 % equal means,
40 % zeros below a beta distribution or a bell, two halves, two and three groups, three levels,
lattices, Gumbel, logistic, uniform and triangular means, half a bell, Student's t with another
number of degrees, inverse gamma, and all equal means. Two are near to kinds below: 35 % zeros
beside a gamma and 50 % zeros beside a Weibull distribution.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from standout.core import robust
from standout.core.methods import as_method
from standout.core.noise import Bernoulli, Gaussian, GaussianUnknown, Noise
from standout.core.problem import Problem, Side
from standout.core.run import start_state
from standout.core.state import PULLS, UNDECIDED, Spec, State
from standout.estimation.evidence import Evidence, evidence_of
from standout.simulation import Instance
from standout.simulation.instances import make_instance
from standout.simulation.play import play
from standout.simulation.rewards import rewards_of

SIZES = {5: 8, 12: 5, 40: 3, 150: 2, 600: 1, 3000: 1}
"""Numbers of arms, and how often each population of that size is drawn."""
BUDGETS = {"gaussian:1": (10, 40, 160), "gaussian": (10, 40, 160), "bernoulli": (60, 240, 960)}
"""Pulls per arm; the standard error is about .6, .3 and .15 of the means' standard deviation."""
SCALE, RATE, RATE_SCALE = 0.5, 0.4, 0.11
"""A population of standard deviation 1 is stretched by this; for rates of 0 and 1 around .4."""
MOST_LOOKS = 4e7
"""Adaptive sampling looks at every arm before every pull: so many looks in a run, at most."""
CONTEST = Path(__file__).parents[2] / "shared" / "data" / "nycc_636_counts.csv"
Rng = np.random.Generator


def _some_equal(rng: Rng, n: int, share: float, others: np.ndarray) -> np.ndarray:
    return np.where(rng.random(n) < share, 0.0, others)


KINDS: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "60 % equal, lognormal above": lambda r, n: _some_equal(r, n, 0.6, r.lognormal(0.5, 0.5, n)),
    "60 % equal, even on both sides": lambda r, n: _some_equal(
        r, n, 0.6, r.choice([-1, 1], n) * r.uniform(0.2, 2.6, n)
    ),
    "40 % zeros, gamma": lambda r, n: _some_equal(r, n, 0.4, r.gamma(3, 0.6, n)) - 1.1,
    "two bells, half each": lambda r, n: (
        np.where(np.arange(n) < n // 2, -1, 1) + r.normal(0, 0.25, n)
    ),
    "70 % equal, rest a wide bell": lambda r, n: _some_equal(r, n, 0.7, r.normal(0, 1.8, n)),
    "95 % equal, rest up": lambda r, n: _some_equal(r, n, 0.95, r.uniform(2.5, 5, n)),
    "exponential": lambda r, n: r.exponential(0.9, n),
    "lognormal": lambda r, n: r.lognormal(-0.2, 0.7, n),
    "Poisson lattice": lambda r, n: 0.8 * r.poisson(1.5, n),
    "three bells": lambda r, n: (
        r.choice([-0.8, 0.6, 3.5], n, p=[0.6, 0.33, 0.07]) + r.normal(0, 0.3, n)
    ),
    "Student's t, 4 degrees": lambda r, n: 0.7 * r.standard_t(4, n),
    "arcsine": lambda r, n: 2.8 * r.beta(0.5, 0.5, n) - 1.4,
    "five levels": lambda r, n: r.choice(
        [-1.2, -0.4, 0.2, 1.0, 3.0], n, p=[0.2, 0.3, 0.3, 0.15, 0.05]
    ),
    "bell and a broad tenth": lambda r, n: r.normal(0, np.where(r.random(n) < 0.1, 2.5, 0.6)),
    "Pareto": lambda r, n: r.pareto(4, n) * 1.5,
    "slope with a far group": lambda r, n: np.where(
        r.random(n) < 0.05, 4.0, np.linspace(-1.4, 1.4, n)
    ),
}
"""By name, draws of so many means; their standard deviation is about 1."""


@dataclass(frozen=True)
class Case:
    """A kind of population, with noise, number of arms and how often it is drawn."""

    kind: str
    noise: str
    n_arms: int
    runs: int

    def draw(self, rng: Rng) -> Instance:
        """An instance with means drawn from it."""
        means = KINDS[self.kind](rng, self.n_arms)
        if self.noise == "bernoulli":
            return make_instance(
                self.kind, np.clip(RATE + RATE_SCALE * means, 0.0, 1.0), Bernoulli()
            )
        noise = Gaussian(1.0) if ":" in self.noise else GaussianUnknown()
        return make_instance(self.kind, SCALE * means, noise)


def cases() -> Iterator[Case]:
    """Every kind with every noise and number of arms."""
    for n_arms, runs in SIZES.items():
        for kind in KINDS:
            for noise in BUDGETS:
                yield Case(kind, noise, n_arms, runs)


def contest() -> Instance:
    """A caption contest: each caption's share of ratings that call it funny, or somewhat."""
    with CONTEST.open() as file:
        rows = [[int(value) for value in list(row.values())[1:]] for row in csv.DictReader(file)]
    counts = np.array(rows, dtype=np.float64)
    return make_instance("contest", counts[:, 1:].sum(axis=1) / counts.sum(axis=1), Bernoulli())


def uniform(
    instance: Instance, problem: Problem, per_arm: tuple[int, ...], rng: Rng
) -> Iterator[Evidence]:
    """The evidence after each number of pulls per arm."""
    n = instance.n_arms
    pulls, sums, squares = np.zeros(n), np.zeros(n), np.zeros(n)
    for total in per_arm:
        rewards = _rewards(instance.means, instance.noise, total - int(pulls[0]), rng)
        pulls = np.full(n, float(total))
        sums = sums + rewards.sum(axis=1)
        squares = squares + (rewards**2).sum(axis=1)
        off = np.maximum(squares - sums**2 / pulls, 0.0)
        yield Evidence(pulls.astype(np.int64), sums / pulls, off, np.zeros(n, dtype=np.bool_))


def _rewards(means: np.ndarray, noise: Noise, size: int, rng: Rng) -> np.ndarray:
    shape = (len(means), size)
    if isinstance(noise, Bernoulli):
        return (rng.random(shape) < means[:, None]).astype(np.float64)
    return means[:, None] + rng.standard_normal(shape)


def adaptive(
    instance: Instance, problem: Problem, per_arm: tuple[int, ...], rng: Rng
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


def play_to(instance: Instance, spec: Spec, state: State, pulls: int, rng: Rng) -> None:
    """Continue until this many pulls, or until all is decided."""
    n = instance.n_arms
    scale = np.ones(n) if isinstance(instance.noise, GaussianUnknown) else None
    rewards = rewards_of(instance.means, instance.noise, scale)
    none = np.zeros(0, dtype=np.int64), 0, np.zeros((0, n), dtype=np.bool_)
    while state.counters[PULLS] < pulls and state.counters[UNDECIDED]:
        play(spec, state, rewards, pulls, 4_000_000 // n, *none, rng, rng)


def truth(instance: Instance, problem: Problem) -> np.ndarray:
    """Which arms stand out on the sides that are asked."""
    found = np.zeros(instance.n_arms, dtype=np.bool_)
    for side in problem.sides():
        found |= robust.outliers(instance.means, problem.factor_of(side), side)
    return found


def threshold(instance: Instance, problem: Problem) -> float:
    """That of the first side that is asked."""
    side: Side = problem.sides()[0]
    return robust.threshold(instance.means, problem.factor_of(side), side)
