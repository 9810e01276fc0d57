"""The prior: how the arms' means are distributed, learnt from all arms together.

Two layers. The first is a bell, perhaps a skewed one, with a share of outliers from a
long-tailed distribution or with a second, smaller bell beside it: few rewards do not tell groups
from one wide bell, and then it matters most. Its centre, scale and shape are not plugged in but
drawn from what the data leave possible, so that with few arms, or few rewards, the prior is as
uncertain as it should be. The second bends it towards what the arms look like:
maximum likelihood over mixtures of bumps (Kiefer and Wolfowitz 1956, by EM), in which
the first layer counts as some arms more and is where the steps begin. Bumps, not
atoms: a discrete prior would make MAD and tails too small. How wide they are is drawn, too:
noise hides whatever is narrower than itself, so that narrow bumps chase noise, and make the
MAD and what lies beyond theta a matter of luck; but wide ones blur groups that there are. Each
width is drawn as often as well it predicts every arm from the others. And each prior that is
drawn counts the arms with random weights (the Bayesian bootstrap; Rubin 1981), so that the
second layer is as uncertain as it should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core.typing import Array, Floats, Ints
from standout.estimation.bins import Bins
from standout.estimation.evidence import Readings, starts_of
from standout.estimation.products import blocks, product, weighted

SHARES = (0.0, 0.02, 0.06, 0.15)
"""Shares of outliers that the first layer may have, all as likely beforehand."""
SKEWS = ((1.0, 0.5), (1.8, 0.25), (1.0 / 1.8, 0.25))
"""How much wider than its scale its right half may be (the left is as much narrower), and
how likely that is beforehand."""
GROUPS = 0.3
"""How likely it is beforehand that a second bell lies beside the first, in place of outliers."""
GROUP_SHARES = (0.05, 0.1, 0.2)
"""Shares of arms in it, all as likely beforehand."""
DISTANCES = (-13.5, -9.0, -6.0, -4.0, 4.0, 6.0, 9.0, 13.5)
"""How many scales away it may lie, all as likely beforehand."""
COARSE, FINE = 24, 10
"""Scales tried first, and then where they matter."""
COARSE_STEPS, FINE_STEPS = 2, 1
"""Steps towards the likeliest centre of each."""
LONGEST_STEP = 16.0
"""Of these, in standard errors of a mean."""
FLAT = 0.2
"""A parabola over two standard errors to either side has a top if it is bent more than this."""
CENTRES = np.array([-2.25, -1.125, 0.0, 1.125, 2.25])
"""Centres tried around the likeliest, in standard deviations."""
LIKELY = 8.0
"""Scales that are less likely than the best by more than this, in logarithms, do not matter."""
NARROW = 0.3
"""Standard deviation of the narrowest bumps, times the scale times n^(-1/5)."""
RESOLUTIONS = (0.5, 1.0)
"""Wider ones, in standard errors of an estimate."""
WIDEST = 0.65
"""None is wider than so many scales of the first layer."""
APART = 1.4
"""Widths that are tried differ by more than this factor."""
SMOOTH = 2.0
"""How much likelier than the narrowest each of the wider ones is beforehand."""
STRENGTH = 12.0
"""The first layer counts as so many arms."""
ROUNDS = 40
"""Steps of EM: with the first layer among the arms, later ones change little."""
BASE_ROUNDS = 20
"""Steps in which the first layer becomes a mixture of bumps."""
MOST_FIRST = 2000
"""The first layer, of few parameters, is found from so many arms."""
TINY = 1e-300


class Shape(NamedTuple):
    """A bell with a skew, a share of arms elsewhere, where (0: anywhere), and how likely it is."""

    skew: float
    share: float
    distance: float
    chance: float


def _shapes() -> Iterator[Shape]:
    for skew, likely in SKEWS:
        for share in SHARES:
            yield Shape(skew, share, 0.0, (1.0 - GROUPS) * likely / len(SHARES))
    count = len(DISTANCES) * len(GROUP_SHARES)
    for distance in DISTANCES:
        for share in GROUP_SHARES:
            yield Shape(1.0, share, distance, GROUPS / count)


_SHAPES = tuple(_shapes())


@dataclass(frozen=True, eq=False)
class Bases:
    """What the first layer may be: masses of the bins (a row each) and how likely each is."""

    masses: Floats
    scales: Floats
    chance: Floats

    @property
    def scale(self) -> float:
        """The scale of the means, as far as it is known."""
        return float(self.scales @ self.chance)

    @property
    def usual_scale(self) -> float:
        """The same as a geometric mean: not drawn up by scales that are hardly possible."""
        return float(np.exp(np.log(self.scales) @ self.chance))

    def spread_out(self, size: int) -> Ints:
        """Positions of some of them, each about as often as it is likely.

        At even steps of the probability, so that every shape has its part also among few.
        """
        steps = (0.5 + np.arange(size)) / size
        found: Ints = np.searchsorted(np.cumsum(self.chance), steps)
        return np.minimum(found, len(self.chance) - 1)


def first_layer(rows: Floats, readings: Readings, bins: Bins) -> Bases:
    """All centres, scales and shapes that the data leave possible.

    `rows` is the likelihood: one row per arm, one column per bin. Arms are in order of
    what is known of them.
    """
    seen = np.flatnonzero(np.isfinite(readings.error))
    error = readings.error[seen]
    rows, weights = _fewer(rows[seen], readings.take(seen))
    typical = float(np.median(error)) if len(error) else bins.spread
    wide = float(np.hypot(bins.spread, typical))
    smallest = max(bins.spread / 15, 1.5 * float(bins.width.min()))
    largest = max(4.0 * bins.spread, 0.5 * (bins.edges[-1] - bins.edges[0]), 2.0 * smallest)
    scales = np.geomspace(smallest, largest, COARSE)
    doubt = np.sqrt((typical**2 + scales**2) / max(len(seen), 1))
    start = np.full((COARSE, len(_SHAPES)), bins.centre)
    centres, _ = _centred(rows, weights, bins, scales, start, doubt, COARSE_STEPS)
    rough = _log_posterior(rows, weights, _masses(bins, centres[None], scales), scales, wide)
    likely = np.flatnonzero(rough.max(axis=(0, 2)) > rough.max() - LIKELY)
    step = scales[1] / scales[0]
    fine = np.geomspace(scales[likely[0]] / step, scales[likely[-1]] * step, FINE)
    nearest = np.abs(np.log(fine[:, None] / scales)).argmin(axis=1)
    doubt = np.sqrt((typical**2 + fine**2) / max(len(seen), 1))
    centres, doubts = _centred(rows, weights, bins, fine, centres[nearest], doubt, FINE_STEPS)
    masses = _masses(bins, centres + CENTRES[:, None, None] * doubts, fine)
    found = _log_posterior(rows, weights, masses, fine, wide) + np.log(doubts)
    # Those of the same shape, then of the same scale, side by side: see `Bases.spread_out`.
    chance = np.exp(found - found.max()).transpose(2, 1, 0)
    keep = chance > 1e-6 * chance.sum()
    every = np.broadcast_to(fine[None, :, None], chance.shape)
    masses = masses.transpose(2, 1, 0, 3)
    return Bases(masses[keep], every[keep], chance[keep] / chance[keep].sum())


def _fewer(rows: Floats, readings: Readings) -> tuple[Floats, Floats]:
    """Rows that stand for all, and for how many arms each counts."""
    starts = np.flatnonzero(starts_of(readings))
    counts = np.diff(starts, append=len(rows)).astype(np.float64)
    if len(starts) > MOST_FIRST:
        # Every so-manieth is like all of them.
        picked = np.linspace(0, len(starts) - 1, MOST_FIRST).astype(np.int64)
        starts, counts = starts[picked], counts[picked] * (len(rows) / counts[picked].sum())
    return rows[starts], counts


def _centred(
    rows: Floats,
    weights: Floats,
    bins: Bins,
    scales: Floats,
    centres: Floats,
    doubt: Floats,
    steps: int,
) -> tuple[Floats, Floats]:
    """The likeliest centre of each scale and shape, and its standard deviation, by parabolas.

    The median of the estimates is no good centre: of a few rewards of 0 and 1 it is one of few
    values, and groups and skews have their bell elsewhere.
    """
    side, longest = 2.0 * doubt[:, None], 0.5 * LONGEST_STEP
    width = np.broadcast_to(side, centres.shape)
    for _ in range(steps):
        tried = centres + side * np.array([-1.0, 0.0, 1.0])[:, None, None]
        low, middle, high = _log_likelihood(rows, weights, _masses(bins, tried, scales))
        bend = 2.0 * middle - low - high
        # Where it is hardly bent, or upwards, there is no top: then a step towards the higher end.
        is_bent = bend > FLAT
        bend = np.where(is_bent, bend, 1.0)
        towards = 0.5 * longest * np.sign(high - low)
        move = np.where(is_bent, np.clip(0.5 * (high - low) / bend, -longest, longest), towards)
        centres = np.clip(centres + side * move, bins.edges[0], bins.edges[-1])
        width = side / np.sqrt(bend)
    return centres, np.clip(width, 0.25 * side, side)


def _masses(bins: Bins, centres: Floats, scales: Floats) -> Floats:
    """Masses of the bins: an axis each for centres, scales, shapes and bins.

    `centres` has the first three of them.
    """
    # Even over bins that widen in proportion to the distance: a tail like 1/distance.
    tail = 1.0 / len(bins.width)
    found = np.empty((*centres.shape, len(bins.width)))
    for number, shape in enumerate(_SHAPES):
        left, right = scales / shape.skew, scales * shape.skew
        # The mode lies where the median stays about where it was.
        mode = centres[:, :, number] - 0.6 * (right - left)
        found[:, :, number] = (1.0 - shape.share) * _bells(bins, mode, left, right)
        if shape.distance:
            second = centres[:, :, number] + shape.distance * scales
            found[:, :, number] += shape.share * _bells(bins, second, scales, scales)
        else:
            found[:, :, number] += shape.share * tail
    return found


def _bells(bins: Bins, modes: Floats, left: Floats, right: Floats) -> Floats:
    """Masses of bells: an axis each for centres, scales and bins."""
    off = bins.middle - np.clip(modes, bins.edges[0], bins.edges[-1])[:, :, None]
    off /= np.where(off > 0, right[:, None], left[:, None])
    bell = np.exp(-0.5 * np.minimum(off**2, 1400.0)) * bins.width + TINY
    bell /= bell.sum(axis=-1, keepdims=True)
    return bell


def _log_likelihood(rows: Floats, weights: Floats, masses: Floats) -> Floats:
    flat = masses.reshape(-1, masses.shape[-1])
    return weighted(weights, np.log(product(rows, flat.T))).reshape(masses.shape[:-1])


def _log_posterior(
    rows: Floats, weights: Floats, masses: Floats, scales: Floats, wide: float
) -> Floats:
    """Of each first layer, whose scales are at even steps of their logarithms."""
    before: Floats = -np.log1p((scales / wide) ** 2)
    shapes = np.log([shape.chance for shape in _SHAPES])
    return _log_likelihood(rows, weights, masses) + before[None, :, None] + shapes


def widths_of(scale: float, error: float, n_arms: int) -> list[float]:
    """Standard deviations that bumps may have, the narrowest first.

    `scale` is that of the first layer, `error` the standard error of a usual arm.
    """
    widths = [NARROW * scale * n_arms**-0.2]
    for part in RESOLUTIONS:
        width = min(part * error, WIDEST * scale)
        if width > APART * widths[-1]:
            widths.append(width)
    return widths


def bumps_of(bins: Bins, width: float) -> Floats:
    """Bumps of a standard deviation, one after the other: masses of the bins, a row each."""
    middle = bins.middle
    picked, last = [0], float(middle[0])
    for j, place in enumerate(middle.tolist()):
        if place - last >= width:
            picked.append(j)
            last = place
    deviation = np.maximum(width, bins.width[picked])
    off = (middle[None, :] - middle[picked][:, None]) / deviation[:, None]
    bumps = np.exp(-0.5 * np.minimum(off**2, 1400.0)) * bins.width + TINY
    result: Floats = bumps / bumps.sum(axis=1, keepdims=True)
    return result


def second_layer(fits: Floats, base: Floats, weights: Floats, bumps: Floats) -> Floats:
    """For how many arms each bump counts, the first layer's among them.

    `fits` is the likelihood of each arm (row) if its mean comes from each bump,
    `base` a first layer, and `weights` say for how many arms each arm counts.
    """
    start = STRENGTH * _shares_of(base, bumps)
    counts = start
    parts = [(fits[some], weights[some]) for some in blocks(fits)]
    for _ in range(ROUNDS):
        counts = start + counts * sum((weight / (fit @ counts)) @ fit for fit, weight in parts)
    return counts


def _shares_of(base: Floats, bumps: Floats) -> Floats:
    """The base as shares of bumps: the mixture of them that is nearest to it (by EM)."""
    peak = bumps.argmax(axis=1)
    owner: Array = np.searchsorted(0.5 * (peak[1:] + peak[:-1]), np.arange(len(base)))
    shares: Floats = np.bincount(owner, weights=base, minlength=len(bumps)).astype(np.float64)
    shares += TINY
    for _ in range(BASE_ROUNDS):
        shares = shares * (bumps @ (base / (shares @ bumps)))
    return shares


def posterior_masses(
    rows: Floats, fits: Floats, counts: Floats, weights: Floats, bumps: Floats
) -> Floats:
    """Where each arm's mean may lie: masses of the bins, a row per arm.

    An arm does not count for its own prior: a single high estimate must not vouch for itself.
    """
    masses = product(_of_others(fits, counts, weights), bumps)
    masses *= rows
    masses /= masses.sum(axis=1, keepdims=True)
    return masses


def predicted(fits: Floats, counts: Floats, weights: Floats) -> float:
    """How well every arm is predicted by the others: the sum of log likelihoods."""
    others = _of_others(fits, counts, weights)
    likelihood = np.einsum("ij,ij->i", others, fits) / others.sum(axis=1)
    return float(np.sum(np.log(likelihood) * weights))


def _of_others(fits: Floats, counts: Floats, weights: Floats) -> Floats:
    """The counts of the bumps less what each arm (row) has added to them."""
    own = fits * counts
    own *= (weights / own.sum(axis=1))[:, None]
    np.subtract(counts, own, out=own)
    np.maximum(own, 1e-9 * counts, out=own)
    return own
