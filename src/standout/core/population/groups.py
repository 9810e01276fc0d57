"""One step of the Gibbs sampler: assign each arm to a group, then move each group.

Each arm leaves its group and joins a random one. The probability of a group is proportional to the
arm's likelihood in it, times its number of arms (for an empty group, times the concentration).
Then Metropolis steps move each group's centre and width; a centre with a normal posterior is drawn
directly. The concentration and the share of atoms are drawn, too.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.population.fit import copy_prepared, fit, log_gamma, prepare, total_fit
from standout.core.population.population import (
    ATOMS,
    CONCENTRATION,
    EMPTY,
    GROUPS,
    MOST_GROUPS,
    TRY,
    Population,
)

CONCENTRATIONS = (0.5, 1.0, 2.0, 4.0)
"""Possible concentrations, with equal prior probabilities."""
MOVES = 2
"""Number of moves of each group per step."""
HOPELESS = 40.0
"""An arm never joins a group whose log likelihood is lower than the best by this much."""
TRIES = 20
"""Attempts to draw a place before the nearest possible one is used."""
BELLS = 2.0
"""The prior of the share of atoms is Beta(1, BELLS)."""
SHORTEST, LONGEST = 0.02, 1.5
"""Limits of the step length for the logarithm of a width."""


@part()
def step(population: Population, used: int, rng: np.random.Generator) -> None:
    """Assign the first `used` arms to groups, and move the groups."""
    for arm in range(used):
        _leave(population, used, arm, rng)
        _join(population, arm, rng)
    _list_members(population, used)
    groups = int(population.now[GROUPS])
    for slot in range(groups):
        _move(population, slot, rng)
    for slot in range(groups, groups + EMPTY):
        draw_group(population, slot, rng)
    _draw_concentration(population, used, rng)
    _draw_share_of_atoms(population, rng)


@part()
def draw_group(population: Population, slot: int, rng: np.random.Generator) -> None:
    """Draw a group from the prior: a place, and an atom or a bell of some width."""
    place = population.middle
    for _ in range(TRIES):
        place = population.middle + population.reach * rng.standard_normal()
        if population.low <= place <= population.high:
            break
    population.centre[slot] = min(max(place, population.low), population.high)
    population.width[slot] = 0.0
    if rng.random() >= population.now[ATOMS]:
        population.width[slot] = _any_width(population, rng)
    population.counts[slot] = 0
    prepare(population, slot)


@part()
def _any_width(population: Population, rng: np.random.Generator) -> float:
    ratio = population.widest / population.narrowest
    return float(population.narrowest * ratio ** rng.random())


@part()
def _copy_group(population: Population, source: int, target: int) -> None:
    population.centre[target] = population.centre[source]
    population.width[target] = population.width[source]
    population.counts[target] = population.counts[source]
    copy_prepared(population, source, target)


@part()
def _leave(population: Population, used: int, arm: int, rng: np.random.Generator) -> None:
    """Remove an arm from its group; a group without arms becomes an empty one."""
    slot = population.group[arm]
    if slot < 0:
        return
    population.counts[slot] -= 1
    if population.counts[slot] > 0:
        return
    last = int(population.now[GROUPS]) - 1
    replaced = last + 1 + int(rng.random() * EMPTY)
    _copy_group(population, slot, replaced)
    if slot != last:
        _copy_group(population, last, slot)
        for other in range(used):
            if population.group[other] == last:
                population.group[other] = slot
    _copy_group(population, last + EMPTY, last)
    population.now[GROUPS] = last


@part()
def _join(population: Population, arm: int, rng: np.random.Generator) -> None:
    groups = int(population.now[GROUPS])
    scores = population.scores
    best = -np.inf
    for slot in range(groups + EMPTY):
        share = population.now[CONCENTRATION] / EMPTY
        if slot < groups:
            share = population.counts[slot]
        scores[slot] = math.log(share) + fit(population, arm, slot)
        best = max(best, scores[slot])
    total = 0.0
    for slot in range(groups + EMPTY):
        below = best - scores[slot]
        scores[slot] = math.exp(-below) if below < HOPELESS else 0.0
        total += scores[slot]
    slot = _pick(population, groups + EMPTY, rng.random() * total)
    if slot >= groups:
        slot = _open(population, slot, rng)
    population.group[arm] = slot
    population.counts[slot] += 1


@part()
def _pick(population: Population, size: int, rest: float) -> int:
    """The slot at position `rest` of the cumulative scores."""
    for slot in range(size - 1):
        rest -= population.scores[slot]
        if rest < 0.0:
            return slot
    return size - 1


@part()
def _open(population: Population, slot: int, rng: np.random.Generator) -> int:
    """Move an empty group into the slots with arms; if they are full, return the best of these."""
    groups = int(population.now[GROUPS])
    if groups == MOST_GROUPS:
        best = 0
        for other in range(1, groups):
            if population.scores[other] > population.scores[best]:
                best = other
        return best
    if slot != groups:
        _copy_group(population, slot, TRY)
        _copy_group(population, groups, slot)
        _copy_group(population, TRY, groups)
    population.counts[groups] = 0
    draw_group(population, groups + EMPTY, rng)
    population.now[GROUPS] = groups + 1
    return groups


@part()
def _list_members(population: Population, used: int) -> None:
    """Arms by group: those of a slot are `members[starts[slot]:starts[slot + 1]]`."""
    groups = int(population.now[GROUPS])
    starts = population.starts
    starts[0] = 0
    for slot in range(groups):
        starts[slot + 1] = starts[slot] + population.counts[slot]
        population.counts[slot] = 0
    for arm in range(used):
        slot = population.group[arm]
        population.members[starts[slot] + population.counts[slot]] = arm
        population.counts[slot] += 1


@part()
def _move(population: Population, slot: int, rng: np.random.Generator) -> None:
    """Move a group's centre and width."""
    error = _square_error(population, slot)
    for turn in range(MOVES):
        if population.is_binary:
            _move_centre(population, slot, error, rng)
        else:
            _draw_centre(population, slot, rng)
        if population.width[slot] > 0.0:
            _move_width(population, slot, error, 1.0 + 2.0 * turn, rng)
        if rng.random() < 0.5:
            _switch(population, slot, rng)


