"""What is done about tickets and arms between asking and telling."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import bindparam, update

from standout.results import Ticket
from standout.study import tickets
from standout.study.chain import Kind, Step
from standout.study.shown import Shown
from standout.study.storage import catalogue, schema, steps
from standout.study.tickets import ticket_id

_TICKETS = schema.tickets


class Tending(Shown):
    """The part of a study that looks after leases and pauses."""

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        """Begin the leases of pending tickets anew: `lease` seconds, the study's unless given.

        Tickets that are not pending are passed over. Raises `StudyError` for a
        lease that is no positive number.

        >>> study.renew([study.ask(lease=1)], 3600)
        """
        seconds = self.lease if lease is None else catalogue.check_lease(lease)
        self._set_expiry(given, seconds)

    def release(self, given: Iterable[Ticket | int]) -> None:
        """End the leases of pending tickets now: the next to ask gets their pulls.

        >>> first = study.ask()
        >>> study.release([first])
        >>> study.ask().arm == first.arm
        True
        """
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
                schema.IS_PENDING,
            )
            .values(expires=bindparam("until"))
        )
        with self._writing() as (connection, now):
            until = now + seconds
            self._ledger.first_due = min(self._ledger.first_due, until)
            connection.execute(statement, [{"ticket": n, "until": until} for n in numbers])

    def pause(self, arm: str, reason: str = "paused by hand") -> None:
        """Hand out no more pulls of `arm`, until `resume`; `reason` is shown to people.

        Raises `StudyError` if there is no such arm.

        >>> study.pause("ash", "out of stock")
        >>> study.ask().arm, study.status().paused
        ('elm', {'ash': 'out of stock'})
        """
        position = self._position(arm)
        why = tickets.clean(reason)
        with self._writing() as (connection, now):
            desk = self._ledger.desk
            step = Step(Kind.PAUSE, now, first=desk.totals.log + 1)
            step.note = json.dumps([position, why])
            desk.pause(position, why)
            desk.settle(step)
            steps.write(connection, self._ledger, step)

    def resume(self, arm: str) -> None:
        """Hand out pulls of a paused arm again; raises `StudyError` if there is no such arm.

        >>> study.pause("ash")
        >>> study.resume("ash")
        >>> study.ask().arm
        'ash'
        """
        position = self._position(arm)
        with self._writing() as (connection, now):
            desk = self._ledger.desk
            step = Step(Kind.RESUME, now, first=desk.totals.log + 1)
            step.note = json.dumps([position])
            steps.write(connection, self._ledger, step)
            desk.paused.pop(position, None)
            desk.streak[position] = 0
            desk.changes.arms.add(position)
