"""One step of the Gibbs sampler: assign each arm to a group, then move each group.

Each arm leaves its group and joins a random one. The probability of a group is proportional to the
arm's likelihood in it, times its number of arms (for an empty group, times the concentration).
Then Metropolis steps move each group's centre and width; a centre with a normal posterior is drawn
directly. A group may also change its shape: atom, bell or slope. The concentration and the share of
atoms are drawn, too.
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

CONCENTRATIONS = (1.0, 2.0, 4.0, 8.0)
"""Possible concentrations, with equal prior probabilities."""
MOVES = 2
"""Number of moves of each group per step."""
HOPELESS = 40.0
"""An arm never joins a group whose log likelihood is lower than the best by this much."""
TRIES = 20
"""Attempts to draw a place before the nearest possible one is used."""
BELLS = 2.0
"""The prior of the share of atoms is Beta(1, BELLS)."""
SLOPES = 0.3
"""Prior share of slopes among the groups that are not atoms."""
RESHAPED = 0.25
"""Probability to propose another shape when a group moves and stays a bell or a slope."""
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
    """Draw a group from the prior: a place, and an atom, a bell or a slope of some width."""
    place = population.middle
    for _ in range(TRIES):
        place = population.middle + population.reach * rng.standard_normal()
        if population.low <= place <= population.high:
            break
    population.centre[slot] = min(max(place, population.low), population.high)
    population.width[slot] = 0.0
    population.slope[slot] = 0
    if rng.random() >= population.now[ATOMS]:
        population.width[slot] = _any_width(population, rng)
        population.slope[slot] = _any_slope(rng)
    population.counts[slot] = 0
    prepare(population, slot)


@part()
def _any_width(population: Population, rng: np.random.Generator) -> float:
    ratio = population.widest / population.narrowest
    return float(population.narrowest * ratio ** rng.random())


@part()
def _any_slope(rng: np.random.Generator) -> int:
    """0 for a bell; 1 for a slope that falls to the right, -1 for one that falls to the left."""
    if rng.random() >= SLOPES:
        return 0
    return 1 if rng.random() < 0.5 else -1


@part()
def _copy_group(population: Population, source: int, target: int) -> None:
    population.centre[target] = population.centre[source]
    population.width[target] = population.width[source]
    population.slope[target] = population.slope[source]
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
    """Move a group's centre and width, and change its shape."""
    error = _square_error(population, slot)
    present = _fit_of(population, slot, slot)
    for turn in range(MOVES):
        if population.is_binary or population.slope[slot] != 0:
            present = _move_centre(population, slot, error, present, rng)
        else:
            _draw_centre(population, slot, rng)
            present = _fit_of(population, slot, slot)
        if population.width[slot] > 0.0:
            present = _move_width(population, slot, error, 1.0 + 2.0 * turn, present, rng)
        if rng.random() < 0.5:
            present = _switch(population, slot, present, rng)
        elif population.width[slot] > 0.0 and rng.random() < RESHAPED:
            present = _reshape(population, slot, present, rng)


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
def _propose(population: Population, slot: int, centre: float, width: float, slope: int) -> None:
    population.centre[TRY] = centre
    population.width[TRY] = width
    population.slope[TRY] = slope
    population.counts[TRY] = population.counts[slot]
    prepare(population, TRY)


@part()
def _accept(
    population: Population, slot: int, odds: float, present: float, rng: np.random.Generator
) -> float:
    """Make the group what is proposed, or not; how well it fits then.

    `odds` is the log ratio of all but the fits, and `present` the fit before.
    """
    found = _fit_of(population, slot, TRY)
    if math.log(rng.random()) < odds + found - present:
        _copy_group(population, TRY, slot)
        return found
    return present


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
def _move_centre(
    population: Population, slot: int, error: float, present: float, rng: np.random.Generator
) -> float:
    """Make two Metropolis steps, a long and a short one, of a group's place."""
    size = population.counts[slot]
    deviation = math.sqrt((error + population.width[slot] ** 2) / size)
    for turn in range(2):
        length = 1.5 if turn == 0 else 0.5
        centre = population.centre[slot] + length * deviation * rng.standard_normal()
        if not population.low <= centre <= population.high:
            continue
        _propose(population, slot, centre, population.width[slot], population.slope[slot])
        odds = _prior_of_place(population, TRY) - _prior_of_place(population, slot)
        present = _accept(population, slot, odds, present, rng)
    return present


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
    population: Population,
    slot: int,
    error: float,
    stretch: float,
    present: float,
    rng: np.random.Generator,
) -> float:
    """Make a Metropolis-Hastings step of a bell's or a slope's width."""
    size = population.counts[slot]
    width = population.width[slot]
    length = _length(error, width, size, stretch)
    move = length * rng.standard_normal()
    proposed = width * math.exp(move)
    if not population.narrowest < proposed < population.widest:
        return present
    back = _length(error, proposed, size, stretch)
    odds = math.log(length / back) - 0.5 * move * move * (1.0 / back**2 - 1.0 / length**2)
    _propose(population, slot, population.centre[slot], proposed, population.slope[slot])
    return _accept(population, slot, odds, present, rng)


@part()
def _switch(population: Population, slot: int, present: float, rng: np.random.Generator) -> float:
    """Propose to turn a group into an atom, or an atom into a bell or a slope of some width."""
    atoms = population.now[ATOMS]
    odds = math.log(atoms / (1.0 - atoms))
    width = 0.0
    slope = 0
    if population.width[slot] == 0.0:
        width = _any_width(population, rng)
        slope = _any_slope(rng)
        odds = -odds
    _propose(population, slot, population.centre[slot], width, slope)
    return _accept(population, slot, odds, present, rng)


@part()
def _reshape(population: Population, slot: int, present: float, rng: np.random.Generator) -> float:
    """Make a bell a slope, or a slope a bell, of the same mean and standard deviation."""
    width = population.width[slot]
    slope = 0
    odds = math.log(SLOPES / (1.0 - SLOPES))
    if population.slope[slot] == 0:
        slope = 1 if rng.random() < 0.5 else -1
    else:
        odds = -odds
    centre = population.centre[slot] + (population.slope[slot] - slope) * width
    if not population.low <= centre <= population.high:
        return present
    _propose(population, slot, centre, width, slope)
    odds += _prior_of_place(population, TRY) - _prior_of_place(population, slot)
    return _accept(population, slot, odds, present, rng)


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
