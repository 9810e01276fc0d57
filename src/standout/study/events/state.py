"""The state of a study in memory, which follows from its events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from standout.core import engine
from standout.core.identification import identification
from standout.core.many_rewards import observe_many
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, ROUNDS, State, copy_state, means_of
from standout.core.typing import Flags, Ints
from standout.core.undecidable import doubt
from standout.estimation.evidence import Evidence
from standout.estimation.until import Until
from standout.results import Change, Failure, Identification, StopReason
from standout.study.events.definition import Definition
from standout.study.events.pulls import Lines, LiveRound, Order, RoundChance
from standout.study.events.tables import Ledger, TicketTable
from standout.study.settings import Settings

LOOK_PATIENCE = 60.0
"""Seconds after which a due look that no process has made is due again."""


@dataclass(frozen=True, eq=False)
class DueLook:
    """The promise of the chances, and the evidence after event `number`, at `time`."""

    number: int
    time: float
    until: Until
    problem: Problem
    arms: tuple[str, ...]
    evidence: Evidence

    def excess(self) -> float:
        """The ratio of the chances to the promise, which holds up to 1; slow."""
        from standout.estimation.estimate import estimate

        share = self.until.flag_share
        found = estimate(self.problem, self.evidence, self.arms, false_share=share)
        return self.until.excess(found)


TraceRow = tuple[int, float, float, float, float | None, float | None, int]
"""Pulls, time, ends of the threshold, those of the low side, undecided arms."""


@dataclass
class Totals:
    """Pulls counted or waiting, rewards beyond the budget, rounds begun."""

    pulls: int = 0
    surplus: int = 0
    rounds: int = 0


class StudyState:
    """The state that the next request needs.

    `number` and `head` are the number and the digest of the last event. `held` counts each arm's
    recorded rewards that wait for earlier pulls. `touched_at` has, per arm, the number of the last
    event that changed it; `wide_at` that of the last event that changed all.
    """

    def __init__(self, definition: Definition, number: int, head: bytes) -> None:
        self.definition, self.number, self.head = definition, number, head
        self.arms, n_arms = definition.arms, len(definition.arms)
        self.begun, self.begun_with = definition.settings, n_arms
        self.use(self.begun)
        rng = np.random.default_rng(definition.seed)
        self.state: State = start_state(
            self.problem, self.method, n_arms, rng, definition.cost_array()
        )
        self.chance = RoundChance(definition.seed)
        self.certified = np.zeros(n_arms, dtype=np.int8)
        self.pending = np.zeros(n_arms, dtype=np.int64)
        self.held = np.zeros(n_arms, dtype=np.int64)
        self.failures = np.zeros(n_arms, dtype=np.int64)
        self.streak = np.zeros(n_arms, dtype=np.int64)
        self.touched_at = np.full(n_arms, number, dtype=np.int64)
        self.wide_at = number
        self.paused: dict[int, str] = {}
        self.voided: set[int] = set()
        self.rounds: dict[int, LiveRound] = {}
        self.tickets, self.ledger, self.totals = TicketTable(), Ledger(), Totals()
        self.lines = Lines(self.is_one_line)
        self.trace: list[TraceRow] = []
        self.failed: list[Failure] = []
        self.changes: list[Change] = []
        self.look: DueLook | None = None
        """A look at the chances that is due and was not made yet."""
        self.reason = StopReason.RUNNING
        self.stopped_at: float | None = None
        self.packed = (0, 0)
        """The numbers of rewards and tickets in the stored parts of the ledger."""
        self._single = (np.zeros(1, dtype=np.int64), np.zeros(1))
        self._copied: tuple[State, State, list[tuple[Any, Any]]] | None = None

    def to_definition(self) -> Definition:
        """The definition of a new study with the same question, settings and arms."""
        settings = replace(self.settings, stopped=False)
        return replace(self.definition, problem=self.problem, method=self.method, settings=settings)

    def use(self, settings: Settings) -> None:
        """Use these settings."""
        definition = self.definition
        self.settings = settings
        self.until = None if settings.until is None else Until.parse(settings.until)
        self.problem = replace(definition.problem, tolerance=settings.tolerance)
        self.method = replace(definition.method, batch=settings.batch)
        self.spec = self.method.spec(self.problem, len(self.arms), definition.room)

    @cached_property
    def index(self) -> dict[str, int]:
        """The arms' positions."""
        return {name: place for place, name in enumerate(self.arms)}

    def copy_core(self) -> State:
        """A copy of the core's state, valid until the next call.

        A new struct's table for kernels takes longer than a plan, so one copy is used again.
        """
        if self._copied is None or self._copied[0] is not self.state:
            copy = copy_state(self.state)
            pairs = zip(copy.arrays().values(), self.state.arrays().values(), strict=True)
            self._copied = self.state, copy, list(pairs)
        for target, source in self._copied[2]:
            np.copyto(target, source)
        return self._copied[1]

    @property
    def budget(self) -> int | None:
        """The largest number of pulls; None for no limit."""
        return self.settings.budget

    @property
    def is_ordered(self) -> bool:
        """Whether the rewards of an arm are counted in the order of its pulls."""
        return self.definition.ordered

    @property
    def is_one_line(self) -> bool:
        """Whether a reward waits for the earlier pulls of all arms, not only of its own."""
        return self.is_ordered and self.spec.share > 0.0

    @property
    def is_stopped(self) -> bool:
        """Whether the study has ended: for good, unless its settings change."""
        return self.reason is not StopReason.RUNNING

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up."""
        return self.budget is not None and self.totals.pulls >= self.budget

    @property
    def out(self) -> int:
        """The number of pending pulls."""
        return len(self.tickets.slots)

    @property
    def owed(self) -> Ints:
        """Per arm, the pulls that are not counted yet: pending, or told and waiting."""
        return self.pending + self.held

    @property
    def room(self) -> int:
        """The number of pulls that the budget still allows, with pending ones deducted."""
        if self.budget is None:
            return NO_LIMIT
        return self.budget - self.totals.pulls - self.out

    @property
    def lease(self) -> float:
        """The current default lease, in seconds."""
        given = self.settings.lease
        return self.tickets.usual_lease() if given is None else given

    def is_ready(self) -> bool:
        """Whether every arm that can be measured has its first rewards, so that verdicts exist."""
        if self.state.counters[ROUNDS] > 0:
            return True
        waiting = self.state.pulls < self.spec.initial
        waiting[list(self.paused)] = False
        return not waiting.any()

    def has_all_begun(self) -> bool:
        """Whether every arm has a reward, so that intervals and verdicts exist."""
        return bool(self.state.pulls.all())

    @property
    def rounds_known(self) -> int:
        """The number of rounds behind the verdicts; an initial table counts as one."""
        return max(int(self.state.counters[ROUNDS]), len(self.trace[:1]))

    def observe(self, places: Sequence[int]) -> None:
        """Count the rewards at these places of the ledger, in order."""
        ledger = self.ledger
        if len(places) == 1:
            # Creating two arrays would take longer than counting.
            arms, values = self._single
            arms[0], values[0] = ledger.arm[places[0] - 1], ledger.value[places[0] - 1]
        else:
            rows = np.array(places, dtype=np.int64) - 1
            arms, values = ledger.arm[rows].astype(np.int64), ledger.value[rows]
        observe_many(self.spec, self.state, arms, values)
        self.streak[arms] = 0
        self.touched_at[arms] = self.number + 1
        ledger.count(places)

    def touch(self, arm: int) -> None:
        """Mark an arm as changed by the current event."""
        self.touched_at[arm] = self.number + 1

    def touch_all(self) -> None:
        """Mark all arms as changed by the current event."""
        self.wide_at = self.number + 1

    def touched_since(self, number: int) -> Flags:
        """The arms that may have changed after event `number`."""
        if self.wide_at > number:
            return np.ones(len(self.arms), dtype=np.bool_)
        found: Flags = self.touched_at > number
        return found

    def pull_ends(self, arm: int, slot: int, number: int) -> bool:
        """Record that a pull of round `number` is finished; return whether the round is over."""
        del self.tickets.slots[slot]
        self.pending[arm] -= 1
        self.touch(arm)
        if self.is_ordered:
            self.lines.leave(arm, slot)
        live = self.rounds.get(number)
        if live is None:
            return False
        live.out -= 1
        return self.close_if_over(live)

    def pause(self, arm: int, why: str) -> bool:
        """Hand out no more pulls of an arm; return whether this ended a round."""
        self.paused[arm] = why
        self.touch(arm)
        for live in self.rounds.values():
            live.drop_arm(arm)
        over = [self.close_if_over(live) for live in list(self.rounds.values())]
        return any(over)

    def close_if_over(self, live: LiveRound) -> bool:
        """Remove a round if its rewards are all in."""
        if live.is_over:
            del self.rounds[live.number]
        return live.is_over

    def release(self, arms: Iterable[int]) -> list[Order]:
        """The rewards in the lines of these arms that no longer wait, in order."""
        lines = {self.lines.line_of(arm): arm for arm in arms}
        found = [one for arm in lines.values() for one in self.lines.release(arm)]
        for _, place in found:
            self.held[self.ledger.arm[place - 1]] -= 1
        return sorted(found)

    def identification(self) -> Identification:
        """The answer; certified arms stay certified."""
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

    @property
    def pulls_observed(self) -> int:
        """Rewards that the core has counted."""
        return int(self.state.counters[PULLS])
