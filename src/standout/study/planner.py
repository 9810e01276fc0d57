"""What to hand out next, with pulls pending.

With nothing pending a round is begun as in the simulator, so that one worker
who asks and tells one by one takes the same decisions. While rewards are
pending and more is asked, the next round is planned on a copy of the state in
which each pending pull has brought its arm's current mean: intervals shrink as
if it were in, and other arms come up.
"""

from __future__ import annotations

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.state import CURSOR, ROUNDS, UNDECIDED, State, means_of
from standout.core.typing import Ints
from standout.study.progress import Progress, Spare
from standout.study.rounds import LiveRound, new_round

CARRIED_FIELDS = ("quota",)
"""Where a rule stands in its schedule: planning ahead moves it on for good."""
EARLY = 5
"""Times the initial pulls of each arm that are handed out while the first round waits."""
STEPS = 64
"""A large batch is planned in about so many steps, each of a round's arms many times over."""


def take_pulls(progress: Progress, count: int) -> list[tuple[LiveRound, int]]:
    """Up to `count` pulls to hand out, fewer when the budget or the study ends."""
    pulls: list[tuple[LiveRound, int]] = []
    ahead: _Ahead | None = None
    while len(pulls) < count and not progress.is_stopped and progress.room > 0:
        found = _take_planned(progress, min(count - len(pulls), progress.room))
        pulls += found
        if not found:
            if progress.rounds and ahead is None:
                ahead = _Ahead(progress)
            if not _plan(progress, ahead, count - len(pulls)):
                break
    return pulls


def _take_planned(progress: Progress, count: int) -> list[tuple[LiveRound, int]]:
    """What the rounds under way have to hand out; pulls that were given back come last."""
    pulls: list[tuple[LiveRound, int]] = []
    for live in progress.rounds:
        if len(pulls) == count:
            break
        taken = live.take_planned(progress.pending, count - len(pulls))
        pulls += [(live, arm) for arm in taken]
    for live in progress.rounds:
        while len(pulls) < count and (arm := live.take_returned()) is not None:
            progress.pending[arm] += 1
            pulls.append((live, arm))
    progress.changes.arms.update(arm for _, arm in pulls)
    return pulls


def _plan(progress: Progress, ahead: _Ahead | None, wanted: int) -> bool:
    """Begin another round; False when there is nothing sensible to measure.

    What is planned ahead for one batch is one round: its rewards come together.
    """
    if ahead is None:
        arms, amounts = _begin(progress, progress.state)
        progress.changes.is_wide = True
    else:
        arms, amounts = ahead.begin(progress)
    arms, amounts = _without_paused(progress, arms, amounts)
    if not len(arms) and not progress.held.any():
        # Where rewards wait for a straggler, more of them would only wait, too.
        arms = _least_measured(progress)
        amounts = np.ones(len(arms), dtype=np.int64)
    if not len(arms):
        return False
    progress.changes.is_planned = True
    if ahead is not None:
        amounts = amounts * max(1, wanted // (STEPS * int(amounts.sum())))
        if ahead.round is not None:
            ahead.round.extend(arms, amounts)
            return True
    progress.totals.last_round += 1
    live = new_round(progress.totals.last_round, arms, amounts)
    progress.rounds.append(live)
    progress.changes.planned.append(live)
    if ahead is not None:
        ahead.round = live
    return True


def _begin(progress: Progress, state: State) -> tuple[Ints, Ints]:
    count = engine.begin_round(progress.spec, state, progress.room, progress.rng)
    return state.chosen[:count].copy(), state.amount[:count].copy()


def _without_paused(progress: Progress, arms: Ints, amounts: Ints) -> tuple[Ints, Ints]:
    if not progress.paused:
        return arms, amounts
    keep = ~np.isin(arms, list(progress.paused))
    return arms[keep], amounts[keep]


def _least_measured(progress: Progress) -> Ints:
    """The undecided arms that can be measured, those with the fewest pulls first."""
    wanted = progress.state.verdict == 0
    wanted[list(progress.paused)] = False
    arms = np.flatnonzero(wanted)
    pulls = progress.state.pulls[arms] + progress.owed[arms]
    return arms[np.argsort(pulls, kind="stable")]


class _Ahead:
    """The state as if all that is pending were in."""

    def __init__(self, progress: Progress) -> None:
        if progress.spare is None or progress.spare.of is not progress.state:
            progress.spare = Spare(progress.state)
        else:
            progress.spare.renew()
        self.state = progress.spare.state
        self.seen = np.zeros_like(progress.pending)
        self.round: LiveRound | None = None

    def begin(self, progress: Progress) -> tuple[Ints, Ints]:
        """Plan a round on the copy; the rule's place in its schedule is carried back."""
        none: Ints = np.zeros(0, dtype=np.int64)
        if progress.state.counters[ROUNDS] == 0:
            # Nothing is known yet: go round all arms once more.
            wanted = np.ones(len(progress.arms), dtype=np.bool_)
            wanted[list(progress.paused)] = False
            if progress.held.any():
                # The first verdicts wait for a straggler: no use in measuring without end.
                enough = EARLY * progress.spec.initial
                wanted &= progress.state.pulls + progress.owed < enough
            arms = np.flatnonzero(wanted)
            order = np.argsort((progress.state.pulls + progress.owed)[arms], kind="stable")
            return arms[order], np.ones(len(arms), dtype=np.int64)
        self._catch_up(progress)
        if self.state.counters[UNDECIDED] == 0:
            return none, none
        arms, amounts = _begin(progress, self.state)
        progress.state.counters[CURSOR] = self.state.counters[CURSOR]
        for name in CARRIED_FIELDS:
            kept, ahead = getattr(progress.state, name), getattr(self.state, name)
            moved = np.flatnonzero(kept != ahead)
            kept[moved] = ahead[moved]
            progress.changes.arms.update(moved.tolist())
        return arms, amounts

    def _catch_up(self, progress: Progress) -> None:
        state = self.state
        means = means_of(state)
        known = state.pulls > 0
        means[~known] = np.mean(means[known]) if known.any() else 0.0
        owed = progress.owed
        fresh = np.flatnonzero(owed > self.seen)
        arms = np.repeat(fresh, (owed - self.seen)[fresh])
        observe_many(progress.spec, state, arms, means[arms])
        self.seen = owed
        engine.end_round(progress.spec, state)
