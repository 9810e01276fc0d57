"""Whoever is rating: known by a random id that the browser keeps, and by what it has done."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from typing import Annotated

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from standout.service.security.auth import RATER_COOKIE, Answerer, Identity
from standout.service.security.login import keep_cookie
from standout.service.service import Service
from standout.service.settings import Settings
from standout.study.rating.rater import Record, read_record
from standout.study.storage.old_tokens import Role
from standout.study.transaction import Transaction

YEAR = 365 * 86400


def may_hold_more(settings: Settings, turn: Transaction, who: Identity) -> bool:
    """Whether the raters of this token, together, may be given one more ticket.

    Told apart by a cookie of their own making, they could otherwise be as many
    as they like and hold all that is left to be measured.
    """
    if who.role is not Role.RATER:
        return True
    most = settings.rater_tickets
    if turn.left is not None:
        most = min(most, max(1, turn.left // 2))
    return turn.pending_of(replace(who, rater=None).name) < most


class Rater:
    """One rater of one study, during one request."""

    def __init__(self, request: Request, who: Identity, study: str) -> None:
        self._request = request
        self._consent = f"standout_consent_{hashlib.sha256(study.encode()).hexdigest()[:12]}"
        self.who, self.study = who, study
        self.is_new = who.rater is None
        self.id = who.rater or secrets.token_urlsafe(12)
        self.worker = replace(who, rater=self.id).name
        self.has_agreed = self._consent in request.cookies
        self._agrees = False

    def agree(self) -> None:
        """The rater has consented."""
        self.has_agreed = self._agrees = True

    def keep(self, response: Response) -> Response:
        """Leave the id with the browser, once there is reason to."""
        given = {RATER_COOKIE: self.id} if self.is_new else {}
        if self._agrees:
            given[self._consent] = "yes"
        for key, value in given.items():
            keep_cookie(response, self._request, key, value, YEAR)
        return response

    async def record(self, service: Service, *, is_fresh: bool = False) -> Record:
        """What it has done in this study; `is_fresh`: also as another process has seen it."""
        key = (self.study, self.worker)
        found = None if is_fresh else service.cache.raters.get(key)
        if found is None:
            found = await service.queues.quick(self._read_record, service)
            service.cache.raters[key] = found
        return found

    def _read_record(self, service: Service) -> Record:
        # A new id has done nothing; but that the study exists has to be found out, too.
        handle = service.studies.reader(self.study)
        return Record() if self.is_new else read_record(handle, self.worker)


def _rater(request: Request, who: Answerer, name: str) -> Rater:
    return Rater(request, who, name)


RaterOf = Annotated[Rater, Depends(_rater)]
"""Whoever sends a request to the study of its address, and may answer."""
