"""How likely each arm's rewards are if its mean lies in each bin."""

from __future__ import annotations

import numpy as np

from standout.core.typing import Floats
from standout.estimation.bins import Bins
from standout.estimation.evidence import Readings

SMALLEST = 1e-300
"""The chance of a one, or a zero, is never less."""
LEAST = 1e-280
"""No bin is ruled out altogether, or an estimate beyond all bins would rule out all."""


def likelihood(readings: Readings, bins: Bins) -> Floats:
    """One row per arm, one column per bin, the largest of each row 1."""
    if readings.ones is not None and readings.zeros is not None:
        rows = _binomial(readings.ones, readings.zeros, bins)
        known = readings.error == 0
        if known.any():
            rows[known] = _bell(readings, bins)[known]
    else:
        rows = _bell(readings, bins)
    rows -= rows.max(axis=1, keepdims=True)
    np.exp(rows, out=rows)
    np.maximum(rows, LEAST, out=rows)
    return rows


def _binomial(ones: Floats, zeros: Floats, bins: Bins) -> Floats:
    one = np.maximum(np.sin(bins.middle) ** 2, SMALLEST)
    zero = np.maximum(np.cos(bins.middle) ** 2, SMALLEST)
    return np.outer(ones, np.log(one)) + np.outer(zeros, np.log(zero))


def _bell(readings: Readings, bins: Bins) -> Floats:
    """Normal or Student's; an error far below a bin's width counts as if spread over the bin."""
    seen = np.isfinite(readings.error)
    place = np.clip(np.where(seen, readings.place, bins.centre), bins.edges[0], bins.edges[-1])
    inside = bins.width[np.clip(np.searchsorted(bins.edges, place) - 1, 0, len(bins.width) - 1)]
    error = np.sqrt(np.where(seen, readings.error, 0.0) ** 2 + inside**2 / 12)
    off: Floats = (bins.middle[None, :] - place[:, None]) / error[:, None]
    off *= off
    dof = readings.dof
    if np.isfinite(dof).any():
        nu = np.where(np.isfinite(dof), dof, 1e9)[:, None]
        rows: Floats = np.log1p(off / nu) * (-0.5 * (nu + 1.0))
    else:
        rows = -0.5 * off
    rows[~seen] = 0.0
    return rows
