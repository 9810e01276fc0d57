"""A look at the chances that may end a study: made while nobody has to wait for it."""

from __future__ import annotations

from dataclasses import dataclass

from standout.core.problem import Problem
from standout.core.state import Spec, State
from standout.estimation.evidence import Evidence, evidence_of
from standout.estimation.until import Until

PATIENCE = 60.0
"""Seconds after which a look that was due, and that nobody has made, is due again."""


@dataclass(frozen=True, eq=False)
class DueLook:
    """What the chances are asked to promise, and what was known after event `number`, at `time`."""

    number: int
    time: float
    until: Until
    problem: Problem
    arms: tuple[str, ...]
    evidence: Evidence

    def excess(self) -> float:
        """How far the chances are from the promise, which holds up to 1; takes a while."""
        from standout.estimation.estimate import estimate

        share = self.until.flag_share
        found = estimate(self.problem, self.evidence, self.arms, false_share=share)
        return self.until.excess(found)


def look_at(
    number: int,
    time: float,
    until: Until,
    problem: Problem,
    arms: tuple[str, ...],
    state: State,
    spec: Spec,
) -> DueLook:
    """A look at the arms as they stand now."""
    return DueLook(number, time, until, problem, arms, evidence_of(spec, state))
