"""Chances by plain loops: what an arm has to exceed, one step of the prior, a posterior, lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tests.naive.order import kth_largest, median_rank


def threshold(means: Sequence[float], factor: float) -> float:
    """Median + factor * MAD of means that may be infinite."""
    m = median_rank(len(means))
    median = kth_largest(means, m)
    if math.isinf(median):
        return math.inf
    return median + factor * kth_largest([abs(mean - median) for mean in means], m)


def to_exceed(means: Sequence[float], factor: float, arm: int) -> float:
    """The threshold if the arm's own mean were infinite."""
    return threshold([math.inf if i == arm else mean for i, mean in enumerate(means)], factor)


def em_step(
    fits: Sequence[Sequence[float]],
    start: Sequence[float],
    counts: Sequence[float],
    weights: Sequence[float],
) -> list[float]:
    """For how many arms each bump counts after one step: what the arms seem to come from."""
    found = list(start)
    for fit, weight in zip(fits, weights, strict=True):
        joint = [f * c for f, c in zip(fit, counts, strict=True)]
        for j, part in enumerate(joint):
            found[j] += weight * part / sum(joint)
    return found


def posterior(
    row: Sequence[float],
    fit: Sequence[float],
    counts: Sequence[float],
    weight: float,
    bumps: Sequence[Sequence[float]],
) -> list[float]:
    """One arm's masses: its prior is what all others, and the first layer, leave."""
    joint = [f * c for f, c in zip(fit, counts, strict=True)]
    others = [
        max(c - weight * part / sum(joint), 1e-9 * c) for c, part in zip(counts, joint, strict=True)
    ]
    masses = [
        likely * sum(count * bump[b] for count, bump in zip(others, bumps, strict=True))
        for b, likely in enumerate(row)
    ]
    return [mass / sum(masses) for mass in masses]


def log_predicted(fit: Sequence[float], counts: Sequence[float], weight: float) -> float:
    """How likely one arm's rewards are by what all others, and the first layer, leave."""
    joint = [f * c for f, c in zip(fit, counts, strict=True)]
    others = [
        max(c - weight * part / sum(joint), 1e-9 * c) for c, part in zip(counts, joint, strict=True)
    ]
    return math.log(sum(f * c for f, c in zip(fit, others, strict=True)) / sum(others))


def flagged(chance: Sequence[float], false_share: float) -> list[int]:
    """The longest list, by chance, whose mean chance to be wrong is at most `false_share`."""
    order = sorted(range(len(chance)), key=lambda i: (-chance[i], i))
    best: list[int] = []
    for size in range(1, len(order) + 1):
        wrong = sum(1 - chance[i] for i in order[:size])
        if wrong / size <= false_share + 1e-12:
            best = order[:size]
    return best


def missed_share(chance: list[float], flagged: int) -> float:
    """Expected share of the arms that stand out which is not among the first so many.

    Over all ways in which arms may stand out, each by its own chance; 0 of 0 is 0.
    """
    total = 0.0
    for stands in itertools.product((False, True), repeat=len(chance)):
        weight = math.prod(c if s else 1 - c for c, s in zip(chance, stands, strict=True))
        if any(stands):
            total += weight * sum(stands[flagged:]) / sum(stands)
    return total
