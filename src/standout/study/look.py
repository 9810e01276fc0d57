"""A look at the chances that may end a study: made while nobody has to wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from standout.core.problem import Problem
from standout.core.state import Spec, State
from standout.estimation.until import Until

if TYPE_CHECKING:
    from standout.estimation.evidence import Evidence


@dataclass(frozen=True, eq=False)
class Look:
    """What the chances are asked to promise, and what they are worked out from."""

    until: Until
    problem: Problem
    arms: tuple[str, ...]
    evidence: Evidence

    @classmethod
    def at(
        cls, until: Until, problem: Problem, arms: tuple[str, ...], state: State, spec: Spec
    ) -> Look:
        """As the arms stand now."""
        # Imported here: most commands on a study come without a look.
        from standout.estimation.evidence import evidence_of

        return cls(until, problem, arms, evidence_of(spec, state))

    @cached_property
    def excess(self) -> float:
        """How far the chances are from the promise, which holds up to 1; takes a while."""
        from standout.estimation.estimate import estimate

        share = self.until.flag_share
        return self.until.excess(
            estimate(self.problem, self.evidence, self.arms, false_share=share)
        )

    def is_like(self, other: Look | None) -> bool:
        """Whether another look sees the very same."""
        if other is None or (self.until, self.problem) != (other.until, other.problem):
            return False
        pairs = zip(vars(self.evidence).values(), vars(other.evidence).values(), strict=True)
        return all(np.array_equal(one, two, equal_nan=one.dtype.kind == "f") for one, two in pairs)


class LookDueError(Exception):
    """Raised in a transaction for a look that is to be made before it: look, and begin anew.

    It is no `StandoutError`, so that nothing of the transaction stays, whoever else is in it.
    """

    def __init__(self, look: Look) -> None:
        super().__init__("a look at the chances is due")
        self.look = look
