"""Thresholds of jointly drawn means, and each arm's chance to lie beyond them."""

from __future__ import annotations

import numpy as np
from scipy import special

from standout.core.robust import median_rank
from standout.core.typing import Floats
from standout.estimation.bins import Bins
from standout.estimation.evidence import Readings

NEARLY_NORMAL = 200.0
"""Degrees of freedom from which Student's tails are taken for normal ones: to .001, ten times
as quickly."""


class Posterior:
    """Where each arm's mean may lie, given one prior.

    `masses` are those of the bins, a row per arm. An arm that is known more
    finely than the bins are keeps its own bell instead: over so short a
    distance a prior changes nothing.
    """

    def __init__(self, masses: Floats, readings: Readings, bins: Bins) -> None:
        self.masses, self.readings, self.bins = masses, readings, bins
        self.below = np.cumsum(masses, axis=1)
        width = np.interp(np.nan_to_num(readings.place), bins.middle, bins.width)
        self.sharp = np.flatnonzero(readings.error < width)

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Places of all arms, one row per draw."""
        n_arms, n_bins = self.masses.shape
        line = np.arange(n_arms)[:, None]
        flat = (self.below / self.below[:, -1:] + line).ravel()
        found = np.searchsorted(flat, (rng.random((n_arms, size)) + line).ravel())
        inside = np.clip(found.reshape(n_arms, size) - line * n_bins, 0, n_bins - 1)
        drawn: Floats = (
            self.bins.edges[inside] + rng.random((n_arms, size)) * self.bins.width[inside]
        )
        sharp = self.sharp
        if len(sharp):
            noise = _student(rng, self.readings.dof[sharp], size)
            near = self.readings.place[sharp, None] + self.readings.error[sharp, None] * noise
            drawn[sharp] = np.clip(near, self.readings.low, self.readings.high)
        return drawn.T

    def tail(self, means: Floats) -> Floats:
        """P(mean > ...), with a row per draw and a column per arm; `means` alike."""
        place = self._places(means)
        edges, last = self.bins.edges, len(self.bins.width) - 1
        inside = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, last)
        share = np.clip((place - edges[inside]) / self.bins.width[inside], 0.0, 1.0)
        arm = np.arange(self.masses.shape[0])[None, :]
        found = 1.0 - self.below[arm, inside] + (1.0 - share) * self.masses[arm, inside]
        if len(self.sharp):
            found[:, self.sharp] = self._sharp_tail(place[:, self.sharp])
        return np.clip(found, 0.0, 1.0)

    def not_above(self, means: Floats) -> Floats:
        """P(mean < ...): what is not above, less what lies exactly there."""
        found = 1.0 - self.tail(means)
        sharp = self.sharp
        if len(sharp):
            is_there = self._places(means)[:, sharp] == self.readings.place[sharp]
            found[:, sharp] -= is_there & (self.readings.error[sharp] == 0)
        return found

    def _places(self, means: Floats) -> Floats:
        place = self.readings.to_place(means)
        if self.readings.is_angle:
            # Angles end where means end; a threshold may lie beyond.
            place = np.where(means > 1.0, np.inf, np.where(means < 0.0, -np.inf, place))
        return place

    def _sharp_tail(self, place: Floats) -> Floats:
        error, dof = self.readings.error[self.sharp], self.readings.dof[self.sharp]
        off = place - self.readings.place[self.sharp]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            standard = off / error
        # A known mean is beyond or not; on the threshold it is not.
        at = np.where(error == 0, np.inf, 0.0)
        return _student_tail(np.where(off == 0, at, standard), dof)


def _student_tail(t: Floats, dof: Floats) -> Floats:
    """P(T > t), with a column per number of degrees of freedom (infinite for the normal)."""
    found: Floats = special.ndtr(-t)
    few = np.flatnonzero(dof < NEARLY_NORMAL)
    found[:, few] = special.stdtr(dof[few], -t[:, few])
    return found


def _student(rng: np.random.Generator, dof: Floats, size: int) -> Floats:
    drawn = rng.standard_normal((len(dof), size))
    finite = np.isfinite(dof)
    if finite.any():
        nu = dof[finite, None]
        drawn[finite] /= np.sqrt(rng.chisquare(nu, (len(nu), size)) / nu)
    return drawn


def thresholds(means: Floats, factor: float) -> tuple[Floats, Floats]:
    """theta of each draw (a row), and what each arm has to exceed in it to stand out.

    An arm stands out just when it exceeds the theta that there would be if its own
    mean were infinite. (For a factor of at least 1: above that theta, it is
    farther from the median than the MAD, and moving it farther changes neither. Below,
    either the same holds and it is not above theta, or it is no farther from the median than
    the MAD, so not above theta either.) That theta does not depend on the arm, so that
    its posterior can be averaged in place of counting draws. An arm that is moved up
    from below changes a rank by one, so that there are two medians per draw and two
    MADs for each.
    """
    rank = median_rank(means.shape[1])
    median, above = _ranked(means, rank)
    deviation = np.abs(means - median)
    mad, larger = _ranked(deviation, rank)
    theta = median + factor * mad
    own = np.where(deviation > mad, theta, median + factor * larger)
    if rank == 1:
        return theta[:, 0], np.full_like(means, np.inf)
    off = np.abs(means - above)
    mad, larger = _ranked(off, rank)
    moved = above + factor * np.where(off > mad, mad, larger)
    return theta[:, 0], np.where(means > median, own, moved)


def _ranked(rows: Floats, rank: int) -> tuple[Floats, Floats]:
    """The rank-th and the (rank - 1)-th largest of each row, infinite before the first."""
    if rank == 1:
        return rows.max(axis=1, keepdims=True), np.full((len(rows), 1), np.inf)
    place = rows.shape[1] - rank
    parted = np.partition(rows, (place, place + 1), axis=1)
    return parted[:, place : place + 1], parted[:, place + 1 : place + 2]
