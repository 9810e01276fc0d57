"""From evidence to chances: priors drawn, means drawn, thresholds, and each arm's tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from standout.core.problem import Problem, Side
from standout.core.typing import Flags, Floats, Ints
from standout.errors import ProblemError
from standout.estimation import prior
from standout.estimation.bins import Bins, bins_of
from standout.estimation.draws import Posterior, thresholds
from standout.estimation.evidence import Evidence, Readings, readings_of, starts_of
from standout.estimation.likelihood import likelihood
from standout.estimation.lists import FALSE_SHARE, lists_of
from standout.estimation.products import product, weighted
from standout.results import Chances, Threshold

LEVEL = 0.9
"""Probability of the threshold's interval."""
MOST_PRIORS, FEWEST_PRIORS = 32, 16
PRIOR_EFFORT = 15_000
"""Arms times priors, about: with many arms the priors hardly differ."""
MOST_DRAWS, FEWEST_DRAWS = 600, 250
DRAW_EFFORT = 2_500_000
"""Arms times joint draws of all means, about."""
MOST_ARMS = 100_000
"""They take about a gigabyte of memory and 20 seconds."""
NOISY = 4.0
"""A standard error larger than so many standard deviations of the means is noted."""
AT_ODDS = 2.5
"""Priors whose numbers of arms that stand out differ by more than this factor are noted."""
PRIOR_SHARE = 0.1
"""The highest and the lowest of the priors, so many of each, are left out of that."""
MEMORY_ARMS = 500
"""With fewer arms everything is worked out anew: it is quick, and each arm moves all."""
MEMORY_SHARE = 0.1
"""Part of the arms, or of the pulls, that may change before everything is worked out anew."""


@dataclass
class Memory:
    """What a later estimate may start from; one per study, for use with the same problem and seed.

    With many arms an update then looks only at those that changed, with priors and
    thresholds of the last full estimate, until a tenth of arms or pulls has changed.
    So what it gives depends, a little, on the estimates before it.
    """

    key: object = None
    evidence: Evidence | None = None
    bins: Bins | None = None
    priors: list[tuple[Floats, Floats, Floats]] = field(default_factory=list)
    chance: Floats = field(default_factory=lambda: np.zeros(0))
    thetas: dict[Side, list[Floats]] = field(default_factory=dict)
    scale: float = 0.0
    numbers: list[float] = field(default_factory=list)
    """How many arms each prior expects to stand out."""


def estimate(
    problem: Problem,
    evidence: Evidence,
    arms: Sequence[str],
    *,
    false_share: float = FALSE_SHARE,
    seed: int = 0,
    memory: Memory | None = None,
) -> Chances:
    """Chances of all arms from what their rewards say.

    Raises `ProblemError` for a `false_share` that is not between 0 and 1, and for more than
    `MOST_ARMS` arms. `memory`, if given, makes updates of many arms quick; it is
    brought up to date.
    """
    if not 0 < false_share < 1:
        raise ProblemError(f"the false share must lie between 0 and 1, not {false_share}")
    if len(arms) > MOST_ARMS:
        raise ProblemError(
            f"chances are worked out for at most {MOST_ARMS:,} arms together, not {len(arms):,}"
        )
    if len(arms) != len(evidence.pulls):
        raise ValueError(f"{len(arms)} names for {len(evidence.pulls)} arms")
    memory = Memory() if memory is None else memory
    readings = readings_of(evidence, problem.noise)
    key = (problem, seed)
    changed = _changed(memory, evidence, key)
    if changed is None:
        _estimate_all(memory, problem, readings, seed)
        memory.key, memory.evidence = key, evidence
    elif len(changed):
        _estimate_some(memory, problem, readings, changed)
    return _result(memory, problem, evidence, readings, tuple(arms), false_share, seed)


def _changed(memory: Memory, now: Evidence, key: object) -> Ints | None:
    """The arms that differ from the last full estimate; None if it has to be made anew."""
    old = memory.evidence
    if old is None or memory.key != key or len(old.pulls) != len(now.pulls):
        return None
    same = (old.pulls == now.pulls) & (old.known == now.known)
    for before, after in ((old.means, now.means), (old.squares, now.squares)):
        same &= (before == after) | (np.isnan(before) & np.isnan(after))
    differ = np.flatnonzero(~same)
    more = np.abs(now.pulls - old.pulls)[~(now.known | old.known)].sum()
    total = old.pulls[~old.known].sum()
    if len(differ) == 0:
        return differ
    few = len(differ) <= MEMORY_SHARE * len(same) and more <= MEMORY_SHARE * total
    return differ if few and len(same) >= MEMORY_ARMS else None


