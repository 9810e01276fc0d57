"""The evidence about each arm's mean: an estimate and its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.kinds import IntervalKind
from standout.core.noise import Bernoulli, Bounded, GaussianUnknown, Noise
from standout.core.prior import KNOWN_PULLS
from standout.core.state import Spec, State, means_of
from standout.core.typing import Flags, Floats, Ints

FEWEST_DOF = 3.0
"""The fewest degrees of freedom of the shared variance, so that it has a mean."""
PRETENDED = 0.5
"""Pseudo-rewards at the middle of the range, for variances of bounded rewards."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One entry per arm: number and mean of its rewards, and their scatter.

    `means` is NaN for an arm without rewards. `squares` are sums of squared deviations from the
    arm's own mean, NaN if they were not kept. `known` marks means that are known exactly; their
    pulls do not matter.
    """

    pulls: Ints
    means: Floats
    squares: Floats
    known: Flags

    def __post_init__(self) -> None:
        sizes = {len(each) for each in (self.pulls, self.means, self.squares, self.known)}
        if len(sizes) > 1:
            raise ValueError(f"evidence needs one entry per arm in each array, not {sizes}")


def evidence_of(spec: Spec, state: State) -> Evidence:
    """The evidence in the state of a run or a study, as of the last reward."""
    squares = np.full(len(state.pulls), np.nan)
    if spec.interval == IntervalKind.STUDENT:
        squares = state.moments[:, 0].copy()
    elif spec.interval in (IntervalKind.BERNSTEIN, IntervalKind.BETTING):
        squares = (spec.high - spec.low) ** 2 * state.moments[:, 0]
    known = state.pulls >= KNOWN_PULLS
    return Evidence(state.pulls.copy(), means_of(state), squares, known)


@dataclass(frozen=True, eq=False)
class Readings:
    """The evidence on the scale of the prior, one entry per arm.

    On this scale, each arm's `place` scatters around its mean with standard deviation `error` (0:
    known, infinite: no rewards) and `dof` degrees of freedom. For 0/1 rewards, the scale is the
    angle asin(sqrt(mean)), on which the error does not depend on the mean; `ones` and `zeros` count
    the rewards. Otherwise it is the scale of the rewards, and `ones` and `zeros` are None.
    """

    place: Floats
    error: Floats
    dof: Floats
    ones: Floats | None
    zeros: Floats | None
    low: float
    high: float

    @property
    def is_angle(self) -> bool:
        """Whether places are angles."""
        return self.ones is not None

    def order(self) -> Ints:
        """Positions of the arms in an order that depends on the evidence alone."""
        found: Ints = np.lexsort((self.dof, self.error, self.place))
        return found

    def mirrored(self) -> Readings:
        """The readings of the negated means; with rewards of 0 and 1, of ones and zeros swapped."""
        if self.is_angle:
            right = 0.5 * np.pi
            place = right - self.place
            return Readings(place, self.error, self.dof, self.zeros, self.ones, 0.0, right)
        return Readings(-self.place, self.error, self.dof, None, None, -self.high, -self.low)

    def take(self, order: Ints) -> Readings:
        """The readings of some arms."""
        return Readings(
            self.place[order],
            self.error[order],
            self.dof[order],
            None if self.ones is None else self.ones[order],
            None if self.zeros is None else self.zeros[order],
            self.low,
            self.high,
        )


def starts_of(readings: Readings) -> Flags:
    """Whether each arm, in sorted order, differs from the one before it."""
    keys = np.stack([np.nan_to_num(readings.place), readings.error, readings.dof])
    starts = np.ones(keys.shape[1], dtype=np.bool_)
    starts[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return starts


def readings_of(evidence: Evidence, noise: Noise) -> Readings:
    """The evidence on the prior's scale, for a noise family."""
    pulls = np.where(evidence.known, 0, evidence.pulls).astype(np.float64)
    means = np.where((pulls > 0) | evidence.known, evidence.means, np.nan)
    if isinstance(noise, Bernoulli):
        return _angles(pulls, means, evidence.known)
    variance, dof = _variances(pulls, evidence.squares, means, noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(variance / pulls)
    error[pulls == 0] = np.inf
    error[evidence.known] = 0.0
    dof = np.where(evidence.known, np.inf, dof)
    return Readings(means, error, dof, None, None, *noise.support)


def _angles(pulls: Floats, means: Floats, known: Flags) -> Readings:
    ones = np.where(pulls > 0, np.round(pulls * np.nan_to_num(means)), 0.0)
    share = np.where(known, np.nan_to_num(means), (ones + 0.375) / (pulls + 0.75))
    place = np.arcsin(np.sqrt(share))
    place[(pulls == 0) & ~known] = np.nan
    with np.errstate(divide="ignore"):
        error = 0.5 / np.sqrt(pulls)
    error[known] = 0.0
    dof = np.full(len(pulls), np.inf)
    return Readings(place, error, dof, ones, pulls - ones, 0.0, np.pi / 2)


def _variances(
    pulls: Floats, squares: Floats, means: Floats, noise: Noise
) -> tuple[Floats, Floats]:
    """Variance of one reward of each arm, and the degrees of freedom with which it is known."""
    certain = np.full(len(pulls), np.inf)
    if isinstance(noise, Bounded):
        low, high = noise.support
        widest = np.maximum((means - low) * (high - means), 0.0)
        if np.isnan(squares[pulls > 0]).any():
            # Only pulls and sums are stored: use the largest variance possible for this mean.
            return np.where(pulls > 0, widest, 0.0), certain
        squares = np.where(pulls > 0, squares, 0.0)
        return _shared(np.maximum(pulls - PRETENDED, 0.0), squares, means)
    if isinstance(noise, GaussianUnknown):
        return _shared(np.maximum(pulls - 1.0, 0.0), np.where(pulls > 1, squares, 0.0), means)
    return np.full(len(pulls), noise.sigma**2), certain


def _shared(dof: Floats, squares: Floats, means: Floats) -> tuple[Floats, Floats]:
    """Each arm's variance, shrunk towards the common variance.

    The variances are modelled as draws from a scaled inverse chi-square distribution with d0
    degrees of freedom around s0^2. It is fitted to the mean and the variance of the estimates
    (Smyth 2004; with moments instead of logarithms, because the variance of equal rewards is 0).
    """
    total = dof.sum()
    if total <= 0 or squares.sum() <= 0:
        # No two rewards of an arm, or none that differ: the arms' own spread may all be noise.
        found = means[np.isfinite(means)]
        spread = float(np.var(found)) if len(found) > 1 else 0.0
        return np.full(len(dof), spread or 1.0), np.full(len(dof), FEWEST_DOF)
    pooled = squares.sum() / total
    ratio = np.divide(squares, dof * pooled, out=np.ones(len(dof)), where=dof > 0)
    # E (ratio - 1)^2 = 2/d + (1 + 2/d) v, with v the relative variance of the true ones.
    excess = ((ratio - 1.0) ** 2 * dof).sum() / total - 2.0 * np.count_nonzero(dof) / total
    relative = max(excess, 0.0) / (1.0 + 2.0 * np.count_nonzero(dof) / total)
    # An inverse chi-square with d0 degrees of freedom has relative variance 2/(d0 - 4); without
    # the 4, arms that differ much keep more of their own.
    shared = min(2.0 / relative, 1e6) if relative > 0 else 1e6
    variance = (shared * pooled + squares) / (shared + dof)
    return variance, np.maximum(shared + dof, FEWEST_DOF)
