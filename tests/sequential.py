"""Wald's sequential test of how often something fails: as many runs as the answer takes.

What promises to fail with a chance of at most `fair` is played until the count of failures speaks
clearly for that, or for a chance of `foul` or more. The likelihood ratio of `foul` to `fair` has
an expectation of at most 1 while the chance is at most `fair`, so that it ever reaches
1/FALSE_ALARM with a probability of at most FALSE_ALARM; likewise the other way round with MISS,
however often one looks. So something that hardly ever fails is told from what fails too often in
an eighth of the runs that a fixed number takes for less power (`tests/test_sequential.py` works
out both, exactly).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FALSE_ALARM = 1e-6
"""Probability at most that what fails with a chance of `fair` is called foul."""
MISS = 1e-3
"""Probability at most that what fails with a chance of `foul` is called fair."""


@dataclass
class Chance:
    """How often something failed, and what follows for its chance."""

    fair: float
    foul: float
    runs: int = 0
    failed: int = 0

    def add(self, failed: bool) -> None:
        """Count a run."""
        self.runs += 1
        self.failed += failed

    @property
    def evidence(self) -> float:
        """Logarithm of the likelihood ratio of `foul` to `fair`."""
        held = math.log((1 - self.foul) / (1 - self.fair))
        return self.failed * math.log(self.foul / self.fair) + (self.runs - self.failed) * held

    @property
    def is_fair(self) -> bool:
        """Whether it does not fail with a chance of `foul` or more: all that a test asks."""
        return self.evidence <= math.log(MISS)

    @property
    def is_foul(self) -> bool:
        """Whether it fails with more than a chance of `fair`."""
        return self.evidence >= -math.log(FALSE_ALARM)


def are_settled(*chances: Chance) -> bool:
    """Whether no more runs are needed: one is foul, or all are fair."""
    return any(one.is_foul for one in chances) or all(one.is_fair for one in chances)
