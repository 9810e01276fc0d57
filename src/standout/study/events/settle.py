"""What follows from counted rewards: verdicts where a round has ended, and the study's end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from standout.core import engine
from standout.core.identification import side_interval
from standout.core.kinds import Verdict
from standout.core.state import UNDECIDED
from standout.core.typing import Codes, Flags
from standout.estimation.until import is_look_due
from standout.results import StopReason
from standout.study.events.looks import PATIENCE, look_at
from standout.study.events.ordering import Order, is_behind
from standout.study.events.state import StudyState, TraceRow

GROWTH = 1.02
"""The pulls of a row of the trace over those of the row before, at least."""


class At(NamedTuple):
    """The event under way: its number, its time, and who made it."""

    number: int
    time: float
    worker: str


@dataclass
class Outcome:
    """What comes of an event.

    `logged` are the places of its rewards that belong in the totals, `counted` those that
    it counts, in order; `is_due`: verdicts are to be brought up to date; `is_by_hand`: it is
    a moment to look at the chances; `is_promised`: a look has found them good enough.
    """

    logged: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    repeated: int = 0
    surplus: int = 0
    is_due: bool = False
    is_by_hand: bool = False
    is_promised: bool = False
    decided: list[list[int]] | None = None
    has_ended: bool = False
    reason: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    """Arms that came up and were to be avoided; they are part of what was asked."""

    def to_body(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without what is as usual."""
        counted = write_places(self.counted) if self.counted != self.logged else None
        found = {
            "again": self.repeated, "surplus": self.surplus, "counted": counted,
            "decided": self.decided, "end": self.reason,
        }  # fmt: skip
        made = {name: value for name, value in found.items() if value not in (None, 0)}
        return {**made, **self.more}


def write_places(places: Iterable[int]) -> str:
    """Places of the ledger as ranges.

    >>> write_places([3, 7, 8, 9, 8])
    '3,7-9,8'
    """
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


def count(state: StudyState, outcome: Outcome, ready: Sequence[Order]) -> None:
    """Count these rewards; verdicts are brought up to date at once if one of no round is there."""
    if ready:
        places = [place for _, place in ready]
        state.observe(places)
        outcome.counted += places
        outcome.is_due |= any(is_behind(order) for order, _ in ready)


def end_pull(state: StudyState, outcome: Outcome, arm: int, slot: int, number: int) -> None:
    """A pull of round `number` will bring no reward: what waited behind it is counted now."""
    outcome.is_due |= state.pull_ends(arm, slot, number)
    if state.is_ordered:
        count(state, outcome, state.release([arm]))


def settle(state: StudyState, at: At, outcome: Outcome) -> None:
    """After an event: bring verdicts up to date, end the study if it is decided.

    Or if the chances promise what was asked of them, the budget is used up, or somebody
    has stopped it.
    """
    if state.is_stopped:
        return
    spent = state.is_spent
    if spent or state.is_ready():
        if outcome.is_due or spent or outcome.is_promised:
            end_round(state, outcome)
    elif outcome.is_due and state.has_all_begun():
        # A table of past rewards may have fewer of an arm than a first round brings.
        end_round(state, outcome, engine.refresh)
    reason = _reason_to_stop(state, outcome)
    if reason is not None:
        stop(state, reason, at.time)
        outcome.reason = str(reason)
    else:
        note_look(state, at, outcome)
    if outcome.has_ended:
        _add_to_trace(state, at.time)


def end_round(
    state: StudyState, outcome: Outcome, update: Callable[..., None] = engine.end_round
) -> None:
    """Bring intervals, threshold and verdicts up to date; what is certain stays so."""
    update(state.spec, state.state)
    fresh = (state.certified == 0) & (state.state.verdict != 0)
    outcome.decided = split_verdicts(fresh, state.state.verdict)
    if outcome.decided is not None:
        state.certified[fresh] = state.state.verdict[fresh]
    state.touch_all()
    outcome.has_ended = True


def split_verdicts(fresh: Flags, verdict: Codes) -> list[list[int]] | None:
    """The arms that became certain: the normal ones and the outliers; None if there are none."""
    if not fresh.any():
        return None
    return [
        np.flatnonzero(fresh & (verdict == int(kind))).tolist()
        for kind in (Verdict.NORMAL, Verdict.OUTLIER)
    ]


def _reason_to_stop(state: StudyState, outcome: Outcome) -> StopReason | None:
    if state.state.counters[UNDECIDED] == 0:
        return StopReason.DECIDED
    if outcome.is_promised:
        return StopReason.ESTIMATE
    if state.is_spent:
        return StopReason.BUDGET
    return StopReason.STOPPED if state.settings.stopped else None


def stop(state: StudyState, reason: StopReason, time: float) -> None:
    """End the study; pulls that are pending may still come in."""
    state.reason, state.stopped_at, state.look = reason, time, None
    for live in list(state.rounds.values()):
        live.give_up()
        state.close_if_over(live)


def note_look(state: StudyState, at: At, outcome: Outcome) -> None:
    """Remember what is known if it is time to look at the chances, unless a look is under way.

    The rewards counted just now, or a change by hand, make a look due.
    """
    if state.until is None or not (outcome.counted or outcome.is_by_hand) or not state.is_ready():
        return
    pulls = state.pulls_observed
    before = pulls - len(outcome.counted)
    is_under_way = state.look is not None and at.time < state.look.time + PATIENCE
    if outcome.is_by_hand or (not is_under_way and is_look_due(before, pulls, len(state.arms))):
        state.look = look_at(
            at.number, at.time, state.until, state.problem, state.arms, state.state, state.spec
        )


def _add_to_trace(state: StudyState, time: float) -> None:
    """Note how the threshold and the arms stand, if the pulls have grown enough."""
    last = state.trace[-1][0] if state.trace else 0
    pulls = state.totals.pulls
    if pulls > last and (state.is_stopped or pulls >= GROWTH * last):
        state.trace.append(moment_of(state, time))


def moment_of(state: StudyState, time: float) -> TraceRow:
    """How the threshold and the arms stand, as a row of the trace."""
    high = side_interval(state.state, 0)
    low = side_interval(state.state, 1) if len(state.state.signs) > 1 else None
    ends = (None, None) if low is None else (low.lower, low.upper)
    undecided = int(np.count_nonzero(state.certified == 0))
    return state.totals.pulls, time, high.lower, high.upper, *ends, undecided
