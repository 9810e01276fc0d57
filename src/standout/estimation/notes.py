"""Notes for chances that depend on more than the data."""

from __future__ import annotations

import numpy as np

from standout.core.typing import Floats
from standout.estimation.draws import Draws
from standout.estimation.evidence import Readings

NOISY = 0.5
"""Standard errors beyond this part of the means' standard deviation are noted."""
AT_ODDS = 2.0
"""A note is made if a tenth of the draws has this many times the mean number of wrong arms"""
FEW = 0.6
"""... and this many arms more."""


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
    wrong = np.where(chance > 0.5, 1.0 - draws.tails, draws.tails).sum(axis=1)
    numbers = draws.tails.sum(axis=1)
    if float(np.quantile(wrong, 0.9)) > AT_ODDS * float(wrong.mean()) + FEW:
        fewest, most = np.quantile(numbers, [0.1, 0.9]).tolist()
        return (
            f"the rewards do not show yet whether about {fewest:.0f} or {most:.0f} arms stand out, "
            "and these chances average over both; more pulls per arm decide it"
        )
    noise = float(np.sqrt(np.median(readings.error[seen] ** 2)))
    if noise > NOISY * float(np.median(draws.scales)):
        return (
            "the estimates are too noisy to show how the means are spread, so these chances depend "
            "on typical data; more pulls per arm help"
        )
    return None
