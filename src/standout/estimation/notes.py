"""Notes for chances that depend on more than the data."""

from __future__ import annotations

import numpy as np

from standout.core.typing import Floats
from standout.estimation.draws import Draws
from standout.estimation.evidence import Readings

NOISY = 0.5
"""Standard errors beyond this part of the means' standard deviation are noted."""
UNLIKELY = 0.01, 0.25
"""Whether more than half of the arms are equal is noted where its chance is between these,"""
WORST = 0.1
"""... and if the worst draws, with this share of the weight,"""
AT_ODDS = 2.0
"""... have this many times the mean number of wrong arms"""
FEW = 0.6
"""... and this many arms more. There the prior odds of ties decide; a larger chance is part of the
expected number of wrong arms."""


def note_of(readings: Readings, chance: Floats, draws: Draws) -> str | None:
    """What the chances depend on besides the data; None if nothing."""
    seen = np.isfinite(readings.error)
    if not seen.any():
        return "nothing is measured yet: these chances are those of any arm among as many"
    without = int(np.count_nonzero(~seen))
    if without > len(seen) / 2:
        return (
            f"{without:,} of {len(seen):,} arms have no reward; "
            "their chances come from the other arms"
        )
    tied = float(draws.mean(draws.is_tied.astype(np.float64)))
    wrong = np.where(chance > 0.5, 1.0 - draws.tails, draws.tails).sum(axis=1)
    bar = AT_ODDS * float(draws.mean(wrong)) + FEW
    if UNLIKELY[0] < tied < UNLIKELY[1] and draws.mean_of_worst(wrong, WORST) > bar:
        fewest, most = draws.quantiles(draws.tails.sum(axis=1), [0.1, 0.9])
        return (
            "the rewards do not rule out that more than half of the arms are equal, and whether "
            f"about {fewest:.0f} or {most:.0f} arms stand out depends on it; more pulls per arm "
            "decide it"
        )
    noise = float(np.sqrt(np.median(readings.error[seen] ** 2)))
    if noise > NOISY * draws.quantiles(draws.scales, [0.5])[0]:
        return (
            "the estimates are too noisy to show how the means are spread, so these chances depend "
            "on typical data; more pulls per arm help"
        )
    return None