@part()
def _square_error(population: Population, slot: int) -> float:
    """The mean squared error of a group's estimates, which limits how well its width is known."""
    total = 0.0
    count = 0
    for j in range(population.starts[slot], population.starts[slot + 1]):
        variance = population.noise[population.members[j]]
        if variance < np.inf:
            total += variance
            count += 1
    return total / count if count > 0 else 0.0


@part()
def _fit_of(population: Population, slot: int, tried: int) -> float:
    """The log likelihood of a slot's arms in the group of slot `tried`."""
    return total_fit(population, population.starts[slot], population.starts[slot + 1], tried)


@part()
def _propose(population: Population, slot: int, centre: float, width: float) -> None:
    population.centre[TRY] = centre
    population.width[TRY] = width
    population.counts[TRY] = population.counts[slot]
    prepare(population, TRY)


@part()
def _draw_centre(population: Population, slot: int, rng: np.random.Generator) -> None:
    """Draw the centre of a bell or an atom from its normal posterior."""
    square = population.width[slot] ** 2
    weight = 1.0 / population.reach**2
    total = population.middle * weight
    for j in range(population.starts[slot], population.starts[slot + 1]):
        arm = population.members[j]
        if population.noise[arm] < np.inf:
            own = 1.0 / max(population.noise[arm] + square, population.finest)
            weight += own
            total += own * population.place[arm]
    centre = total / weight + rng.standard_normal() / math.sqrt(weight)
    population.centre[slot] = min(max(centre, population.low), population.high)


