"""From evidence to chances: means are drawn, and each arm's tail is averaged over the draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.problem import Problem
from standout.core.typing import Flags, Floats, Ints
from standout.errors import ProblemError
from standout.estimation.draws import Draws, draws_of
from standout.estimation.evidence import Evidence, Readings, readings_of, starts_of
from standout.estimation.lists import FALSE_SHARE, lists_of
from standout.estimation.notes import note_of
from standout.results import Chances, Threshold

LEVEL = 0.9
"""Probability of the threshold's interval."""
OUTSIDE = 0.03
"""Share of the draws beyond each of its ends: less than .05, since no population is exactly a
mixture of groups. Ties and lattices need the difference."""
MOST_ARMS = 100_000
"""This many arms take some hundred megabytes of memory and some seconds."""


def estimate(
    problem: Problem,
    evidence: Evidence,
    arms: Sequence[str],
    *,
    false_share: float = FALSE_SHARE,
    seed: int = 0,
) -> Chances:
    """Chances of all arms from their rewards.

    Args:
        problem: What stands out, and how rewards scatter.
        evidence: Pulls, means and scatter of each arm.
        arms: Their names.
        false_share: The largest share of `flagged` that may be wrong, in expectation.
        seed: Drives the draws.

    Returns:
        The chances.

    Raises:
        ProblemError: `false_share` is not between 0 and 1, or there are more than `MOST_ARMS` arms.
    """
    if not 0 < false_share < 1:
        raise ProblemError(f"the false share must lie between 0 and 1, not {false_share}")
    if len(arms) > MOST_ARMS:
        raise ProblemError(
            f"chances are worked out for at most {MOST_ARMS:,} arms together, not {len(arms):,}"
        )
    if len(arms) != len(evidence.pulls):
        raise ValueError(f"{len(arms)} names for {len(evidence.pulls)} arms")
    readings = readings_of(evidence, problem.noise)
    draws = draws_of(readings, problem, seed)
    chance = _chance(draws, readings, problem)
    return _result(draws, chance, problem, evidence, readings, tuple(arms), false_share, seed)


def _chance(draws: Draws, readings: Readings, problem: Problem) -> Floats:
    """Each arm's chance; arms with the same evidence share the mean of theirs."""
    chance = np.clip(draws.mean(np.clip(draws.tails, 0.0, 1.0)), 0.0, 1.0)
    if any(problem.factor_of(side) < 1 for side in problem.sides()):
        # Pseudo-counts: few draws never give a chance of exactly 0 or 1.
        chance = (chance * len(draws.tails) + 0.5) / (len(draws.tails) + 1.0)
    order = readings.order()
    group = np.cumsum(starts_of(readings.take(order))) - 1
    even = np.empty(len(chance))
    even[order] = (np.bincount(group, weights=chance[order]) / np.bincount(group))[group]
    return even


def _result(
    draws: Draws,
    chance: Floats,
    problem: Problem,
    evidence: Evidence,
    readings: Readings,
    arms: tuple[str, ...],
    false_share: float,
    seed: int,
) -> Chances:
    lists = lists_of(chance, false_share)
    seen = np.isfinite(readings.error)
    likely = [_likely(draws, thetas, seen) for thetas in draws.thetas]

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
        note=note_of(readings, chance, draws),
    )


def _likely(draws: Draws, thetas: Floats, seen: Flags) -> Threshold:
    """The interval that probably contains a threshold; unbounded before the first reward."""
    if not seen.any():
        return Threshold(-np.inf, np.inf, np.nan)
    low, middle, high = draws.quantiles(thetas, [OUTSIDE, 0.5, 1.0 - OUTSIDE])
    return Threshold(low, high, middle)
