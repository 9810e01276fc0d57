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
    scale: float = 0.0
    doubt: float = 0.0


def learn(
    arms: Sequence[Arm],
    factor: float,
    sign: float,
    ends: tuple[float, float],
    plug_in: float,
    certain: tuple[float, float],
) -> Learnt:
    """From arms that all have rewards.

    `ends`: where means may lie, `plug_in`: theta if sharp, `certain`: its certain interval.
    """
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

    learnt = Learnt(place, cell_of, [], plug_in, sum(a.variance for a in arms) / len(arms))
    middles = [(place(g) + place(g + 1)) / 2 for g in range(CELLS)]
    widths = [place(g + 1) - place(g) for g in range(CELLS)]
    fits = [fit(arm, learnt, middles, sign) for arm in arms]

    def bell(midst: float, scale: float, tail: float) -> list[float]:
        heights = [
            math.exp(-(((x - midst) / scale) ** 2) / 2) * w
            for x, w in zip(middles, widths, strict=True)
        ]
        return [(1 - tail) * each / sum(heights) + tail / CELLS for each in heights]

    def log_likelihood(masses: Sequence[float]) -> float:
        return sum(math.log(dot(each, masses)) for each in fits)

    def weighed(midst: float) -> list[tuple[float, float, float]]:
        """Scale, tail and chance of each bell."""
        bells = [(1.2 * spread * 0.8**j, tail) for tail in (0.02, 0.1) for j in range(11)]
        logs = [
            log_likelihood(bell(midst, *each)) - 12 * math.log(each[0] / spread) ** 2 / 2
            for each in bells
        ]
        chances = [math.exp(each - max(logs)) for each in logs]
        return [(*each, chance / sum(chances)) for each, chance in zip(bells, chances, strict=True)]

    scale = sum(each * chance for each, _, chance in weighed(median))
    centres = [median + 0.15 * spread * j for j in range(-5, 6)]
    midst = max(centres, key=lambda centre: log_likelihood(bell(centre, scale, 0.02)))
    bells = weighed(midst)
    learnt.scale = sum(each * chance for each, _, chance in bells)
    cell = 2 * spread * step
    width = max(1.0, 0.5 * min(error, learnt.scale) / cell)
    bumps = bumps_of(width)
    base = [0.0] * CELLS
    for scale, tail, chance in bells:
        narrowed = math.sqrt(max(scale**2 - (width * cell) ** 2, scale**2 / 4))
        base = [b + 12 * chance * m for b, m in zip(base, bell(midst, narrowed, tail), strict=True)]
    in_bumps = [[dot(bump, each) for bump in bumps] for each in fits]
    counts = base
    for _ in range(8):
        found = [0.0] * CELLS
        for each in in_bumps:
            total = dot(each, counts)
            found = [f + e * c / total for f, e, c in zip(found, each, counts, strict=True)]
        counts = [b + f for b, f in zip(base, found, strict=True)]
    learnt.masses = blurred(counts, bumps)
    if error > cell:
        shares = blurred([f / len(arms) for f in found], bumps)
        learnt.theta = threshold(shares, learnt, factor)
    seen = [1 / (1 + learnt.shared / learnt.scale**2 / arm.pulls) for arm in arms]
    of_scale = (factor / 1.4826) ** 2 / sum(2 * each**2 for each in seen)
    learnt.doubt = learnt.scale**2 * (math.pi / 2 / sum(seen) + of_scale)
    learnt.doubt *= noise / (noise + learnt.scale**2)
    learnt.theta += 2 * math.sqrt(learnt.doubt)  # of the best guess
    learnt.theta = min(max(learnt.theta, certain[0]), certain[1])
    return learnt


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def fit(arm: Arm, learnt: Learnt, middles: Sequence[float], sign: float) -> list[float]:
    """How likely an arm's rewards are in each cell, the best 1."""
    place = learnt.place
    if arm.ones is not None:
        shares = [min(max(sign * x, 1e-12), 1 - 1e-12) for x in middles]
        logs = [arm.ones * math.log(p) + (arm.pulls - arm.ones) * math.log1p(-p) for p in shares]
    else:
        mean = min(max(arm.estimate, place(0)), place(CELLS))
        g = min(math.floor(learnt.cell(mean)), CELLS - 1)
        square = square_error(arm, learnt) + (place(g + 1) - place(g)) ** 2 / 12
        logs = [-((x - mean) ** 2) / 2 / square for x in middles]
    return [math.exp(each - max(logs)) for each in logs]


def square_error(arm: Arm, learnt: Learnt) -> float:
    return (arm.pulls * arm.variance + 5 * learnt.shared) / (arm.pulls + 5) / arm.pulls


def bumps_of(width: float) -> list[list[float]]:
    """A bell around each cell, cut at two widths: the weights of all cells."""
    reach = min(int(2 * width) + 1, CELLS - 1)
    bumps = []
    for g in range(CELLS):
        weights = [
            math.exp(-(((h - g) / width) ** 2) / 2) if abs(h - g) <= reach else 0.0
            for h in range(CELLS)
        ]
        bumps.append([each / sum(weights) for each in weights])
    return bumps


def blurred(counts: Sequence[float], bumps: Sequence[Sequence[float]]) -> list[float]:
    """What each cell has if the counts are those of bumps."""
    return [sum(c * bump[h] for c, bump in zip(counts, bumps, strict=True)) for h in range(CELLS)]


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
    """That the arm's mean lies beyond theta, which is normal around where it probably is."""
    place, off = learnt.place, learnt.theta - arm.estimate
    g = min(int(learnt.cell(learnt.theta)), CELLS - 1)
    square = square_error(arm, learnt)
    if math.sqrt(square) < place(g + 1) - place(g):
        return math.erfc(off / math.sqrt(2 * (square + learnt.doubt))) / 2
    middles = [(place(h) + place(h + 1)) / 2 for h in range(CELLS)]
    joint = [f * m for f, m in zip(fit(arm, learnt, middles, sign), learnt.masses, strict=True)]
    beyond = 0.0
    for h, mass in enumerate(joint):
        wide = math.sqrt(2 * (learnt.doubt + (place(h + 1) - place(h)) ** 2 / 12))
        beyond += mass * math.erfc((learnt.theta - middles[h]) / wide) / 2
    return beyond / sum(joint)
