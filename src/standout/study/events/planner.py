"""What to hand out next while pulls are pending.

Without pending pulls, a round begins as in the simulator. So a single worker who asks and tells one
by one gets the same decisions. If a worker asks while rewards are pending, the next round is
planned on a copy of the state, in which each pending pull has returned its arm's current mean. So
intervals shrink as if the pulls were measured, and the rule chooses other arms. In the first round,
when nothing is known, the arms with the fewest pulls come first.

Every plan is part of the event that asked for it, and a replay adopts it. Only a round that begins
with no pending pulls is planned again, because a rule may remember its choices. Random choices
depend on the seed and the number of the round alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.state import CURSOR, ROUNDS, UNDECIDED, State, means_of
from standout.core.typing import Flags, Ints
from standout.study.events.pulls import LiveRound
from standout.study.events.state import StudyState
from standout.study.events.tables import NO_ARMS, Avoided

WAITING = 64
"""The number of an arm's waiting rewards above which it is not handed out."""
CARRIED_FIELDS = ("quota",)
"""The fields of a rule's schedule, which planning ahead advances permanently."""
STEPS = 64
"""The approximate number of steps in which a large batch is planned."""
MOST_AVOIDED = 50
"""With this many planned pulls that the caller must avoid, no more are planned."""
Plan = tuple[Ints, Ints]
"""Arms, and the number of pulls of each."""
Planner = Callable[[int], Plan | None]
"""Returns the next plan for a number of pulls; None if there is nothing to measure."""
Pull = tuple[int, int]
"""An arm and its round."""


def take_pulls(
    state: StudyState, count: int, plan: Planner, avoid: Avoided = NO_ARMS
) -> list[Pull]:
    """At most `count` pulls to hand out; fewer if the budget ends or there is nothing to do.

    Arms to avoid stay planned for other workers; with many of these, no more pulls are planned.
    """
    pulls: list[Pull] = []
    ahead: LiveRound | None = None
    room = state.room
    while len(pulls) < min(count, room):
        found = _take_planned(state, min(count, room) - len(pulls), avoid)
        pulls += found
        if found:
            continue
        if avoid.arms and sum(live.waiting for live in state.rounds.values()) >= MOST_AVOIDED:
            break
        is_ahead = bool(state.rounds)
        planned = plan(count - len(pulls))
        if planned is None:
            break
        if ahead is None:
            live = _begin_round(state)
            ahead = live if is_ahead else None
        else:
            live = ahead  # All pulls planned ahead for one batch form one round.
        live.extend(*planned)
    return pulls


def _begin_round(state: StudyState) -> LiveRound:
    state.totals.rounds += 1
    live = state.rounds[state.totals.rounds] = LiveRound(state.totals.rounds)
    return live


def _take_planned(state: StudyState, count: int, avoid: Avoided) -> list[Pull]:
    """Pulls of the current rounds to hand out; those that were given back come last."""
    pulls: list[Pull] = []
    for take in (LiveRound.take_planned, LiveRound.take_returned):
        for live in state.rounds.values():
            if not (live.queue or live.returned):
                continue
            for arm in take(live, state.pending, count - len(pulls), avoid):
                state.pending[arm] += 1
                pulls.append((arm, live.number))
            if len(pulls) == count:
                return pulls
    return pulls


def begin(state: StudyState, core: State, rng: np.random.Generator) -> Plan:
    """The method's choice from the core's state `core`; the method may remember it."""
    count = engine.begin_round(state.spec, core, state.room, rng)
    return core.chosen[:count].copy(), core.amount[:count].copy()


def _begin_now(state: StudyState) -> Plan:
    """A round without pending pulls, as in the simulator."""
    return begin(state, state.state, state.chance.of_round(state.totals.rounds + 1))


def _useful(state: StudyState, arms: Ints, amounts: Ints) -> Plan:
    """A plan without the arms that are not useful to measure now."""
    keep = _is_useful(state)[arms]
    return arms[keep], amounts[keep]


def _is_useful(state: StudyState) -> Flags:
    """Per arm, whether one more pull may help: not paused, and few rewards wait for slower ones.

    At most as many rewards may wait as are counted, but at least `WAITING`.
    """
    held, pulls = state.held, state.state.pulls
    if not state.paused and not held.any():
        return np.ones(len(held), dtype=np.bool_)
    if state.is_one_line:
        held, pulls = np.full_like(held, held.sum()), np.full_like(pulls, pulls.sum())
    useful: Flags = held < np.maximum(WAITING, pulls)
    useful[list(state.paused)] = False
    return useful