def _estimate_all(memory: Memory, problem: Problem, readings: Readings, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_arms = len(readings.place)
    # In an order that depends on the evidence alone, so that naming arms otherwise, or
    # listing them in another order, changes nothing.
    order = np.lexsort((readings.dof, readings.error, readings.place))
    readings = readings.take(order)
    bins = bins_of(readings, max(problem.factor_of(side) for side in problem.sides()))
    rows = likelihood(readings, bins)
    bases = prior.first_layer(rows, readings, bins)
    widths = _bumps_of_all_widths(rows, readings, bins, bases)
    n_priors = int(np.clip(PRIOR_EFFORT // n_arms, FEWEST_PRIORS, MOST_PRIORS))
    n_draws = int(np.clip(DRAW_EFFORT // n_arms, FEWEST_DRAWS, MOST_DRAWS)) // n_priors
    memory.bins, memory.scale = bins, bases.usual_scale
    memory.priors, memory.thetas = [], {side: [] for side in problem.sides()}
    memory.numbers = []
    chance = np.zeros(n_arms)
    for base in bases.spread_out(n_priors):
        weights = _weights(rng, readings)
        bumps = widths[rng.choice(len(widths), p=[each.chance for each in widths])]
        counts = prior.second_layer(bumps.fits, bases.masses[base], weights, bumps.masses)
        masses = prior.posterior_masses(rows, bumps.fits, counts, weights, bumps.masses)
        posterior = Posterior(masses, readings, bins)
        means = readings.to_mean(posterior.draw(rng, n_draws))
        beyond = np.zeros(n_arms)
        for side in problem.sides():
            theta, own = _side_thresholds(means, problem, side)
            beyond += _beyond(posterior, means, own, problem, side)
            memory.thetas[side].append(theta)
        chance += beyond / n_priors
        memory.numbers.append(float(beyond.sum()))
        restored = np.empty(n_arms)
        restored[order] = weights
        memory.priors.append((bumps.masses, counts, restored))
    if any(problem.factor_of(side) < 1 for side in problem.sides()):
        # Counted, not averaged: so few draws make no certainty.
        chance = (chance * n_priors * n_draws + 0.5) / (n_priors * n_draws + 1.0)
    memory.chance = np.empty(n_arms)
    memory.chance[order] = _evened(chance, readings)


@dataclass(frozen=True, eq=False)
class _Bumps:
    """Bumps of one width, how well each arm (row) fits each, and the width's chance."""

    masses: Floats
    fits: Floats
    chance: float


def _bumps_of_all_widths(
    rows: Floats, readings: Readings, bins: Bins, bases: prior.Bases
) -> list[_Bumps]:
    """A width is as likely as well it predicts each arm from the others."""
    seen = np.isfinite(readings.error)
    error = float(np.median(readings.error[seen])) if seen.any() else 0.0
    base, weights = weighted(bases.chance, bases.masses), seen.astype(np.float64)
    widths = prior.widths_of(bases.scale, error, len(rows))
    of_widths = [prior.bumps_of(bins, width) for width in widths]
    pairs = [(bumps, product(rows, bumps.T)) for bumps in of_widths]
    scores = np.where(np.arange(len(pairs)) > 0, np.log(prior.SMOOTH), 0.0)
    for number, (bumps, fits) in enumerate(pairs):
        counts = prior.second_layer(fits, base, weights, bumps)
        scores[number] += prior.predicted(fits, counts, weights)
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    return [_Bumps(*pair, chance) for pair, chance in zip(pairs, chances.tolist(), strict=True)]


def _weights(rng: np.random.Generator, readings: Readings) -> Floats:
    """For how many arms each arm counts in one prior; an arm without rewards says nothing."""
    weights = rng.exponential(size=len(readings.error))
    weights *= np.isfinite(readings.error)
    total = weights.sum()
    return weights * (np.count_nonzero(weights) / total) if total > 0 else weights


def _side_thresholds(means: Floats, problem: Problem, side: Side) -> tuple[Floats, Floats]:
    """theta of each draw and, per draw and arm, what the arm has to be beyond."""
    if side is Side.HIGH:
        return thresholds(means, problem.factor_of(side))
    theta, own = thresholds(-means, problem.factor_of(side))
    return -theta, -own


def _beyond(
    posterior: Posterior, means: Floats, own: Floats, problem: Problem, side: Side
) -> Floats:
    """Each arm's chance to be beyond its thresholds, averaged over the draws."""
    if problem.factor_of(side) < 1:
        # What makes an arm's threshold independent of the arm holds from 1 on: count draws.
        theta, _ = _side_thresholds(means, problem, side)
        hits = means > theta[:, None] if side is Side.HIGH else means < theta[:, None]
        counted: Floats = hits.mean(axis=0)
        return counted
    found = posterior.tail(own) if side is Side.HIGH else posterior.not_above(own)
    average: Floats = found.mean(axis=0)
    return average


def _evened(chance: Floats, readings: Readings) -> Floats:
    """Arms (in order) with the same evidence have the same chance: the mean of theirs."""
    group = np.cumsum(starts_of(readings)) - 1
    even: Floats = (np.bincount(group, weights=chance) / np.bincount(group))[group]
    return even


def _estimate_some(memory: Memory, problem: Problem, readings: Readings, changed: Ints) -> None:
    """Bring the chances of a few arms up to date, with the priors and thresholds there are."""
    assert memory.bins is not None
    few = readings.take(changed)
    rows = likelihood(few, memory.bins)
    memory.chance = memory.chance.copy()
    chance = np.zeros(len(changed))
    for number, (bumps, counts, weights) in enumerate(memory.priors):
        fits = product(rows, bumps.T)
        masses = prior.posterior_masses(rows, fits, counts, weights[changed], bumps)
        posterior = Posterior(masses, few, memory.bins)
        for side in problem.sides():
            theta = np.repeat(memory.thetas[side][number][:, None], len(changed), axis=1)
            found = posterior.tail(theta) if side is Side.HIGH else posterior.not_above(theta)
            chance += found.mean(axis=0) / len(memory.priors)
    memory.chance[changed] = chance


def _result(
    memory: Memory,
    problem: Problem,
    evidence: Evidence,
    readings: Readings,
    arms: tuple[str, ...],
    false_share: float,
    seed: int,
) -> Chances:
    chance = np.clip(memory.chance, 0.0, 1.0)
    lists = lists_of(chance, false_share)
    seen = np.isfinite(readings.error)
    likely = [_likely(np.concatenate(memory.thetas[side]), seen) for side in problem.sides()]

    def named(places: Ints) -> tuple[str, ...]:
        return tuple(arms[i] for i in places.tolist())

    return Chances(
        arms=arms,
        chance=chance,
        likely_threshold=likely[0],
        likely_threshold_low=likely[1] if len(likely) > 1 else None,
        level=LEVEL,
        false_share=false_share,
        flagged=named(lists.flagged),
        flagged_false_share=lists.flagged_false_share,
        missed_share=lists.missed_share,
        probable=named(lists.probable),
        expected_wrong=lists.expected_wrong,
        pulls=int(evidence.pulls[~evidence.known].sum()),
        seed=seed,
        note=_note(readings, seen, memory),
    )


def _likely(thetas: Floats, seen: Flags) -> Threshold:
    """Where a threshold probably is; nowhere in particular as long as nothing is measured."""
    if not seen.any():
        return Threshold(-np.inf, np.inf, np.nan)
    low, middle, high = np.quantile(thetas, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2]).tolist()
    return Threshold(low, high, middle)


def _note(readings: Readings, seen: Flags, memory: Memory) -> str | None:
    """What the chances lean on besides the data."""
    if not seen.any():
        return "nothing is measured yet: these chances are those of any arm among as many"
    without = int(np.count_nonzero(~seen))
    if without > len(seen) / 2:
        return f"{without:,} of {len(seen):,} arms have no reward: theirs are guessed from others"
    fewest, most = np.quantile(memory.numbers, [PRIOR_SHARE, 1.0 - PRIOR_SHARE]).tolist()
    # Half an arm more: where hardly one stands out, nothing is at odds.
    if most + 0.5 > AT_ODDS * (fewest + 0.5):
        return (
            f"the rewards do not tell yet whether about {fewest:.0f} or {most:.0f} arms stand out, "
            "and these chances average over both; more pulls per arm settle it"
        )
    if float(np.median(readings.error[seen])) > NOISY * memory.scale:
        return (
            "the estimates are several times as noisy as the means are spread: these chances are "
            "hardly more than those of any arm among as many; more pulls per arm tell them apart"
        )
    return None
