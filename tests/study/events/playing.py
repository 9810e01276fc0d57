"""A study without a database, driven by requests; every step can be worked out anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from standout import Problem
from standout.results import Receipt, Ticket
from standout.study.events.definition import checked
from standout.study.events.event import Event
from standout.study.events.fold import begin, differences, fold, verify
from standout.study.events.handle import create, handle, repeat
from standout.study.events.requests import (
    Answer,
    Ask,
    Asked,
    Fail,
    Given,
    Lease,
    Look,
    Note,
    Pause,
    Request,
    Resume,
    Set,
    Tell,
    TellAndAsk,
    Void,
)
from standout.study.events.snapshot import pack, unpack
from standout.study.events.state import StudyState

ARMS = ("ash", "elm", "fir")


class Play:
    """A study in memory with a clock that is moved by hand."""

    def __init__(
        self,
        arms: Sequence[str] = ARMS,
        problem: Problem | None = None,
        method: str = "roai-lucb",
        **how: Any,
    ) -> None:
        self.now = 1_000_000.0
        asked = problem or Problem(noise="bernoulli", k=2)
        self.definition = checked(arms, asked, method, **how)
        self.events = [create(self.definition, self.now, worker="owner")]
        self.state = begin(self.events[0])
        self.parts: list[bytes] = []

    def do(self, request: Request, worker: str = "ada", key: str | None = None) -> Answer:
        """Let a request happen; a key that was used before stands for what it was used for."""
        before = next((one for one in self.events if key is not None and one.key == key), None)
        if before is None:
            made, answer = handle(self.state, request, self.now, worker=worker, key=key)
        else:
            made, answer = repeat(self.state, before, request, self.now, worker=worker)
        self.events += made
        return answer

    def ask(self, n: int = 1, worker: str = "ada", **how: Any) -> list[Ticket]:
        return list(self.asked(n, worker, **how).tickets)

    def asked(self, n: int = 1, worker: str = "ada", **how: Any) -> Asked:
        return self.do(Ask(n, **how), worker).asked

    def tell(self, given: Given, value: float, worker: str = "ada", **how: Any) -> Receipt:
        return self.tell_many([(given, value)], worker, **how)

    def tell_many(
        self,
        pairs: Sequence[tuple[Given, float]],
        worker: str = "ada",
        key: str | None = None,
        **how: Any,
    ) -> Receipt:
        return self.do(Tell(pairs, **how), worker, key).receipt

    def tell_and_ask(
        self,
        pairs: Sequence[tuple[Given, float]],
        n: int = 1,
        worker: str = "ada",
        key: str | None = None,
    ) -> tuple[Receipt, list[Ticket]]:
        answer = self.do(TellAndAsk(Tell(pairs), Ask(n)), worker, key)
        return answer.receipt, list(answer.asked.tickets)

    def fail(self, ticket: Ticket | int, reason: str = "", **how: Any) -> None:
        self.do(Fail(ticket, reason, **how))

    def lease(self, tickets: Iterable[Ticket | int], seconds: float | None = None) -> None:
        self.do(Lease(tickets, seconds))

    def pause(self, arm: str, reason: str = "") -> None:
        self.do(Pause(arm, reason))

    def resume(self, arm: str, reason: str = "") -> None:
        self.do(Resume(arm, reason))

    def set(self, values: Mapping[str, Any], reason: str = "", key: str | None = None) -> None:
        self.do(Set(values, reason), key=key)

    def void(self, place: int | None = None, key: str | None = None, **how: Any) -> None:
        self.do(Void(place, **how), key=key)

    def note(self, text: str) -> None:
        self.do(Note(text))

    def look(self) -> None:
        """Make the look at the chances that is due."""
        look = self.state.look
        assert look is not None
        self.do(Look(look.number, look.excess()))

    @property
    def pulls(self) -> dict[str, int]:
        """What the core has counted, by arm."""
        return dict(zip(self.state.arms, self.state.state.pulls.tolist(), strict=True))

    def statuses(self) -> list[int]:
        """That of each reward in the ledger."""
        found: list[int] = self.state.ledger.status[: self.state.ledger.size].tolist()
        return found

    def save(self) -> bytes:
        """A snapshot; its part of the ledger is kept."""
        packed = pack(self.state)
        self.parts.append(packed.part)
        self.state.packed = packed.ends
        return packed.state

    def reopen(self) -> None:
        """Go on from a snapshot."""
        content = self.save()
        before = self.state
        self.state = unpack(self.definition, content, self.parts)
        assert differences(self.state, before) == []

    def folded(self, events: Sequence[Event] | None = None) -> StudyState:
        """The state that the events give."""
        chosen = self.events if events is None else events
        state = begin(chosen[0])
        for event in chosen[1:]:
            fold(state, event)
        return state

    def check(self) -> None:
        """Fold and verify give the state as it is."""
        assert differences(self.state, self.folded()) == []
        assert verify(self.events, self.state.head.hex(), self.state).problems == ()
