"""When the stages of the crossing bet begin, and the share of delta of each."""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.crossing.record import STAGES
from standout.core.crossing.tables import close_batches
from standout.core.state import PULLS, Spec, State

PARTS = (0.7, 0.2, 0.1)
"""Each stage's share of the crossing bet's delta."""
_RATIO = 3.0
"""The factor of pulls from the beginning of a stage to the next."""
LEAST_PULLS = 12.0
"""The smallest pulls per arm at the beginning of the first stage,"""
LEAST_EVIDENCE = 2.0
"""and the smallest likelihood ratio against the cheapest alternative, in nats."""


@part()
def is_due(spec: Spec, state: State, evidence: float) -> bool:
    """Whether the next stage begins now; `evidence` counts for the first one only."""
    bet = state.crossing
    if bet.begun[0] == STAGES:
        return False
    if bet.begun[0] == 0:
        enough = evidence >= LEAST_EVIDENCE
        return bool(enough and state.counters[PULLS] >= LEAST_PULLS * spec.n_arms)
    return bool(state.counters[PULLS] >= bet.due[0])


@part("interval")
def begin_stage(spec: Spec, state: State) -> None:
    """Begin the next stage with the batches that begin now."""
    bet = state.crossing
    close_batches(spec, state, True)
    stage = bet.begun[0]
    for a in range(spec.n_arms):
        bet.first[stage, a] = max(0, bet.batches[a] - 1)
        bet.included[stage, a] = 0
        bet.step[stage, a] = 0.0
    bet.begun[0] = stage + 1
    bet.due[0] = _RATIO * max(state.counters[PULLS], LEAST_PULLS * spec.n_arms)


@part()
def log_stage_part(state: State, stage: int) -> float:
    """Logarithm of a stage's part on each side: the two sides of a question have bets apart."""
    return math.log(PARTS[stage] / len(state.signs))


@part()
def is_running(state: State, stage: int) -> bool:
    """Whether a stage has begun and is not over."""
    return bool(state.crossing.ended[0] <= stage < state.crossing.begun[0])
