"""Saying early and plainly that a run without a tolerance may never end, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.intervals import reward_variance
from standout.core.kinds import Verdict
from standout.core.state import SIZE, THRESHOLD, THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State

ENOUGH_PULLS = 200
"""Pulls of each undecided arm before anything is said: earlier all instances look like this."""
HOPELESS = 100.0
"""Times the pulls so far that the rest would take."""
NO_SPREAD = 4.0
"""The arms look the same while their MAD is within two standard errors of an estimate."""


def doubt(spec: Spec, state: State, arms: Sequence[str]) -> str | None:
    """Why the arms that are left look as if they could not be decided, or None."""
    left = np.flatnonzero(state.verdict == Verdict.UNDECIDED)
    if spec.tolerance > 0 or len(left) == 0 or state.pulls[left].min() < ENOUGH_PULLS:
        return None
    silent = left[~np.isfinite(state.upper[0, left])]
    if len(silent) > 0:
        return (
            f"arm {arms[int(silent[0])]!r} has given the same reward every time: no noise shows, "
            "so that its scale cannot be told; use gaussian:SIGMA or bounded:A,B noise"
        )
    if not np.isfinite(state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER, THRESHOLD]]).all():
        return None
    return _no_spread(spec, state, left) or _on_threshold(state, arms, left)


def _no_spread(spec: Spec, state: State, left: np.ndarray) -> str | None:
    """More than half of the arms differ by no more than their sampling noise."""
    omega = state.omega[: state.sampled[SIZE]]
    values = state.estimate[0, omega]
    deviations = np.abs(values - np.median(values))
    mad = float(np.median(deviations))
    noise = float(np.median([reward_variance(spec, state, i) / state.pulls[i] for i in left]))
    if 2 * len(left) < spec.n_arms or mad**2 > NO_SPREAD * noise:
        return None
    return (
        f"more than half of the arms look the same (their spread is below {mad:.2g}): if they "
        "are, the MAD is 0, the threshold lies on them and they can never be decided; "
        "give a tolerance, or a budget"
    )


def _on_threshold(state: State, arms: Sequence[str], left: np.ndarray) -> str | None:
    """Some arm lies so near the threshold that what is left would take for ever."""
    worst, factor = -1, 0.0
    for side in range(len(state.signs)):
        bounds = state.bounds[side]
        for arm in left:
            lower, upper = state.lower[side, arm], state.upper[side, arm]
            if lower > bounds[THRESHOLD_UPPER] or upper < bounds[THRESHOLD_LOWER]:
                continue
            widths = (upper - lower) + (bounds[THRESHOLD_UPPER] - bounds[THRESHOLD_LOWER])
            gap = max(abs(state.estimate[side, arm] - bounds[THRESHOLD]), 1e-12 * widths)
            if (widths / 2 / gap) ** 2 > factor:
                worst, factor = int(arm), (widths / 2 / gap) ** 2
    if factor < HOPELESS:
        return None
    return (
        f"arm {arms[worst]!r} lies on the threshold as far as can be seen: to decide it would "
        f"take over {HOPELESS:g} times the pulls so far, for ever if it is exactly on it; "
        "give a tolerance, or a budget"
    )
