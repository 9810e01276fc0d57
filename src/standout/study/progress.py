"""A study in memory: the core's state with what is pending. No database here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from standout.core import engine
from standout.core.identification import identification, side_interval
from standout.core.kinds import Verdict
from standout.core.many_rewards import observe_many
from standout.core.method import Method
from standout.core.prior import PriorFacts
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import (
    PULLS,
    ROUNDS,
    UNDECIDED,
    State,
    copy_state,
    forget,
    means_of,
)
from standout.core.typing import Codes, Flags, Ints
from standout.core.undecidable import doubt
from standout.estimation.until import Until, is_look_due
from standout.results import Identification, StopReason
from standout.study.log.chain import Kind, Step
from standout.study.look import Look, LookDueError
from standout.study.rounds import LiveRound
from standout.study.settings import Settings
from standout.study.storage.packing import restore_derived


class Spare:
    """A copy of a state that can be played with, and then made like it again.

    To tell kernels where a new state lies takes ten times as long as to copy it.
    """

    def __init__(self, state: State) -> None:
        self.of, self.state = state, copy_state(state)
        names = State.names()
        self._pairs = [(getattr(self.state, name), getattr(state, name)) for name in names]

    def renew(self) -> None:
        """Make it like the state that it is a copy of."""
        for mine, theirs in self._pairs:
            mine[...] = theirs


@dataclass
class Totals:
    """The counters of a study. `seq` goes up with every change."""

    seq: int = 0
    pulls: int = 0
    surplus: int = 0
    log: int = 0
    tickets: int = 0
    failed: int = 0
    last_round: int = 0
    steps: int = 0


class Progress:
    """Everything that the next ask or tell needs to know."""

    def __init__(
        self,
        problem: Problem,
        method: Method,
        arms: Sequence[str],
        settings: Settings,
        ordered: bool,
        rng: np.random.Generator,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        n_arms = len(arms)
        self.problem = problem
        self.method = method
        self.arms = tuple(arms)
        self.index = {name: i for i, name in enumerate(self.arms)}
        self.begun = settings
        """The settings that the study began with."""
        self.use(self.begun, set())
        self.ordered = ordered
        self.rng = rng
        given = PriorFacts(costs=costs or {}).cost_array(self.index)
        self.state: State = start_state(self.problem, self.method, n_arms, rng, given)
        self.spare: Spare | None = None
        """What planning ahead writes over each time."""
        self.certified = np.zeros(n_arms, dtype=np.int8)
        self.pending = np.zeros(n_arms, dtype=np.int64)
        self.held = np.zeros(n_arms, dtype=np.int64)
        self.failures = np.zeros(n_arms, dtype=np.int64)
        self.streak = np.zeros(n_arms, dtype=np.int64)
        self.paused: dict[int, str] = {}
        self.rounds: list[LiveRound] = []
        self.totals = Totals()
        self.reason = StopReason.RUNNING
        self.stopped_at: float | None = None
        self.head = b""
        self.changes = Changes()
        self.looked: Look | None = None
        """The last look at the chances that was put off, and then made."""
        self.puts_off_looks = False
        self._single = (np.zeros(1, dtype=np.int64), np.zeros(1))

    def use(self, settings: Settings, voided: set[int]) -> None:
        """Go by these settings, with these places of the log in no total."""
        self.settings, self.voided = settings, voided
        self.budget = settings.budget
        self.until = None if settings.until is None else Until.parse(settings.until)
        self.pause_after = settings.pause_after
        self.problem = replace(self.problem, tolerance=settings.tolerance)
        self.method = replace(self.method, batch=settings.batch)
        self.spec = self.method.spec(self.problem, len(self.arms))

    def adopt(self, settings: Settings) -> None:
        """Change the settings; `settle` then says what follows.

        Verdicts of a larger tolerance are withdrawn, and those that still hold come again.
        """
        before = self.settings.tolerance
        self.use(settings, self.voided)
        if settings.tolerance != before:
            self._forget_alternatives()
        if settings.tolerance < before:
            self._withdraw()
        elif self.reason is StopReason.DECIDED:
            return
        self.reason, self.stopped_at = StopReason.RUNNING, None

    def revise(self, sequences: Mapping[int, Sequence[float]], voided: Iterable[int]) -> None:
        """Some arms have had these rewards, in this order, and no others; then `settle`.

        Their intervals are worked out anew, as of now only: what was known of them before
        rested on rewards that are void. So did all verdicts, through the threshold.
        """
        self.use(self.settings, self.voided | set(voided))
        state, arms = self.state, list(sequences)
        clean = start_state(
            self.problem, self.method, len(self.arms), np.random.default_rng(0), state.costs
        )
        for name in ("pulls", "sums", "origin", "moments", "is_touched"):
            getattr(state, name)[arms] = 0
        for name in ("lower", "upper", "estimate", "deviation_lower", "deviation_upper"):
            getattr(state, name)[:, arms] = getattr(clean, name)[:, arms]
        # A rule may have put arms aside for what is void.
        state.active[...] = state.stage == 0
        self._forget_alternatives()
        # That of a sample is cut with those before it.
        state.bounds[...] = clean.bounds
        restore_derived(self.spec, state, {"bounds"})
        state.counters[PULLS] = state.pulls.sum()
        for arm, rewards in sequences.items():
            if len(rewards):
                positions = np.full(len(rewards), arm, dtype=np.int64)
                observe_many(self.spec, state, positions, np.array(rewards, dtype=np.float64))
        self._withdraw()
        self.changes.arms.update(arms)
        self.reason, self.stopped_at = StopReason.RUNNING, None

    def _withdraw(self) -> None:
        """Nothing is certain until the intervals say so again."""
        self.certified[:] = 0
        self.state.verdict[:] = 0
        self.state.counters[UNDECIDED] = len(self.arms)
        self.changes.is_wide = True

    def _forget_alternatives(self) -> None:
        """What the joint certificate remembers is of another tolerance, or of other rewards."""
        self.state.joint[...] = 0.0
        forget(self.state.alternatives)

    @property
    def is_stopped(self) -> bool:
        """Whether the study has ended: for good, unless its settings change."""
        return self.reason is not StopReason.RUNNING

    @property
    def is_one_line(self) -> bool:
        """Whether a reward waits for the earlier pulls of all arms, not only of its own."""
        return self.ordered and self.spec.share > 0.0

    @property
    def out(self) -> int:
        """Pulls handed out and owed a reward."""
        return sum(live.out for live in self.rounds)

    @property
    def owed(self) -> Ints:
        """Per arm, the pulls that are not counted yet: pending, or told and waiting."""
        return self.pending + self.held

    @property
    def room(self) -> int:
        """How many more pulls the budget allows, counting those that are pending."""
        if self.budget is None:
            return NO_LIMIT
        return self.budget - self.totals.pulls - self.out

    def observe(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Count rewards in this order."""
        if len(arms) == 1:
            # To make two arrays would take longer than to count.
            positions, values = self._single
            positions[0], values[0] = arms[0], rewards[0]
        else:
            positions, values = np.array(arms, np.int64), np.array(rewards, np.float64)
        observe_many(self.spec, self.state, positions, values)
        self.streak[positions] = 0
        self.changes.arms.update(arms)

    def live_round(self, number: int) -> LiveRound | None:
        """The round under way with this number."""
        for live in self.rounds:
            if live.id == number:
                return live
        return None

    def close_rounds(self) -> bool:
        """Remove the rounds whose rewards are all in; whether there was any."""
        over = [live for live in self.rounds if live.is_over]
        if not over:
            return False
        self.rounds = [live for live in self.rounds if not live.is_over]
        self.changes.closed.extend(live.id for live in over if live.has_row)
        return True

    def settle(self, step: Step) -> None:
        """After rewards: bring verdicts up to date where a round has ended, stop if decided.

        Or stop if the chances promise what was asked of them. What came of it is noted
        in the `step`, whose time it has.
        """
        update = self.close_rounds() or step.is_due
        if self.is_stopped:
            return
        spent = self.budget is not None and self.totals.pulls >= self.budget
        is_look = spent or step.kind in (Kind.SET, Kind.VOID)
        promised = self.excess(len(step.counted), is_look) <= 1.0
        if (update or spent or promised) and self._is_ready(spent):
            engine.end_round(self.spec, self.state)
            fresh = (self.certified == 0) & (self.state.verdict != 0)
            step.decided = split_verdicts(fresh, self.state.verdict)
            if step.decided is not None:
                self.certified[fresh] = self.state.verdict[fresh]
            self.changes.is_wide = step.ended = True
        if self.state.counters[UNDECIDED] == 0:
            self.stop(StopReason.DECIDED, step)
        elif promised:
            self.stop(StopReason.ESTIMATE, step)
        elif spent:
            self.stop(StopReason.BUDGET, step)
        elif self.settings.stopped:
            self.stop(StopReason.STOPPED, step)
        if step.ended:
            self.changes.ended.append((self.moment(step.time), self.is_stopped))

    def excess(self, counted: int, is_look: bool) -> float:
        """How far the chances are from what they have to promise: at most 1 ends the study.

        Infinite where nothing was asked of them, and where it is no time to look: that is when
        the rewards `counted` just now, or the end of the budget, make one due, or a change by
        hand (`is_look`). All of it follows from the steps alone, so that a look can be
        worked out anew. Raises `LookDueError` where `puts_off_looks`, unless it was made already.
        """
        if self.until is None or not (counted or is_look) or not self._is_ready(False):
            return np.inf
        pulls = int(self.state.counters[PULLS])
        if not is_look and not is_look_due(pulls - counted, pulls, len(self.arms)):
            return np.inf
        look = Look.at(self.until, self.problem, self.arms, self.state, self.spec)
        if look.is_like(self.looked):
            assert self.looked is not None
            return self.looked.excess
        if self.puts_off_looks:
            raise LookDueError(look)
        return look.excess

    def moment(self, now: float) -> dict[str, Any]:
        """How the threshold and the arms stand, as a row of the trace."""
        high = side_interval(self.state, 0)
        low = side_interval(self.state, 1) if len(self.state.signs) > 1 else None
        return {
            "pulls": self.totals.pulls,
            "time": now,
            "lower": high.lower,
            "upper": high.upper,
            "lower_low": None if low is None else low.lower,
            "upper_low": None if low is None else low.upper,
            "undecided": int(np.count_nonzero(self.certified == 0)),
        }

    def _is_ready(self, spent: bool) -> bool:
        """Verdicts wait until every arm that can be measured has its first rewards."""
        if spent or self.state.counters[ROUNDS] > 0:
            return True
        waiting = self.state.pulls < self.spec.initial
        waiting[list(self.paused)] = False
        return not waiting.any()

    def stop(self, reason: StopReason, step: Step) -> None:
        """End the study; pulls that are pending may still come in."""
        self.reason = reason
        self.stopped_at = step.time
        step.reason = str(reason)
        for live in self.rounds:
            live.give_up()
        self.close_rounds()

    def pause(self, arm: int, why: str) -> None:
        """Hand out no more pulls of `arm`."""
        self.paused[arm] = why
        for live in self.rounds:
            live.drop_arm(arm)
        self.changes.arms.add(arm)

    def identification(self) -> Identification:
        """The answer; what was certified once stays so."""
        guess = np.zeros(len(self.arms), dtype=np.bool_)
        engine.best_guess(self.spec, self.state, guess)
        sticky = replace(
            self.state, verdict=np.where(self.certified != 0, self.certified, self.state.verdict)
        )
        guess |= self.certified == 2
        guess &= self.certified != 1
        note = None if self.is_stopped else doubt(self.spec, self.state, self.arms)
        found = identification(sticky, self.arms, guess, self.reason, note=note)
        until = None if self.until is None else str(self.until)
        # Means as of the last reward, also within a round.
        asked = self.problem.question()
        return replace(found, means=means_of(self.state), until=until, problem=asked)


def split_verdicts(fresh: Flags, verdict: Codes) -> tuple[list[int], list[int]] | None:
    """The arms that became certain: the normal ones and the outliers; None if there are none."""
    if not fresh.any():
        return None
    normal, outlier = (
        np.flatnonzero(fresh & (verdict == int(kind))).tolist()
        for kind in (Verdict.NORMAL, Verdict.OUTLIER)
    )
    return normal, outlier


@dataclass
class Changes:
    """What has to be written down when the transaction ends."""

    arms: set[int] = field(default_factory=set)
    planned: list[LiveRound] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    is_wide: bool = False
    """Whether any arm may have changed."""
    is_planned: bool = False
    """Whether the random numbers have moved on."""
    ended: list[tuple[dict[str, Any], bool]] = field(default_factory=list)
    """How things stood when a round ended, and whether that was the end of the study."""