class RecordedPlans:
    """The plans of an event, for a replay."""

    def __init__(self, state: StudyState, content: Mapping[str, Any]) -> None:
        self.state, self.plans = state, iter(content.get("plans", ()))
        self.schedule = content.get("schedule")

    def __call__(self, wanted: int) -> Plan | None:
        """The next plan."""
        state = self.state
        if not state.rounds:
            _begin_now(state)
        found = next(self.plans, None)
        if found is None:
            return None
        arms, amounts = found
        return np.array(arms, dtype=np.int64), np.array(amounts, dtype=np.int64)

    def adopt_schedule(self) -> None:
        """Advance the rule's schedule as planning ahead did."""
        if self.schedule is None:
            return
        cursor, moved = self.schedule
        self.state.state.counters[CURSOR] = cursor
        for name, positions, values in moved:
            getattr(self.state.state, name)[positions] = values


class LivePlans:
    """Makes plans and keeps them for the event."""

    def __init__(self, state: StudyState) -> None:
        self.state = state
        self.plans: list[list[list[int]]] = []
        self.schedule: list[Any] | None = None
        self.ahead: _Ahead | None = None

    def __call__(self, wanted: int) -> Plan | None:
        """Plan another round; None if there is nothing useful to measure."""
        state = self.state
        if state.rounds:
            if self.ahead is None:
                self.ahead = _Ahead(state)
            arms, amounts = self.ahead.plan()
        elif not _can_be_measured(state, state.state.verdict == 0).any() and not self._is_any_use():
            return None
        else:
            arms, amounts = _begin_now(state)
        arms, amounts = _useful(state, arms, amounts)
        if not len(arms):
            arms = least_owed(state, state.state.verdict == 0)
            amounts = np.ones(len(arms), dtype=np.int64)
        if not len(arms):
            return None
        if state.rounds:
            amounts = amounts * max(1, wanted // (STEPS * int(amounts.sum())))
        self.plans.append([arms.tolist(), amounts.tolist()])
        return arms, amounts

    def _is_any_use(self) -> bool:
        """Whether the rule wants an arm that can be measured, although no undecided arm can be.

        The rule is asked on a copy, because its memory may change only with an event.
        """
        rng = self.state.chance.of_round(self.state.totals.rounds + 1)
        plan = begin(self.state, self.state.copy_core(), rng)
        return len(_useful(self.state, *plan)[0]) > 0

    def record(self, content: dict[str, Any]) -> None:
        """Add the plans, and the advanced schedule of the rule, to an event's content."""
        if self.plans:
            content["plans"] = self.plans
        if self.ahead is not None and self.ahead.has_moved:
            content["schedule"] = self.ahead.carry_back()


def _can_be_measured(state: StudyState, wanted: Any) -> Any:
    return wanted & np.isfinite(state.state.costs) & _is_useful(state)


def least_owed(state: StudyState, wanted: Any) -> Ints:
    """The wanted arms that can be measured, those with the fewest pulls first."""
    arms = np.flatnonzero(_can_be_measured(state, wanted))
    pulls = state.state.pulls[arms] + state.owed[arms]
    return arms[np.argsort(pulls, kind="stable")]


class _Ahead:
    """The state in which all pending pulls have returned."""

    def __init__(self, state: StudyState) -> None:
        self.study = state
        self.state = state.copy_core()
        self.seen = np.zeros_like(state.pending)
        self.rng = state.chance.of_round(state.totals.rounds + 1)
        self.has_moved = False

    def plan(self) -> Plan:
        """Plan a round on the copy; None if every arm would be decided."""
        study = self.study
        if study.state.counters[ROUNDS] == 0:
            # Nothing is known yet: pull all arms once more.
            arms = least_owed(study, np.ones(len(study.arms), dtype=np.bool_))
            return arms, np.ones(len(arms), dtype=np.int64)
        self._catch_up()
        if self.state.counters[UNDECIDED] == 0:
            none: Ints = np.zeros(0, dtype=np.int64)
            return none, none
        self.has_moved = True
        return begin(study, self.state, self.rng)

    def carry_back(self) -> list[Any]:
        """Advance the rule's schedule in the study's state; return the changes."""
        kept, ahead = self.study.state, self.state
        moved = []
        for name in CARRIED_FIELDS:
            mine, theirs = getattr(kept, name), getattr(ahead, name)
            places = np.flatnonzero(mine != theirs)
            if len(places):
                mine[places] = theirs[places]
                moved.append([name, places.tolist(), theirs[places].tolist()])
        kept.counters[CURSOR] = ahead.counters[CURSOR]
        return [int(ahead.counters[CURSOR]), moved]

    def _catch_up(self) -> None:
        state, owed = self.state, self.study.owed
        means = means_of(state)
        known = state.pulls > 0
        means[~known] = np.mean(means[known]) if known.any() else 0.0
        fresh = np.flatnonzero(owed > self.seen)
        arms = np.repeat(fresh, (owed - self.seen)[fresh])
        observe_many(self.study.spec, state, arms, means[arms])
        self.seen = owed
        engine.end_round(self.study.spec, state)
