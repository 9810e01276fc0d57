"""The identity of a rater: an id that the service signs and the browser keeps in a cookie."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from standout.service.security.auth import Answerer, Identity, rater_cookie
from standout.service.security.login import keep_cookie
from standout.service.service import Service
from standout.service.settings import Settings
from standout.study import Ticket
from standout.study.events.contents import place_of
from standout.study.events.tables import RewardStatus
from standout.study.storage.tokens import Role
from standout.study.study import Study
from standout.study.transaction import Transaction

YEAR = 365 * 86400


@dataclass
class Record:
    """The arms that a rater has answered, the latest last, and those that were given back."""

    answers: int = 0
    answered: dict[str, int] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def add(self, arm: str) -> None:
        """One more answer."""
        self.answers += 1
        self.answered[arm] = self.answers


def told_when(study: Study, ticket: int) -> tuple[float, str] | None:
    """How many seconds ago a ticket was answered, and by whom; None if it was not."""
    with study.memory.reading() as session:
        log, place = study._state.ledger, place_of(study._state, ticket)
        if not place:
            return None
        return session.now - log.time.item(place - 1), log.workers[log.worker.item(place - 1)]


def read_record(study: Study, worker: str) -> Record:
    """The record from the whole log; takes milliseconds per million rewards."""
    record = Record()
    with study.memory.reading():
        state = study._state
        log = state.ledger
        code = log.codes.get(worker)
        if code is not None:  # A new rater is in no log, however long it is.
            mine = np.flatnonzero(log.worker[: log.size] == code)
            for arm in log.arm[mine[log.status[mine] != RewardStatus.VOID]].tolist():
                record.add(state.arms[arm])
        record.skipped.update(one.arm for one in state.failed if one.worker == worker)
    return record


def may_hold_more(settings: Settings, turn: Transaction, who: Identity) -> bool:
    """Whether the raters of this token together may get one more ticket.

    Otherwise the browsers of one link could hold all remaining pulls.
    """
    if who.role is not Role.RATER:
        return True
    most = settings.rater_tickets
    state = turn.state
    if state.budget is not None:
        most = min(most, max(1, (state.budget - state.totals.pulls) // 2))
    return state.tickets.count_of_prefix(replace(who, rater=None).name, turn.moment) < most


class Rater:
    """One rater of one study, during one request."""

    def __init__(self, request: Request, who: Identity, study: str) -> None:
        self._request = request
        self._consent = f"standout_consent_{hashlib.sha256(study.encode()).hexdigest()[:12]}"
        self.who, self.study = who, study
        self.has_agreed = self._consent in request.cookies
        self._cookies: dict[str, str] = {}

    @property
    def worker(self) -> str:
        """The worker's name of the rater's tickets and answers."""
        return self.who.name

    def meet(self, service: Service) -> None:
        """Give a new browser an id."""
        if self.who.rater is None:
            address = self._request.client.host if self._request.client else "-"
            self.who, value = service.gate.new_rater(self.who, address)
            self._cookies[rater_cookie(self.who)] = value

    def agree(self) -> None:
        """The rater has consented."""
        self.has_agreed = True
        self._cookies[self._consent] = "yes"

    def keep(self, response: Response) -> Response:
        """Send new cookies to the browser, if there are any."""
        for key, value in self._cookies.items():
            keep_cookie(response, self._request, key, value, YEAR)
        return response

    async def record(self, service: Service, *, is_fresh: bool = False) -> Record:
        """The rater's record in this study; `is_fresh` reads the study's current state."""
        key = (self.study, self.worker)
        record = None if is_fresh else service.cache.raters.get(key)
        if record is None:
            record = await service.queues.quick(self._read_record, service)
            if self.who.rater is not None:
                service.cache.raters[key] = record
        return record

    def _read_record(self, service: Service) -> Record:
        # A new browser has an empty record, but the study must exist.
        handle = service.studies.reader(self.study)
        return Record() if self.who.rater is None else read_record(handle, self.worker)

    def gets(self, service: Service, ticket: Ticket | None) -> None:
        """Remember which rater saw a ticket; the study forgets it when the pull goes to another."""
        if ticket is not None:
            service.cache.shown[self.study, ticket.id] = self.worker

    def had(self, service: Service, ticket: int) -> str | None:
        """The rater who saw a ticket that is no longer out, if remembered."""
        return service.cache.shown.get((self.study, ticket))

    def turn(self, service: Service) -> asyncio.Lock:
        """A lock for the requests of one rater, because each depends on the record of the last."""
        if self.who.rater is None:
            return asyncio.Lock()
        return service.cache.rater_turns.setdefault((self.study, self.worker), asyncio.Lock())


def _rater(request: Request, who: Answerer, name: str) -> Rater:
    return Rater(request, who, name)


RaterOf = Annotated[Rater, Depends(_rater)]
"""The rater who sends the request, allowed to answer in the study of its address."""
