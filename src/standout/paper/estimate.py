"""Means, standard errors and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.typing import Floats

RESAMPLES = 1000
COVERAGE = (2.5, 97.5)


def mean_and_error(values: Floats) -> tuple[float, float]:
    """The mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def wilson(share: float, runs: int, errors: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of runs: within 0 and 1, and no point where it is 0 or 1.

    >>> [round(end, 3) for end in wilson(0.0, 50)]
    [0.0, 0.071]
    """
    square = errors**2 / runs
    middle = (share + square / 2) / (1 + square)
    half = errors * np.sqrt(share * (1 - share) / runs + square / (4 * runs)) / (1 + square)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def median_error(values: Floats, rng: np.random.Generator) -> float:
    """Standard error of the median, by bootstrap."""
    picks = rng.integers(0, values.size, (RESAMPLES, values.size))
    return float(np.median(values[picks], axis=1).std(ddof=1))


def resampling_weights(runs: int, seed: int) -> Floats:
    """The weight of each run in each bootstrap sample: its number of copies over that of runs.

    All methods use the same matrix, because run r has the same instance and rewards in each. So
    methods are compared within runs.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2**31,)))
    counts = rng.multinomial(runs, np.full(runs, 1.0 / runs), RESAMPLES)
    weights: Floats = counts / runs
    return weights


def interval(samples: Floats) -> tuple[float, float]:
    """The middle 95 % of bootstrap samples, which may be infinite."""
    ordered = np.sort(samples)
    places = [round(share / 100 * (ordered.size - 1)) for share in COVERAGE]
    return float(ordered[places[0]]), float(ordered[places[1]])


def first_crossings(curves: Floats, marks: Sequence[int], level: float) -> Floats:
    """Pulls at which each error curve (a row) first falls to `level`; infinite if it never does.

    Curves are interpolated linearly between checkpoints, and from error 1 at 0 pulls to the first.

    >>> first_crossings(np.array([[0.8, 0.4, 0.2], [0.9, 0.9, 0.8]]), [200, 400, 600], 0.6)
    array([300.,  inf])
    """
    heights = np.column_stack([np.ones(len(curves)), curves])
    pulls = np.array([0, *marks], dtype=np.float64)
    place = np.argmax(heights <= level, axis=1)
    rows = np.arange(len(curves))
    # argmax is 0 if the curve stays above the level; the result is replaced then.
    left = np.maximum(place - 1, 0)
    before, after = heights[rows, left], heights[rows, place]
    fall = np.where(before > after, before - after, 1.0)
    found = pulls[left] + (before - level) / fall * (pulls[place] - pulls[left])
    crossings: Floats = np.where(place == 0, np.inf, found)
    return crossings


def line(x: Floats, y: Floats) -> tuple[float, float, float]:
    """Least squares: slope, intercept and R²."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - (slope * x + intercept)
    return float(slope), float(intercept), float(1 - rest.var() / y.var())
