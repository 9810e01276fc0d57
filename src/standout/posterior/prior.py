"""The prior: how the arms' means are distributed, learnt from all arms together.

Two layers. The first is a bell, perhaps a skewed one, with a share of outliers from a
long-tailed distribution; its centre, scale, skew and share are not plugged in but drawn from
what the data leave possible, so that with few arms, or few rewards, the prior is as
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

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Array, Floats
from standout.posterior.bins import Bins
from standout.posterior.evidence import Readings

SHARES = (0.0, 0.02, 0.06, 0.15)
"""Shares of outliers that the first layer may have, all as likely beforehand."""
SKEWS = ((1.0, 0.5), (1.8, 0.25), (1.0 / 1.8, 0.25))
"""How much wider than its scale its right half may be (the left is as much narrower), and
how likely that is beforehand."""
COARSE, FINE = 24, 10
"""Scales tried first, and then where they matter."""
CENTRES = np.array([-2.25, -1.125, 0.0, 1.125, 2.25])
"""Centres tried, in standard errors of a mean: the median that they surround has more."""
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
DOUBT = 0.1
"""The chance that the scale is less than `Bases.least_scale`."""
MOST_FIRST = 4000
"""The first layer, of few parameters, is found from so many arms."""
TINY = 1e-300


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
    def least_scale(self) -> float:
        """What the scale of the means exceeds with chance 1 - `DOUBT`."""
        order = np.argsort(self.scales, kind="stable")
        below = np.cumsum(self.chance[order])
        place = min(int(np.searchsorted(below, DOUBT)), len(order) - 1)
        return float(self.scales[order[place]])


def first_layer(rows: Floats, readings: Readings, bins: Bins) -> Bases:
    """All centres, scales, skews and shares that the data leave possible.

    `rows` is the likelihood: one row per arm, one column per bin.
    """
    seen = np.flatnonzero(np.isfinite(readings.error))
    weight = 1.0
    if len(seen) > MOST_FIRST:
        # Arms are in order of their estimates: every so-manieth is like all of them.
        picked = np.linspace(0, len(seen) - 1, MOST_FIRST).astype(np.int64)
        weight, seen = len(seen) / MOST_FIRST, seen[picked]
    rows, error = rows[seen], readings.error[seen]
    typical = float(np.median(error)) if len(error) else bins.spread
    wide = float(np.hypot(bins.spread, typical))
    smallest = max(bins.spread / 15, 1.5 * float(bins.width.min()))
    largest = max(4.0 * bins.spread, 0.5 * (bins.edges[-1] - bins.edges[0]), 2.0 * smallest)
    scales = np.geomspace(smallest, largest, COARSE)
    centre = np.array([bins.centre])
    rough = _log_posterior(rows, weight, _masses(bins, centre, scales), scales, wide)
    likely = np.flatnonzero(rough.max(axis=(0, 2, 3)) > rough.max() - LIKELY)
    step = scales[1] / scales[0]
    scales = np.geomspace(scales[likely[0]] / step, scales[likely[-1]] * step, FINE)
    middle = float(scales[FINE // 2])
    doubt = 1.0 / np.sqrt(weight * np.sum(1.0 / (error**2 + middle**2))) if len(error) else 0.0
    masses = _masses(bins, bins.centre + doubt * CENTRES, scales)
    found = _log_posterior(rows, weight, masses, scales, wide)
    chance = np.exp(found - found.max())
    keep = chance > 1e-6 * chance.sum()
    every = np.broadcast_to(scales[None, :, None, None], chance.shape)
    return Bases(masses[keep], every[keep], chance[keep] / chance[keep].sum())


def _masses(bins: Bins, centres: Floats, scales: Floats) -> Floats:
    """Masses of the bins: an axis each for centres, scales, skews, shares and bins."""
    # Even over bins that widen in proportion to the distance: a tail like 1/distance.
    tail = 1.0 / len(bins.width)
    parts = []
    for skew, _ in SKEWS:
        left, right = scales / skew, scales * skew
        # The mode lies where the median stays about where it was.
        mode = centres[:, None] - 0.6 * (right - left)
        off = bins.middle - mode[:, :, None]
        off /= np.where(off > 0, right[:, None], left[:, None])
        bell = np.exp(-0.5 * np.minimum(off**2, 1400.0)) * bins.width + TINY
        bell /= bell.sum(axis=-1, keepdims=True)
        parts.append(np.stack([(1.0 - share) * bell + share * tail for share in SHARES], axis=2))
    return np.stack(parts, axis=2)


def _log_posterior(
    rows: Floats, weight: float, masses: Floats, scales: Floats, wide: float
) -> Floats:
    """Of each first layer; the scale is half-Cauchy beforehand, as wide as the estimates."""
    flat = masses.reshape(-1, masses.shape[-1])
    found: Floats = weight * np.log(rows @ flat.T).sum(axis=0).reshape(masses.shape[:-1])
    # A factor `scales` more: they are tried at even steps of their logarithms.
    before: Floats = np.log(scales / (1.0 + (scales / wide) ** 2))
    skew = np.log([chance for _, chance in SKEWS])
    found += before[None, :, None, None] + skew[None, None, :, None]
    return found


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
    for _ in range(ROUNDS):
        share = fits @ counts
        counts = start + counts * ((weights / share) @ fits)
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
    masses = _of_others(fits, counts, weights) @ bumps
    masses *= rows
    masses /= masses.sum(axis=1, keepdims=True)
    return masses


def predicted(fits: Floats, counts: Floats, weights: Floats) -> float:
    """How well every arm is predicted by the others: the sum of log likelihoods."""
    others = _of_others(fits, counts, weights)
    likelihood = np.einsum("ij,ij->i", others, fits) / others.sum(axis=1)
    return float(np.log(likelihood) @ weights)


def _of_others(fits: Floats, counts: Floats, weights: Floats) -> Floats:
    """The counts of the bumps less what each arm (row) has added to them."""
    own = fits * counts
    own *= (weights / own.sum(axis=1))[:, None]
    np.subtract(counts, own, out=own)
    np.maximum(own, 1e-9 * counts, out=own)
    return own
