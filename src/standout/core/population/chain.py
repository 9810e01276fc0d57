"""A chain of the sampler. It starts with few arms and doubles their number until all are included.

With few arms the groups are found in few steps; the other arms join groups that are nearly right.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import kernel, part
from standout.core.population.fit import prepare
from standout.core.population.groups import draw_group, step
from standout.core.population.means import draw_means, draw_noise, judge
from standout.core.population.population import (
    ATOMS,
    CONCENTRATION,
    EMPTY,
    GROUPS,
    Population,
)
from standout.core.typing import FloatRows, Floats

FIRST = 64
"""Number of arms at the start of a chain."""
BURN_IN = 20
"""Steps with these arms."""
GROWING = 6
"""Steps after each doubling, and before the first draw."""


@kernel()
def sample(
    population: Population,
    groups: int,
    is_of_atoms: bool,
    signs: Floats,
    factors: Floats,
    tails: FloatRows,
    thetas: FloatRows,
    scales: Floats,
    ties: Floats,
    rng: np.random.Generator,
) -> None:
    """Run a chain that begins with groups of equal size; the rows of `tails` are its draws.

    The arms must be in an order in which the first arms represent all arms. Row r of `tails`
    receives each arm's chance to stand out in draw r, row s of `thetas` the thresholds of side s.
    `scales` receives the standard deviation of the means, `ties` the share of arms in the largest
    atom.
    """
    n = len(population.place)
    used = min(n, FIRST)
    _begin(population, used, min(groups, used), is_of_atoms, rng)
    for _ in range(BURN_IN):
        _step(population, used, rng)
    while used < n:
        used = min(2 * used, n)
        for _ in range(GROWING):
            _step(population, used, rng)
    for row in range(len(tails)):
        _step(population, n, rng)
        tails[row] = 0.0
        for side in range(len(signs)):
            thetas[side, row] = judge(population, factors[side], signs[side], tails[row])
        scales[row] = _deviation(population.means)
        ties[row] = _largest_atom(population) / n


@part()
def _deviation(values: Floats) -> float:
    """Their standard deviation; `np.std` in a kernel would import linear algebra at each start."""
    total = 0.0
    for value in values:
        total += value
    mean = total / len(values)
    squares = 0.0
    for value in values:
        squares += (value - mean) ** 2
    return math.sqrt(squares / len(values))


@part()
def _largest_atom(population: Population) -> int:
    """The number of arms in the atom that has the most."""
    most = 0
    for slot in range(int(population.now[GROUPS])):
        if population.width[slot] == 0.0:
            most = max(most, population.counts[slot])
    return most


@part()
def _step(population: Population, used: int, rng: np.random.Generator) -> None:
    step(population, used, rng)
    draw_means(population, used, rng)
    draw_noise(population, used, rng)


@part()
def _begin(
    population: Population, used: int, groups: int, is_of_atoms: bool, rng: np.random.Generator
) -> None:
    """Make the initial groups by rank: bells as wide as the spread of their arms, or atoms.

    On entry, `members[arm]` is the arm's rank among all arms.
    """
    n = len(population.place)
    population.now[GROUPS] = groups
    population.now[CONCENTRATION] = 0.5
    population.now[ATOMS] = 0.5
    population.counts[:] = 0
    population.centre[:] = 0.0
    population.width[:] = 0.0
    population.slope[:] = 0
    for arm in range(n):
        population.noise[arm] = population.variance[arm]
        population.group[arm] = -1
    for arm in range(used):
        slot = population.members[arm] * groups // n
        population.group[arm] = slot
        population.counts[slot] += 1
        population.centre[slot] += _place(population, arm)
    for slot in range(groups):
        centre = population.centre[slot] / max(population.counts[slot], 1)
        population.centre[slot] = min(max(centre, population.low), population.high)
    for arm in range(used):
        slot = population.group[arm]
        off = _place(population, arm) - population.centre[slot]
        population.width[slot] += off * off / population.counts[slot]
    for slot in range(groups):
        width = min(max(np.sqrt(population.width[slot]), population.narrowest), population.widest)
        population.width[slot] = 0.0 if is_of_atoms else width
        prepare(population, slot)
    for slot in range(groups, groups + EMPTY):
        draw_group(population, slot, rng)


@part()
def _place(population: Population, arm: int) -> float:
    """An arm's estimate; without one, the middle of all arms."""
    place = population.place[arm]
    return float(population.middle if np.isnan(place) else place)
