"""The requests of one database transaction on a study, carried out one after the other.

Each request is handled in memory (`standout.study.events.handle`). Its events are written
together at the end of the transaction. A request that is refused leaves no event, so that it
does not disturb the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from standout.errors import StorageError, UncertainError
from standout.results import Receipt, Ticket
from standout.study import arguments, queries
from standout.study.events import requests
from standout.study.events.event import Event
from standout.study.events.handle import handle, repeat
from standout.study.events.requests import Answer
from standout.study.events.state import StudyState
from standout.study.names import worker_of
from standout.study.storage.session import Session
from standout.study_interface import Key

MOMENT = 1e-6
"""Seconds between two requests of one transaction."""


class Transaction:
    """What may be done to a study while its lock is held."""

    def __init__(self, session: Session, key: int, state: StudyState) -> None:
        self._session, self._key, self.state = session, key, state
        self.moment = session.now
        self.events: list[Event] = []
        """The events that the requests made; not written yet."""
        self.look_due = False
        """Whether the chances have to be looked at when the transaction is over."""

    def handle(self, request: requests.Request, worker: str, key: str | None = None) -> Answer:
        """Carry out a request; what was done before under the same key is not done again."""
        before = None if key is None else self._event_of_key(key)
        if before is None:
            events, answer = handle(self.state, request, self.moment, worker=worker, key=key)
        else:
            events, answer = repeat(self.state, before, request, self.moment, worker=worker)
        self.events += events
        self.moment += MOMENT
        self.look_due |= answer.look_due
        return answer

    def _event_of_key(self, key: str) -> Event | None:
        for event in self.events:
            if event.key == key:
                return event
        return self._session.event_of_key(self._key, key)

    def rename(self, old: str, name: str) -> None:
        """Give the study another name; raises `StudyExistsError` if it is taken."""
        self._session.rename_study(self._key, old, name)

    # Asking and telling ------------------------------------------------------------

    def ask(
        self,
        n: int = 1,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
    ) -> list[Ticket]:
        """Up to `n` tickets for `worker`, for `lease` seconds; with `known`, lost ones first.

        Raises `StudyError` for a count or a lease that is out of range.
        """
        return list(self.asked(requests.Ask(n, lease, known), worker).tickets)

    def asked(self, request: requests.Ask, worker: str | None = None) -> requests.Asked:
        """The tickets, and whether all that there is to do is handed out."""
        return self.handle(request, worker_of(worker)).asked

    def tell_many(
        self,
        rewards: Iterable[tuple[Key, float]],
        *,
        worker: str | None = None,
        key: str | None = None,
        late: requests.Late = "count",
    ) -> Receipt:
        """Count rewards, all or (with a `BatchError`) none."""
        checked = None if key is None else arguments.key_text(key)
        return self.tell(requests.Tell(list(rewards), late), worker_of(worker), checked).receipt

    def tell_and_ask(
        self,
        rewards: Sequence[tuple[Key, float]],
        n: int = 1,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
        key: str | None = None,
    ) -> tuple[Receipt, list[Ticket]]:
        """Count rewards as `tell_many` does, then hand out up to `n` tickets as `ask` does."""
        request = requests.TellAndAsk(requests.Tell(list(rewards)), requests.Ask(n, lease, known))
        checked = None if key is None else arguments.key_text(key)
        answer = self.tell(request, worker_of(worker), checked)
        return answer.receipt, list(answer.asked.tickets)

    def tell(
        self, request: requests.Tell | requests.TellAndAsk, worker: str, key: str | None
    ) -> Answer:
        """The whole answer to rewards."""
        return self.handle(request, worker, key)

    def fail(
        self,
        ticket: Ticket | int,
        reason: str = "",
        *,
        worker: str | None = None,
        pauses: bool = True,
    ) -> None:
        """Take a ticket back without a reward; raises `TicketError` if it cannot be."""
        self.handle(requests.Fail(ticket, reason, pauses), worker_of(worker))

    def release(self, given: Sequence[Ticket | int], seconds: float = 0.0) -> None:
        """End the leases of pending tickets in so many seconds: others get their pulls then."""
        if given:
            self.handle(requests.Lease(list(given), seconds), worker_of(None))

    # Who holds what ----------------------------------------------------------------

    def holder(self, ticket: Ticket | int) -> str | None:
        """The worker that was given a ticket, or reported it; None if there is no such ticket."""
        return queries.holder(self.state, ticket)

    def arm_of(self, ticket: Ticket | int) -> str | None:
        """The arm of a ticket, whatever became of it; None if there is no such ticket."""
        return queries.arm_of(self.state, ticket)

    def held(self, worker: str) -> list[Ticket]:
        """The first ticket that a worker has and has not answered, if there is one."""
        return queries.held_by(self.state, worker, self.moment)[:1]

    def pending_of(self, prefix: str) -> int:
        """How many tickets are out with workers whose names begin with `prefix`."""
        return self.state.tickets.count_of_prefix(prefix, self.moment)

    @property
    def left(self) -> int | None:
        """Pulls that the budget allows and that are not reported yet; None without a budget."""
        budget = self.state.budget
        return None if budget is None else budget - self.state.totals.pulls


def check_count(n: int) -> int:
    """`n` if so many tickets may be asked for; raises `StudyError` otherwise."""
    return arguments.whole("the number of tickets", n, 1, arguments.MOST_TICKETS)


@contextmanager
def behind_commit(key: str | None = None) -> Iterator[None]:
    """Read what belongs to a change that is done; it is done also if that cannot be read."""
    try:
        yield
    except StorageError as error:
        why = str(error).replace("; nothing was changed", "")
        raise UncertainError(
            f"it was done, but what came of it cannot be read: {why}", key
        ) from None
