"""The data checks by plain loops, by trying all reorderings, or by looking at a fine grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations, product


def by_arm(arm: Sequence[int], fewest: int, reward: Sequence[float]) -> dict[int, list[int]]:
    """Places of each arm's rewards in the log; arms with few or equal rewards are left out."""
    places: dict[int, list[int]] = {}
    for place, i in enumerate(arm):
        places.setdefault(i, []).append(place)
    return {
        i: found
        for i, found in sorted(places.items())
        if len(found) >= fewest and len({reward[p] for p in found}) > 1
    }


def scores(values: Sequence[float]) -> list[float]:
    """Middle ranks brought to mean 0 and variance 1."""
    ranks = [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]
    mean = sum(ranks) / len(ranks)
    spread = math.sqrt(sum((r - mean) ** 2 for r in ranks) / (len(ranks) - 1))
    return [(r - mean) / spread for r in ranks]


def moments_over_orders(
    values: Sequence[float], statistic: Callable[[Sequence[float]], float]
) -> tuple[float, float]:
    """Mean and variance of a statistic over all reorderings."""
    found = [statistic(order) for order in permutations(values)]
    mean = sum(found) / len(found)
    return mean, sum((value - mean) ** 2 for value in found) / len(found)


def neighbour_sum(values: Sequence[float]) -> float:
    return sum(a * b for a, b in pairwise(values))


def centred(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [value - mean for value in values]


def trend(
    groups: Sequence[tuple[Sequence[float], Sequence[float]]], leeway: float
) -> tuple[float, float]:
    """z of all arms and the room left for adaptive pulling; groups are (scores, other)."""
    total = square = root = 0.0
    for score, other in groups:
        varied = centred(other)
        total += sum(a * b for a, b in zip(score, varied, strict=True))
        own = sum(b * b for b in varied)
        square += own
        root += math.sqrt(own)
    return total / math.sqrt(square), leeway * root / math.sqrt(square)


def worker_covariance(groups: Sequence[Sequence[int]], n_workers: int) -> list[list[float]]:
    """Covariance of the workers' sums of scores; groups are the workers of each arm."""
    table = [[0.0] * n_workers for _ in range(n_workers)]
    for workers in groups:
        n = len(workers)
        for a, b in product(range(n), repeat=2):
            # Scores have the variance (n - 1) / n and the covariance -1 / n over reorderings.
            table[workers[a]][workers[b]] += (n - 1) / n if a == b else -1 / n
    return table


def sub_gaussian_bound(squares: float, number: int, slopes: Sequence[float]) -> float:
    best = max(s * squares + number / 2 * math.log(1 - 2 * s) for s in slopes)
    return min(1.0, len(slopes) * math.exp(-best))


def least_log_wealth(values: Sequence[float], sigma: float, bet: float) -> float:
    """The smallest capital over all means on a fine grid."""
    low, high = min(values), max(values)
    means = [low + (high - low) * k / 4000 for k in range(4001)]
    return min(
        sum(math.log(1 - bet + bet * ((x - mean) / sigma) ** 2) for x in values) for mean in means
    )


def studentized(values: Sequence[float]) -> list[float]:
    """Each value against the mean and the standard deviation of the others."""
    found = []
    for place, value in enumerate(values):
        rest = [*values[:place], *values[place + 1 :]]
        mean = sum(rest) / len(rest)
        deviation = math.sqrt(sum((x - mean) ** 2 for x in rest) / (len(rest) - 1))
        found.append((value - mean) / (deviation * math.sqrt(1 + 1 / len(rest))))
    return found


def overtaken(arm: Sequence[int], ticket: Sequence[int]) -> int:
    last: dict[int, int] = {}
    count = 0
    for i, number in zip(arm, ticket, strict=True):
        if number > 0:
            count += number < last.get(i, 0)
            last[i] = number
    return count


def all_orders(groups: Sequence[Sequence[float]]) -> list[tuple[tuple[float, ...], ...]]:
    """Every way to reorder the values within each group, as often as it comes up."""
    return list(product(*(list(permutations(group)) for group in groups)))


def share_as_odd(
    groups: Sequence[Sequence[float]],
    odd: Callable[[Sequence[Sequence[float]]], float],
    seen: float,
) -> float:
    """The share of all orders that are at least as odd as `seen`."""
    found = [odd(order) for order in all_orders(groups)]
    return sum(value >= seen - 1e-9 for value in found) / len(found)
