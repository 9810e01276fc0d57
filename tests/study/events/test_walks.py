"""Random walks through requests: the plain twin agrees, and the events give the state again."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from standout import Problem
from standout.errors import StudyError
from standout.study.events.requests import Ask, Tell, TellAndAsk
from standout.study.events.tables import RewardStatus, TicketStatus
from tests.naive.tickets import NaiveTickets
from tests.study.events.playing import ARMS, Play

KINDS = (
    {"method": "roai-lucb"},
    {"method": "roai-lucb", "ordered": False},
    {"method": "roai-elim:batch=2"},
    {"method": "joint"},
    {"method": "focus:goal=anytime"},
    {"method": "wrr"},
)
places = st.integers(0, 10_000)
values = st.sampled_from([0.0, 1.0])


class Walk(RuleBasedStateMachine):
    """One study, its plain twin, and what they are asked."""

    @initialize(
        kind=st.sampled_from(KINDS),
        budget=st.sampled_from([None, 20, 60]),
        until=st.sampled_from([None, "errors=0.1"]),
        pause_after=st.sampled_from([None, 2]),
    )
    def create(self, kind: dict[str, Any], budget: int | None, **how: Any) -> None:
        problem = Problem(noise="bernoulli", k=2, delta=0.2)
        self.play = Play(problem=problem, budget=budget, lease=50.0, **kind, **how)
        state = self.play.state
        self.twin = NaiveTickets(budget, state.is_ordered, state.is_one_line)
        self.lease = 50.0

    # Asking -----------------------------------------------------------------------------------

    def _asked(self, n: int, lease: float, first: int) -> None:
        """The twin hands out what the study has handed out, from ticket `first` on."""
        state = self.play.state
        again = self.twin.overdue(self.play.now)[:n]
        again = [t for t in again if self.twin.pull_of(t).arm not in self.twin.paused]
        fresh = state.tickets.arm[first - 1 + len(again) : state.tickets.size].tolist()
        self.twin.ask(n, self.play.now, self.play.now + lease, fresh)
        if not state.is_stopped:
            wanted = max(0, n - len(again))
            assert len(fresh) <= wanted
            assert len(fresh) == wanted or state.room == 0 or state.paused

    @rule(n=st.integers(1, 6), lease=st.sampled_from([None, 5.0, 500.0]), who=st.sampled_from("ab"))
    def ask(self, n: int, lease: float | None, who: str) -> None:
        state = self.play.state
        first, was_running = state.tickets.size + 1, not state.is_stopped
        found = self.play.asked(n, who, lease=lease)
        if was_running:
            self._asked(n, lease or self.lease, first)
        assert found.is_all_out == (not found.tickets and not state.is_stopped)
        assert [t.id for t in found.tickets] == list(range(first, state.tickets.size + 1))

    @rule(seconds=st.sampled_from([1.0, 20.0, 60.0]))
    def wait(self, seconds: float) -> None:
        self.play.now += seconds

    @rule(place=places, seconds=st.sampled_from([None, 0.0, 100.0]))
    def lease(self, place: int, seconds: float | None) -> None:
        if self.twin.status:
            number = 1 + place % len(self.twin.status)
            self.play.lease([number], seconds)
            if self.twin.status[number] == "pending":
                self.twin.expires[number] = self.play.now + (50.0 if seconds is None else seconds)

    # Telling ------------------------------------------------------------------------------------

    @rule(
        rewards=st.lists(st.tuples(places, values), min_size=1, max_size=5),
        is_rater=st.booleans(),
        n=st.integers(0, 2),
    )
    def tell(self, rewards: list[tuple[int, float]], is_rater: bool, n: int) -> None:
        """Tickets given ever, in any order; a place that hits none is an arm."""
        pairs: list[tuple[Any, float]] = []
        items: list[tuple[int, int, float]] = []
        known = dict(self._told())
        for place, value in rewards:
            number = place % (len(self.twin.status) + 2)
            if 1 <= number <= len(self.twin.status):
                value = known.setdefault(number, value)
                pairs.append((number, value))
                items.append((number, 0, value))
            else:
                pairs.append((ARMS[place % 3], value))
                items.append((0, place % 3, value))
        first = self.play.state.tickets.size + 1
        late = "log" if is_rater else "count"
        is_old = all(number in dict(self._told()) for number, _, _ in items)
        if n and not is_old:
            self.play.do(TellAndAsk(Tell(pairs, late), Ask(n)))
        else:
            self.play.do(Tell(pairs, late))
        self.twin.tell(items, is_rater)
        if (n and not is_old and self.play.state.tickets.size >= first) or (
            n and not is_old and not self.play.state.is_stopped
        ):
            self._asked(n, self.lease, first)

    def _told(self) -> list[tuple[int, float]]:
        ledger = self.play.state.ledger
        pairs = zip(ledger.ticket[: ledger.size].tolist(), ledger.value.tolist(), strict=False)
        return [(number, value) for number, value in pairs if number]

    @rule(place=places, pauses=st.booleans())
    def fail(self, place: int, pauses: bool) -> None:
        if not self.twin.status:
            return
        number = 1 + place % len(self.twin.status)
        if self.twin.status[number] == "told":
            with contextlib.suppress(StudyError):
                self.play.fail(number)
                raise AssertionError("a told ticket was given back")
        elif self.twin.status[number] != "failed":
            self.play.fail(number, "broken", pauses=pauses)
            self.twin.fail(number)
            self.twin.paused = set(self.play.state.paused)

    # By hand --------------------------------------------------------------------------------------

    @rule(arm=st.sampled_from(ARMS), pauses=st.booleans())
    def pause(self, arm: str, pauses: bool) -> None:
        if pauses:
            self.play.pause(arm, "why not")
        else:
            self.play.resume(arm)
        self.twin.paused = set(self.play.state.paused)

    @rule(tolerance=st.sampled_from([0.0, 0.1, 0.3]), more=st.sampled_from([0, 1, 20]))
    def set(self, tolerance: float, more: int) -> None:
        least = self.twin.in_totals() + self.twin.out() + more
        self.play.set({"tolerance": tolerance, "budget": max(1, least)})
        self.twin.budget = max(1, least)

    @rule(stopped=st.booleans())
    def stop(self, stopped: bool) -> None:
        self.play.set({"stopped": stopped}, "as it is")

    @rule(place=places, value=st.sampled_from([None, 0.0, 1.0]))
    def void(self, place: int, value: float | None) -> None:
        if not self.twin.log:
            return
        number = 1 + place % len(self.twin.log)
        if self.twin.log[number - 1].status == "counted":
            self.play.void(number, value=value)
            self.twin.void(number, value)
        else:
            head = self.play.state.head
            with contextlib.suppress(StudyError):
                self.play.void(number, value=value)
                raise AssertionError("what is not counted was made void")
            assert self.play.state.head == head

    @rule()
    def note(self) -> None:
        self.play.note("the door was open")

    @precondition(lambda self: self.play.state.look is not None)
    @rule()
    def look(self) -> None:
        self.play.look()

    @rule()
    def reopen(self) -> None:
        self.play.reopen()

    # What always holds ------------------------------------------------------------------------

    @invariant()
    def the_twin_agrees(self) -> None:
        if not hasattr(self, "play"):
            return
        state, twin = self.play.state, self.twin
        names = [RewardStatus(code).name.lower() for code in self.play.statuses()]
        assert names == [told.status for told in twin.log]
        status = state.tickets.status[: state.tickets.size].tolist()
        assert [TicketStatus(code).name.lower() for code in status] == list(twin.status.values())
        assert set(state.tickets.open) == {n for n, s in twin.status.items() if s == "pending"}
        assert state.out == twin.out() == int(state.pending.sum())
        assert state.totals.pulls == twin.in_totals()
        assert state.budget is None or state.totals.pulls + state.out <= state.budget
        for arm in range(len(ARMS)):
            rows = state.ledger.sequence(arm) - 1
            assert state.ledger.value[rows].tolist() == twin.sequence(arm)
            assert state.state.pulls[arm] == len(rows)
            waiting = [told for told in twin.log if told.arm == arm and told.status == "waiting"]
            assert state.held[arm] == len(waiting)
        assert sum(live.out for live in state.rounds.values()) == state.out

    def teardown(self) -> None:
        if hasattr(self, "play"):
            self.play.check()


def test_random_walks() -> None:
    run_state_machine_as_test(
        Walk, settings=settings(max_examples=30, stateful_step_count=40, deadline=None)
    )
