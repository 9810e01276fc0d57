"""A distribution of the means learnt from all arms, theta, and each arm's chance: plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.naive.order import kth_largest, median_rank

CELLS = 64


@dataclass
class Arm:
    """An arm as one side sees it; `ones` where rewards are 0 or 1."""

    pulls: int
    estimate: float
    variance: float
    ones: float | None = None


@dataclass
class Learnt:
    place: Callable[[float], float]
    cell: Callable[[float], float]
    masses: list[float]
    theta: float
    shared: float


def learn(
    arms: Sequence[Arm], factor: float, sign: float, ends: tuple[float, float], plug_in: float
) -> Learnt:
    """From arms that all have rewards; `ends`: where means may lie, `plug_in`: theta if sharp."""
    m = median_rank(len(arms))
    estimates = [arm.estimate for arm in arms]
    median = kth_largest(estimates, m)
    noise = kth_largest([arm.variance / arm.pulls for arm in arms], m)
    error = math.sqrt(noise)
    spread = 1.4826 * kth_largest([abs(e - median) for e in estimates], m)
    spread = max(spread, 0.2 * error, 1e-9 * abs(median))
    low = min(min(estimates) - 2 * error, median - 4 * spread)
    high = max(max(estimates) + 2 * error, median + 4 * spread)
    low = max(low, median - 40 * spread, ends[0])
    high = min(high, median + 40 * spread, ends[1])
    first, last = (math.asinh((end - median) / (2 * spread)) for end in (low, high))
    step = (last - first) / CELLS

    def place(cell: float) -> float:
        return median + 2 * spread * math.sinh(first + step * cell)

    def cell_of(mean: float) -> float:
        return min(max((math.asinh((mean - median) / (2 * spread)) - first) / step, 0), CELLS)

    scale = math.sqrt(max(spread**2 - noise, (0.35 * spread) ** 2))
    bell = [
        math.exp(-(((place(g) + place(g + 1)) / 2 - median) ** 2) / (2 * scale**2))
        * (place(g + 1) - place(g))
        for g in range(CELLS)
    ]
    base = [12 * (0.9 * b / sum(bell) + 0.1 / CELLS) for b in bell]
    learnt = Learnt(place, cell_of, base, plug_in, sum(a.variance for a in arms) / len(arms))
    width = max(1.0, 0.5 * error / (2 * spread * step))
    for _ in range(8):
        found = all_posteriors(arms, learnt, sign)
        learnt.masses = [b + s for b, s in zip(base, smooth(found, width), strict=True)]
    if error > 2 * spread * step:
        found = all_posteriors(arms, learnt, sign)
        learnt.theta = threshold([f / len(arms) for f in found], learnt, factor)
    return learnt


def all_posteriors(arms: Sequence[Arm], learnt: Learnt, sign: float) -> list[float]:
    """Where all means may lie, in arms per cell."""
    found = [0.0] * CELLS
    for arm in arms:
        for g, mass in enumerate(posterior(arm, learnt, sign)):
            found[g] += mass
    return found


def posterior(arm: Arm, learnt: Learnt, sign: float) -> list[float]:
    """Where one mean may lie."""
    place = learnt.place
    middles = [(place(g) + place(g + 1)) / 2 for g in range(CELLS)]
    if arm.ones is not None:
        shares = [min(max(sign * x, 1e-12), 1 - 1e-12) for x in middles]
        logs = [arm.ones * math.log(p) + (arm.pulls - arm.ones) * math.log1p(-p) for p in shares]
    else:
        mean = min(max(arm.estimate, place(0)), place(CELLS))
        g = min(math.floor(learnt.cell(mean)), CELLS - 1)
        square = square_error(arm, learnt) + (place(g + 1) - place(g)) ** 2 / 12
        logs = [-((x - mean) ** 2) / 2 / square for x in middles]
    joint = [
        math.exp(each - max(logs)) * mass for each, mass in zip(logs, learnt.masses, strict=True)
    ]
    return [each / sum(joint) for each in joint]


def square_error(arm: Arm, learnt: Learnt) -> float:
    return (arm.pulls * arm.variance + 5 * learnt.shared) / (arm.pulls + 5) / arm.pulls


def smooth(found: Sequence[float], width: float) -> list[float]:
    """Each cell's arms spread over its neighbours, as a bell that is cut at two widths."""
    reach = min(int(2 * width) + 1, CELLS - 1)
    spread = [0.0] * CELLS
    for g, count in enumerate(found):
        near = [h for h in range(CELLS) if abs(h - g) <= reach]
        weights = [math.exp(-(((h - g) / width) ** 2) / 2) for h in near]
        for h, weight in zip(near, weights, strict=True):
            spread[h] += count * weight / sum(weights)
    return spread


def threshold(shares: Sequence[float], learnt: Learnt, factor: float) -> float:
    """Median + factor * MAD of a distribution that is even within each cell."""

    def below(mean: float) -> float:
        cell = learnt.cell(mean)
        g = min(int(cell), CELLS - 1)
        return sum(shares[:g]) + (cell - g) * shares[g]

    def solve(function: Callable[[float], float], low: float, high: float) -> float:
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if function(middle) > 0.5 else (middle, high)
        return high

    median = learnt.place(solve(lambda cell: below(learnt.place(cell)), 0, CELLS))
    widest = learnt.place(CELLS) - learnt.place(0)
    return median + factor * solve(lambda d: below(median + d) - below(median - d), 0, widest)


def chance(arm: Arm, learnt: Learnt, sign: float) -> float:
    """That the arm's mean lies beyond theta."""
    cell = learnt.cell(learnt.theta)
    g = min(int(cell), CELLS - 1)
    if math.sqrt(square_error(arm, learnt)) < learnt.place(g + 1) - learnt.place(g):
        off = learnt.theta - arm.estimate
        return math.erfc(off / math.sqrt(2 * square_error(arm, learnt))) / 2
    masses = posterior(arm, learnt, sign)
    return sum(masses[g + 1 :]) + (g + 1 - cell) * masses[g]
