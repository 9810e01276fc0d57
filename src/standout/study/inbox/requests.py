"""Asking and telling as plain data, so that another process can do it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from standout.errors import StandoutError, StudyError
from standout.results import Receipt, Ticket
from standout.study import arguments
from standout.study.log.chain import check_key
from standout.study.progress import Progress
from standout.study.rewards import Item
from standout.study.short_json import dumps
from standout.study.tickets import ticket_id
from standout.study.transaction import Mark, Transaction, worker_of

LONGEST = 16_384
"""Bytes of a request; longer ones are not worth sharing a transaction."""


class Answer(NamedTuple):
    """What came of a request, and its moment (seconds since 1970)."""

    moment: float
    receipt: Receipt
    tickets: list[Ticket]

    def pack(self) -> bytes:
        """As one line."""
        tickets = [(ticket.id, ticket.arm, ticket.expires) for ticket in self.tickets]
        return dumps([self.moment, vars(self.receipt), tickets]).encode() + b"\n"

    @classmethod
    def unpack(cls, line: bytes) -> Answer | None:
        """From a line of `pack`; None if it is none."""
        try:
            moment, receipt, tickets = json.loads(line.decode())
            return cls(moment, Receipt(**receipt), [Ticket(*ticket) for ticket in tickets])
        except (ValueError, TypeError, RecursionError):
            return None


class Request(NamedTuple):
    """Rewards to tell, looked at already, then `wanted` pulls to ask for, by a worker.

    `lease` and `known` are those of `Study.ask`.
    """

    items: Sequence[Item]
    wanted: int
    worker: str
    mark: Mark
    lease: float | None = None
    known: Collection[int] | None = None

    @property
    def size(self) -> int:
        """About how many rows it writes."""
        return len(self.items) + self.wanted

    def carry_out(self, one: Transaction) -> Answer:
        """Tell and ask in a transaction; raises what `Study.tell_and_ask` raises."""
        found = one.carry_out(
            self.items, self.wanted, self.worker, self.lease, self.known, self.mark
        )
        return Answer(one.moment, *found)

    def carry_out_once(self, one: Transaction, said: Answer | None) -> Answer:
        """The same if it has not been done; `said` is the answer of somebody who may have done it.

        Rewards are found by their key, and tickets that came without rewards by their moment.
        """
        if said is not None and not self.items:
            found = one.given_at(said.moment, self.worker, self.wanted)
            if found and {one.id for one in found} <= {one.id for one in said.tickets}:
                return said._replace(tickets=found)
        return self._replace(mark=self.mark._replace(is_new=False)).carry_out(one)

    def pack(self) -> bytes | None:
        """As one line; None if it is too long, or not plain."""
        try:
            known = None if self.known is None else list(self.known)
            fields = [self.items, self.wanted, self.worker, self.mark, self.lease, known]
            line = dumps(fields).encode() + b"\n"
        except (TypeError, ValueError):
            return None
        return line if len(line) <= LONGEST else None

    @classmethod
    def unpack(cls, line: bytes, progress: Progress) -> Request | None:
        """From a line of `pack`, looked at as if a caller had given it; None if it is bad."""
        try:
            items, count, worker, mark, lease, known = json.loads(line.decode())
            return cls(
                [_item(one, progress) for one in items],
                arguments.whole("the number of tickets", count, 0, arguments.MOST_TICKETS),
                worker_of(_text(worker)),
                _mark(*mark),
                lease,
                None if known is None else [ticket_id(number) for number in known],
            )
        except (ValueError, TypeError, RecursionError, StandoutError):
            return None


def _text(given: Any) -> str:
    if not given or not isinstance(given, str):
        raise StudyError("no worker")
    return given


def _mark(key: Any, is_given: Any, is_new: Any) -> Mark:
    return Mark(check_key(key), bool(is_given), bool(is_new))


def _item(fields: Any, progress: Progress) -> Item:
    value, ticket, arm = fields
    if ticket is None and arm is None:
        raise StudyError("neither a ticket nor an arm")
    value = progress.problem.noise.check_reward(value)
    if arm is not None:
        arm = arguments.whole("an arm", arm, 0, len(progress.arms) - 1)
    return Item(value, None if ticket is None else ticket_id(ticket), arm)
