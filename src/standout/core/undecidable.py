"""An early warning that a run without a tolerance may never end, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from standout.core.compile import part
from standout.core.endings import least_tolerance
from standout.core.intervals import reward_variance
from standout.core.kinds import Verdict
from standout.core.state import SIZE, THRESHOLD, THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State
from standout.core.typing import Flags, Ints

ENOUGH_PULLS = 200
"""The fewest pulls of an undecided arm before a warning; earlier, every run looks like this."""
VERY_MANY = 100
"""With this many times `ENOUGH_PULLS` on average, undecided arms with fewer pulls do not matter."""
HOPELESS = 100.0
"""A warning is due if the rest would take this many times the pulls so far."""
NEAR = 2.0
"""Standard errors from the median within which an arm may have the median's mean."""


def doubt(spec: Spec, state: State, arms: Sequence[str]) -> str | None:
    """Why the undecided arms may be impossible to decide, or None.

    An arm without a finite interval is reported as soon as it has enough pulls itself. The other
    reasons need enough pulls of all undecided arms, or very many in total.
    """
    left = np.flatnonzero((state.verdict == Verdict.UNDECIDED) & (state.costs < np.inf))
    silent = left[_is_silent(state, left)]
    if len(silent) > 0:
        return (
            f"arm {arms[int(silent[0])]!r} has given the same reward every time: without "
            "visible noise its scale is unknown, so it can never be decided; "
            "use gaussian:SIGMA or bounded:A,B noise"
        )
    if spec.tolerance > 0 or len(left) == 0:
        return None
    pulls = state.pulls[left]
    if pulls.min() < ENOUGH_PULLS and pulls.sum() < VERY_MANY * ENOUGH_PULLS * len(left):
        return None
    left = left[pulls >= ENOUGH_PULLS]
    if not np.isfinite(state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER, THRESHOLD]]).all():
        return None
    return _no_spread(spec, state, left) or _on_threshold(state, arms, left)


def _is_silent(state: State, left: Ints) -> Flags:
    """Which arms have no finite interval, after more rewards than other arms need for one."""
    is_open: Flags = ~np.isfinite(state.upper[0, left] - state.lower[0, left])
    return is_open & (state.pulls[left] >= ENOUGH_PULLS)


def _no_spread(spec: Spec, state: State, left: Ints) -> str | None:
    """The warning if more than half of the arms differ by at most their sampling noise."""
    if 2 * len(left) < spec.n_arms:
        return None
    omega = state.omega[: state.sampled[SIZE]]
    values = state.estimate[0, omega[state.pulls[omega] > 0]]
    median = float(np.median(values))
    if 2 * _count_near(spec, state, median) < len(values):
        return None
    mad = float(np.median(np.abs(values - median)))
    return (
        f"more than half of the arms look the same (their spread is below {mad:.2g}): if they "
        "are, the MAD is 0, the threshold lies on them and they can never be decided; "
        + _way_out(state)
    )


@part("interval")
def _count_near(spec: Spec, state: State, median: float) -> int:
    """The number of the threshold's arms whose estimates equal the median up to noise."""
    count = 0
    for j in range(state.sampled[SIZE]):
        i = state.omega[j]
        if state.pulls[i] > 0:
            off = state.estimate[0, i] - median
            noise = reward_variance(spec, state, i) / state.pulls[i]
            count += off * off <= NEAR * NEAR * noise
    return count


def _on_threshold(state: State, arms: Sequence[str], left: Ints) -> str | None:
    """The warning if an arm is so near the threshold that the rest would take very long."""
    worst, factor = -1, 0.0
    for side in range(len(state.signs)):
        bounds = state.bounds[side]
        lower, upper = state.lower[side, left], state.upper[side, left]
        widths = (upper - lower) + (bounds[THRESHOLD_UPPER] - bounds[THRESHOLD_LOWER])
        gaps = np.abs(state.estimate[side, left] - bounds[THRESHOLD])
        times = (widths / 2 / np.maximum(gaps, 1e-12 * widths)) ** 2
        times[(lower > bounds[THRESHOLD_UPPER]) | (upper <= bounds[THRESHOLD_LOWER])] = 0.0
        if times.max() > factor:
            worst, factor = int(left[times.argmax()]), float(times.max())
    if factor < HOPELESS:
        return None
    return (
        f"arm {arms[worst]!r} lies on the threshold as far as can be seen: to decide it would "
        f"take over {HOPELESS:g} times the pulls so far, for ever if it is exactly on it; "
        + _way_out(state)
    )


def _way_out(state: State) -> str:
    least = least_tolerance(state)
    if not 0 < least < np.inf:
        return "give a tolerance, or a budget"
    return f"a tolerance of {least:g} would decide all arms now; give one, or a budget"
