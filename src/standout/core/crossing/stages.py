"""When the stages of the crossing bet begin, and the share of delta of each."""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.crossing.record import STAGES
from standout.core.crossing.tables import close_batches
from standout.core.state import PULLS, UNDECIDED, Spec, State

PARTS = (0.75, 0.2, 0.05)
"""Each stage's share of the crossing bet's delta."""
_RATIO = 3.0
"""Growth of pulls from the beginning of a stage to the beginning of the next."""
LEAST_PULLS = 12.0
"""Pulls per arm from which the first stage may begin."""
HALF = 0.5
"""The first stage begins when this share of the arms is decided. A stage that begins too early bets
on poor estimates; one that begins too late wastes the pulls before it."""
LEAST_EVIDENCE = 1.0
"""It also begins when the bet in use has this many nats against the cheapest alternative."""


@part()
def is_due(spec: Spec, state: State, evidence: float) -> bool:
    """Whether the next stage begins now; only the first stage depends on `evidence`."""
    bet = state.crossing
    if bet.begun[0] == STAGES:
        return False
    if bet.begun[0] == 0:
        decided = spec.n_arms - state.counters[UNDECIDED]
        enough = decided >= HALF * spec.n_arms or evidence >= LEAST_EVIDENCE
        return bool(enough and state.counters[PULLS] >= LEAST_PULLS * spec.n_arms)
    return bool(state.counters[PULLS] >= bet.due[0])


@part("interval")
def begin_stage(spec: Spec, state: State) -> None:
    """Begin the next stage, and a new batch for each arm."""
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
    """Logarithm of a stage's share on each side; the sides of a question have separate bets."""
    return math.log(PARTS[stage] / len(state.signs))


@part()
def is_running(state: State, stage: int) -> bool:
    """Whether a stage has begun and is not over."""
    return bool(state.crossing.ended[0] <= stage < state.crossing.begun[0])
