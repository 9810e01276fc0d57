"""The scores of `focus` on one side, straight from the words in its docstring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tests.naive.order import kth_largest, median_rank

SMALLEST, REACH = 0.01, 0.1


@dataclass(frozen=True)
class Side:
    """What is known of the arms and the threshold, oriented so that outliers are high."""

    lower: Sequence[float]
    upper: Sequence[float]
    estimate: Sequence[float]
    pulls: Sequence[int]
    costs: Sequence[float]
    is_undecided: Sequence[bool]
    theta: tuple[float, float]
    centre: float
    median: tuple[float, float]
    mu: tuple[float, float]
    factor: float
    tolerance: float

    def gain(self, i: int) -> float:
        return (self.upper[i] - self.lower[i]) / (self.pulls[i] * self.costs[i])

    def overlaps(self) -> tuple[dict[int, float], dict[int, float]]:
        """Of the undecided arms below theta with its lower end, of those above with its upper."""
        floor, ceiling = self.theta[0] + self.tolerance, self.theta[1] - self.tolerance
        waiting = [
            i
            for i, undecided in enumerate(self.is_undecided)
            if undecided and self.lower[i] <= ceiling and self.upper[i] > floor
        ]
        below = {i: self.upper[i] - floor for i in waiting if self.estimate[i] <= self.centre}
        above = {i: ceiling - self.lower[i] for i in waiting if self.estimate[i] > self.centre}
        return below, above


def scores(side: Side) -> list[float]:
    below, above = side.overlaps()
    found = [[0.0] for _ in side.lower]
    for i in (*below, *above):
        found[i].append(side.gain(i))
    largest = max([0.0, *below.values(), *above.values()])
    if largest > 0:
        for end, waiting in ((0, below), (1, above)):
            overlap = max(waiting.values(), default=0.0)
            weight = math.sqrt(sum(waiting.values()) / overlap) if overlap > 0 else SMALLEST
            for i, slope in slopes(side, end, overlap or largest, weight):
                found[i].append(slope * side.gain(i))
    return [max(values) for values in found]


def slopes(side: Side, end: int, overlap: float, weight: float) -> list[tuple[int, float]]:
    """The arms in the way of one end of theta's interval, each with what it is in the way of."""
    m = median_rank(len(side.lower))
    arms = range(len(side.lower))
    mu, factor = side.mu[end], side.factor
    left, right = side.median
    inner = max(SMALLEST, factor - 1)
    to_left, to_right = (1 + factor, inner) if end == 0 else (inner, 1 + factor)
    middle = kth_largest(side.estimate, m)
    found = []
    # The median's left end: what seems to be among the m largest, but may lie at its left.
    for i in arms:
        if side.estimate[i] >= middle and side.lower[i] <= left + REACH * overlap / to_left:
            found.append((i, to_left * overlap / (overlap + to_left * (mu - left))))
        if side.estimate[i] <= middle and side.upper[i] >= right - REACH * overlap / to_right:
            found.append((i, to_right * overlap / (overlap + to_right * (right - mu))))
    # The MAD at mu.
    seeming = [abs(side.estimate[i] - mu) for i in arms]
    if end == 0:
        possible = [max(0.0, side.lower[i] - mu, mu - side.upper[i]) for i in arms]
        limit = kth_largest(possible, m) + REACH * overlap / factor
        in_way = [i for i in arms if seeming[i] >= kth_largest(seeming, m) and possible[i] <= limit]
    else:
        possible = [max(side.upper[i] - mu, mu - side.lower[i]) for i in arms]
        limit = kth_largest(possible, m) - REACH * overlap / factor
        in_way = [i for i in arms if seeming[i] <= kth_largest(seeming, m) and possible[i] >= limit]
    is_inside = left < mu < right
    for i in in_way:
        push = (1 + factor) / 2 if side.estimate[i] > mu else inner / 2
        found.append((i, push if is_inside else factor))
    return [(i, weight * slope) for i, slope in found]