@part()
def _move_centre(population: Population, slot: int, error: float, rng: np.random.Generator) -> None:
    """Make two Metropolis steps, a long and a short one, of a beta distribution's place."""
    size = population.counts[slot]
    deviation = math.sqrt((error + population.width[slot] ** 2) / size)
    present = _fit_of(population, slot, slot) + _prior_of_place(population, slot)
    for turn in range(2):
        length = 1.5 if turn == 0 else 0.5
        centre = population.centre[slot] + length * deviation * rng.standard_normal()
        if not population.low <= centre <= population.high:
            continue
        _propose(population, slot, centre, population.width[slot])
        found = _fit_of(population, slot, TRY) + _prior_of_place(population, TRY)
        if math.log(rng.random()) < found - present:
            _copy_group(population, TRY, slot)
            present = found


@part()
def _prior_of_place(population: Population, slot: int) -> float:
    return float(-0.5 * ((population.centre[slot] - population.middle) / population.reach) ** 2)


@part()
def _length(error: float, width: float, size: int, stretch: float) -> float:
    """The step length for a width's logarithm: about its posterior standard deviation."""
    length = 1.2 * (1.0 + error / (width * width)) / math.sqrt(size)
    return stretch * min(max(length, SHORTEST), LONGEST / stretch)


@part()
def _move_width(
    population: Population, slot: int, error: float, stretch: float, rng: np.random.Generator
) -> None:
    """Make a Metropolis-Hastings step of a bell's width."""
    size = population.counts[slot]
    width = population.width[slot]
    length = _length(error, width, size, stretch)
    move = length * rng.standard_normal()
    proposed = width * math.exp(move)
    if not population.narrowest < proposed < population.widest:
        return
    back = _length(error, proposed, size, stretch)
    odds = math.log(length / back) - 0.5 * move * move * (1.0 / back**2 - 1.0 / length**2)
    _propose(population, slot, population.centre[slot], proposed)
    odds += _fit_of(population, slot, TRY) - _fit_of(population, slot, slot)
    if math.log(rng.random()) < odds:
        _copy_group(population, TRY, slot)


@part()
def _switch(population: Population, slot: int, rng: np.random.Generator) -> None:
    """Propose to turn a bell into an atom, or an atom into a bell of some width."""
    atoms = population.now[ATOMS]
    odds = math.log(atoms / (1.0 - atoms))
    width = 0.0
    if population.width[slot] == 0.0:
        width = _any_width(population, rng)
        odds = -odds
    _propose(population, slot, population.centre[slot], width)
    odds += _fit_of(population, slot, TRY) - _fit_of(population, slot, slot)
    if math.log(rng.random()) < odds:
        _copy_group(population, TRY, slot)


@part()
def _draw_concentration(population: Population, used: int, rng: np.random.Generator) -> None:
    """Draw the concentration given the number of groups."""
    groups = population.now[GROUPS]
    scores = population.scores
    best = -np.inf
    for j in range(len(CONCENTRATIONS)):
        value = CONCENTRATIONS[j]
        scores[j] = groups * math.log(value) + log_gamma(value) - log_gamma(value + used)
        best = max(best, scores[j])
    total = 0.0
    for j in range(len(CONCENTRATIONS)):
        scores[j] = math.exp(scores[j] - best)
        total += scores[j]
    picked = _pick(population, len(CONCENTRATIONS), rng.random() * total)
    population.now[CONCENTRATION] = CONCENTRATIONS[picked]


@part()
def _draw_share_of_atoms(population: Population, rng: np.random.Generator) -> None:
    """Draw the share of atoms among groups; a priori bells are more likely."""
    groups = int(population.now[GROUPS])
    atoms = 0
    for slot in range(groups):
        atoms += population.width[slot] == 0.0
    one = rng.standard_gamma(1.0 + atoms)
    other = rng.standard_gamma(BELLS + groups - atoms)
    population.now[ATOMS] = min(max(one / (one + other), 0.01), 0.99)
