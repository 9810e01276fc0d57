"""Watching a run from outside: did every interval hold, and was what it certified right?

Where there is a joint bet, the true means must be in its region, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from standout.core.crossing.cells import SHARE
from standout.core.crossing.stages import log_stage_part
from standout.core.crossing.tables import bring_up_to_date
from standout.core.joint.costs import cost_at, find_least, use_scale
from standout.core.joint.pricing import CROSSING
from standout.core.joint.region import joint_limit
from standout.core.method import Method
from standout.core.problem import Problem, Side
from standout.core.state import NEVER, ROUNDS, SCALE, THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State
from tests.attack.truth import is_right, slack_needed, theta
from tests.naive import crossing

FUZZ = 1e-9


def is_in_joint_region(spec: Spec, state: State, means: Sequence[float]) -> bool:
    """Whether the bet on the means keeps these; the first of its scales if none is in use."""
    in_use = state.alternatives[0, SCALE]
    if in_use >= CROSSING:
        use_scale(state, 0)
    find_least(spec, state, 0)
    sign = float(state.signs[0])
    cost = sum(cost_at(spec, state, 0, arm, sign * mean) for arm, mean in enumerate(means))
    limit = joint_limit(spec, state)
    state.alternatives[0, SCALE] = in_use
    return bool(cost < limit)


def is_in_crossing_region(spec: Spec, state: State, means: Sequence[float]) -> bool:
    """Whether no stage of the crossing bet that is running rejects these means."""
    for stage in range(int(state.crossing.ended[0]), int(state.crossing.begun[0])):
        bring_up_to_date(spec, state, stage)
        limit = math.log(1 / spec.joint_delta) - math.log(1 - spec.means_part)
        limit -= log_stage_part(state, stage)
        for side, sign in enumerate(state.signs):
            oriented = sign * np.array(means)
            if crossing.joint(state, stage, side, oriented, spec.tolerance, SHARE) >= limit:
                return False
    return True


@dataclass
class Count:
    """Runs, those whose premise held to the end, and verdicts that were compared."""

    runs: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def share_held(self) -> float:
        return sum(self.held.values()) / sum(self.runs.values())


class Watch:
    """Compares a state with the truth after every step, as long as the premise holds."""

    def __init__(
        self, problem: Problem, method: Method, spec: Spec, state: State, means: Sequence[float]
    ) -> None:
        self.means = list(means)
        self.spec = spec
        self.tolerance = problem.tolerance
        self.signs = [float(sign) for sign in state.signs]
        self.is_checked = method.is_robust
        stages = sorted(set(state.stage.tolist()) - {NEVER})
        samples = [np.flatnonzero(state.stage <= stage).tolist() for stage in stages]
        arms = range(len(self.means)) if spec.slack > 0 else samples[-1]
        self.thetas = []
        self.held = True
        for sign, side in zip(self.signs, problem.sides(), strict=True):
            oriented = [sign * mean for mean in self.means]
            factor = problem.factor_of(side if len(self.signs) > 1 else Side(problem.side))
            self.thetas.append(theta([oriented[i] for i in arms], factor))
            if spec.slack > 0 and slack_needed(oriented, factor, samples) > spec.slack:
                self.held = False

    def look(self, state: State, verdicts: np.ndarray | None = None) -> list[str]:
        """What is wrong now; `verdicts` are the state's unless given."""
        for side, sign in enumerate(self.signs):
            oriented = sign * np.array(self.means)
            slip = FUZZ * (1 + np.abs(oriented))
            low, high = state.lower[side] - slip, state.upper[side] + slip
            if not ((low <= oriented) & (oriented <= high)).all():
                self.held = False
        if self.spec.share > 0 and state.counters[ROUNDS] > 0:
            self.held = self.held and is_in_joint_region(self.spec, state, self.means)
            if self.spec.crosses:
                self.held = self.held and is_in_crossing_region(self.spec, state, self.means)
        if not (self.held and self.is_checked):
            return []
        verdicts = state.verdict if verdicts is None else verdicts
        return self._thresholds(state) + [
            f"arm {i} with mean {self.means[i]!r} is called {'normal' if v == 1 else 'an outlier'}"
            f"; theta is {self.thetas}, its interval {self._interval(state)}"
            for i, v in enumerate(verdicts.tolist())
            if v and not is_right(v, self.means[i], self.thetas, self.signs, self.tolerance, FUZZ)
        ]

    def _interval(self, state: State) -> list[list[float]]:
        return state.bounds[:, [THRESHOLD_LOWER, THRESHOLD_UPPER]].tolist()  # type: ignore[no-any-return]

    def _thresholds(self, state: State) -> list[str]:
        return [
            f"theta {at} is not in [{low}, {high}]"
            for at, (low, high) in zip(self.thetas, self._interval(state), strict=True)
            if not low - FUZZ <= at <= high + FUZZ
        ]
