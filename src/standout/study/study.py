"""A live study: ask what to measure, tell what came out, from anywhere, at any time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import bindparam, func, select, update

from standout.core.identification import Identification
from standout.core.methods import DEFAULT_METHOD, Method
from standout.core.problem import Problem
from standout.core.state import ROUNDS
from standout.errors import BatchError, RewardError, StudyError, TicketError
from standout.study import schema, setup, telling, tickets
from standout.study.bulk import without_collector
from standout.study.items import make_items
from standout.study.schema import TicketStatus
from standout.study.shown import Shown
from standout.study.status import Status
from standout.study.storage import PATIENCE, Storage
from standout.study.telling import Receipt
from standout.study.tickets import Pending, Ticket, ticket_id, worker_name

if TYPE_CHECKING:
    from standout.study.history import History
    from standout.study.verify import Verification

Clock = Callable[[], float]
_TICKETS = schema.tickets
_EXPIRED = (
    select(func.count())
    .select_from(_TICKETS)
    .where(
        _TICKETS.c.study == bindparam("key"),
        _TICKETS.c.status == int(TicketStatus.PENDING),
        _TICKETS.c.expires <= bindparam("now"),
    )
)


class Study(Shown):
    """One study in a database; make it with `Study.create`, find it with `Study.open`.

    Any number of processes and threads may use the same study at once. A
    method returns when what it did is on disk.

    >>> import tempfile, os
    >>> place = os.path.join(tempfile.mkdtemp(), "bags.db")
    >>> study = Study.create(place, ["ash", "elm", "fir"], Problem(noise="bernoulli", k=2))
    >>> ticket = study.ask()[0]
    >>> _ = study.tell(ticket, 1.0)
    >>> study.status().pulls
    1
    """

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        arms: Sequence[str],
        problem: Problem,
        method: str | Method = DEFAULT_METHOD,
        *,
        name: str = "main",
        budget: int | None = None,
        seed: int | np.random.Generator = 0,
        lease: float = setup.DAY,
        pause_after: int | None = None,
        ordered: bool = False,
        costs: Mapping[str, float] | None = None,
        items: Mapping[str, Mapping[str, str]] | None = None,
        page: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Begin a study in a file, or in a PostgreSQL database given by its URL.

        A ticket is handed out again `lease` seconds after it was asked for;
        `pause_after` failures of an arm in a row pause it. With `ordered`, an
        arm's rewards are counted in the order in which its pulls were handed
        out: needed for the guarantee when workers measure in parallel and slow
        measurements have other values than quick ones. `costs` are those of a
        pull, by arm (1 where not given); `seed` drives the method's own random
        choices. `items` are what a rating page shows for an arm (`text`,
        `image`, `html`), `page` how it asks (see `standout.study.page`).
        """
        plan = setup.plan(
            arms, problem, method, name, budget, lease, pause_after, ordered, seed, costs,
            items, page,
        )  # fmt: skip
        storage = Storage(place, create=True, patience=patience, clock=clock)
        with storage.write() as connection:
            ledger = setup.create(connection, storage, plan)
        return cls(storage, ledger, name, plan.lease)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        name: str | None = None,
        *,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Find a study; `name` is needed only where a database holds several."""
        storage = Storage(place, patience=patience, clock=clock)
        with storage.read() as connection:
            ledger, name, lease = setup.find(connection, storage, name)
        study = cls(storage, ledger, name, lease)
        if ledger.fields != ledger.layout.fields(ledger.desk.state):
            with study._writing() as (connection, _):
                ledger.renew_fields(connection)
        return study

    def ask(
        self, n: int = 1, *, worker: str | None = None, lease: float | None = None
    ) -> list[Ticket]:
        """Up to `n` pulls to measure; none when the study has stopped or must wait.

        Parallel workers get different arms as far as that is useful. Fewer than
        `n` come when the budget, with what is pending, leaves no room.
        """
        if n != int(n) or n < 1:
            raise StudyError(f"ask for a whole number of at least 1 ticket, not {n}")
        seconds = self.lease if lease is None else setup.check_lease(lease)
        who = tickets.clean(worker or worker_name())
        with self._writing(int(n)) as (connection, now):
            return tickets.hand_out(connection, self._ledger, int(n), who, seconds, now)

    def tell(
        self,
        ticket: Ticket | int | None = None,
        reward: float | None = None,
        *,
        arm: str | None = None,
        worker: str | None = None,
    ) -> Receipt:
        """Tell the reward of a ticket or, without asking, of an arm (`arm=`)."""
        if (ticket is None) == (arm is None):
            raise TicketError("tell the reward of a ticket or of an arm")
        if reward is None:
            raise RewardError("no reward given")
        try:
            return self.tell_many([(arm if ticket is None else ticket, reward)], worker=worker)  # type: ignore[list-item]
        except BatchError as error:
            raise (error.__cause__ or TicketError(str(error))) from None

    def tell_many(
        self, rewards: Iterable[tuple[Ticket | int | str, float]], *, worker: str | None = None
    ) -> Receipt:
        """Tell many rewards at once: all are counted or, if one is bad, none.

        Each is a pair of a ticket (or its number) and a reward; an arm's name
        in place of the ticket tells a reward that was measured without asking.
        """
        pairs = list(rewards)
        who = tickets.clean(worker or worker_name())
        with without_collector(len(pairs)):
            items = make_items(pairs, self._ledger.desk)
            if not items:
                return Receipt()
            with self._writing(len(items)) as (connection, now):
                return telling.tell(connection, self._ledger, items, who, now)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Give a ticket back without a reward, and say why; its pull is handed out again."""
        who = tickets.clean(worker or worker_name())
        with self._writing() as (connection, now):
            tickets.fail(connection, self._ledger, ticket_id(ticket), reason, who, now)

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        """Extend the leases of pending tickets from now."""
        seconds = self.lease if lease is None else setup.check_lease(lease)
        self._set_expiry(given, seconds)

    def release(self, given: Iterable[Ticket | int]) -> None:
        """End the leases of pending tickets now: the next to ask gets their pulls."""
        self._set_expiry(given, 0.0)

    def _set_expiry(self, given: Iterable[Ticket | int], seconds: float) -> None:
        numbers = [ticket_id(ticket) for ticket in given]
        if not numbers:
            return
        statement = (
            update(_TICKETS)
            .where(
                _TICKETS.c.study == self._ledger.key,
                _TICKETS.c.id == bindparam("ticket"),
                _TICKETS.c.status == int(TicketStatus.PENDING),
            )
            .values(expires=bindparam("until"))
        )
        with self._writing() as (connection, now):
            until = now + seconds
            connection.execute(statement, [{"ticket": n, "until": until} for n in numbers])

    def pause(self, arm: str, reason: str = "paused by hand") -> None:
        """Hand out no more pulls of `arm`, until `resume`."""
        position = self._position(arm)
        with self._writing() as (_, now):
            self._ledger.desk.pause(position, tickets.clean(reason))
            self._ledger.desk.settle(now, update=False)

    def resume(self, arm: str) -> None:
        """Hand out pulls of a paused arm again."""
        position = self._position(arm)
        with self._writing():
            desk = self._ledger.desk
            desk.paused.pop(position, None)
            desk.streak[position] = 0
            desk.changes.arms.add(position)

    def status(self) -> Status:
        """How the study stands; costs O(arms), whatever the number of rewards."""
        with self._reading() as (connection, now):
            key = self._ledger.key
            expired = connection.execute(_EXPIRED, {"key": key, "now": now}).scalar_one()
            desk = self._ledger.desk
            found = desk.identification()
            return Status(
                name=self.name,
                pulls=desk.totals.pulls,
                pending=desk.out,
                expired=int(expired),
                surplus=desk.totals.surplus,
                budget=desk.budget,
                outliers=found.outliers,
                normal=found.normal,
                undecided=found.undecided,
                threshold=found.threshold,
                threshold_low=found.threshold_low,
                note=found.note,
                stopped=desk.is_stopped,
                reason=str(desk.reason),
                rounds=int(desk.state.counters[ROUNDS]),
                failures={
                    desk.arms[i]: int(desk.failures[i]) for i in np.flatnonzero(desk.failures)
                },
                paused={desk.arms[i]: why for i, why in sorted(desk.paused.items())},
            )

    def pending(self) -> list[Pending]:
        """The tickets that are out, with whom and until when."""
        with self._reading() as (connection, _):
            return tickets.read_pending(connection, self._ledger)

    def identification(self) -> Identification:
        """The answer so far, as `identify` gives it."""
        with self._reading():
            return self._ledger.desk.identification()

    def forecast(self) -> int | None:
        """How many pulls are left, roughly; None when that cannot be told."""
        from standout.study.forecast import forecast

        with self._reading() as (connection, _):
            return forecast(connection, self._ledger)

    def history(self) -> History:
        """Every reward ever told, in the order of telling."""
        from standout.study.history import read_history

        with self._reading() as (connection, _):
            return read_history(connection, self._ledger)

    def export(self, file: IO[Any], form: str = "csv") -> int:
        """Write the history as `csv`, `json` (text files) or `parquet` (a binary one); its length.

        CSV and JSON are written as they are read, whatever the history's size.
        """
        from standout.study.history import FORMS, write_history

        if form not in FORMS:
            raise StudyError(f"no format {form!r}; there are {', '.join(FORMS)}")
        with self._reading() as (connection, _):
            return write_history(connection, self._ledger, file, form)

    def verify(self) -> Verification:
        """Recompute all totals from the log and compare."""
        from standout.study.verify import verify

        with self._lock:
            self._ledger.forget()
            with self._reading() as (connection, _):
                return verify(connection, self._ledger)
