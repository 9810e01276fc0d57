"""The rating page's own addresses: one item at a time, one answer per ticket.

Each answers with what to show next, whatever happened: an answer sent twice, a
page loaded again or a second window all come to the same item.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from standout.errors import NoStudyError, ToldError
from standout.service.auth import RATER_COOKIE, Answerer, Identity, check
from standout.service.errors import ApiError
from standout.service.plain import answer
from standout.service.questions import check_answer, image_policy, question_of
from standout.service.routes.login import is_secure
from standout.service.schemas import Body, TicketNumber
from standout.service.service import Service, ServiceOf
from standout.study import Study, Ticket
from standout.study.raters import Record, held_ticket, read_record
from standout.study.tokens import Role

router = APIRouter(prefix="/rate/{name}", include_in_schema=False)

CHOICE = 4
"""Tickets among which the item is looked for that a rater has not seen, or not for longest."""
MOST_CHOICE = 50
MOST_RATERS = 1000
"""Raters of a study that a process remembers; others are looked up again."""
YEAR = 365 * 86400
_PART = 500

Again = Annotated[bool, Field(description="Show skipped items again.")]


class Next(Body):
    """Ask for an item."""

    consent: bool = False
    again: Again = False


class Answer(Body):
    """An answer to the item of a ticket."""

    ticket: TicketNumber
    value: float
    again: Again = False


class Skip(Body):
    """Pass over an item."""

    ticket: TicketNumber
    reason: str = Field(default="", max_length=500)
    again: Again = False


class Leave(Body):
    """Stop rating for now."""

    ticket: TicketNumber | None = None
    again: Again = False


def _consent_cookie(name: str) -> str:
    return f"standout_consent_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


class Rater:
    """Whoever is rating: known by a random id that the browser keeps."""

    def __init__(self, request: Request, who: Identity, name: str) -> None:
        self._request, self._consent = request, _consent_cookie(name)
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
            response.set_cookie(
                key,
                value,
                max_age=YEAR,
                httponly=True,
                samesite="strict",
                secure=is_secure(self._request),
            )
        return response


async def image_sources(service: Service, who: Identity | None, name: str) -> str:
    """Where the pictures of a study's items come from; told only to those who may see them."""
    try:
        check(who, (Role.OWNER, Role.WORKER, Role.RATER), name)
    except ApiError:
        return "'self'"
    key = f"images {name}"
    if key not in service.cache:
        try:
            service.cache[key] = await service.threads.slow(_read_sources, service, name)
        except NoStudyError:
            return "'self'"
    found: str = service.cache[key]
    return found


def _read_sources(service: Service, name: str) -> str:
    study = service.shelf.reader(name)

    def addresses() -> Iterator[str]:
        # In parts: items may hold whole pictures.
        for start in range(0, len(study.arms), _PART):
            for item in study.items(study.arms[start : start + _PART]).values():
                if "image" in item:
                    yield item["image"]

    return image_policy(addresses())


@router.post("/next")
async def following(
    service: ServiceOf, who: Answerer, name: str, body: Next, request: Request
) -> Response:
    """What to show; the same item again until it is answered."""
    rater = Rater(request, who, name)
    if body.consent:
        rater.agree()

    def call() -> dict[str, Any]:
        study = service.shelf.writer(name)
        # Read anew: this rater may have been served by another process.
        record = _record(service, study, rater, is_new=True)
        return {**_show(service, study, rater, body.again), "answered": record.answers}

    content = await service.threads.write(name, call)
    if content["state"] == "consent":
        # Nothing is kept of someone who has not agreed.
        return answer(content)
    return rater.keep(answer(content))


@router.post("/answer")
async def answered(
    service: ServiceOf, who: Answerer, name: str, body: Answer, request: Request
) -> Response:
    """Take an answer, once, and say what to show next."""

    def call(study: Study, rater: Rater) -> bool:
        check_answer(study, body.value)
        try:
            return study.tell(body.ticket, body.value, worker=rater.worker).repeated == 0
        except ToldError:
            return False  # Answered before, with another button: the first answer holds.

    return await _act(service, who, name, request, body, call)


@router.post("/skip")
async def skip(
    service: ServiceOf, who: Answerer, name: str, body: Skip, request: Request
) -> Response:
    """Give an item back, and say what to show next."""

    def call(study: Study, rater: Rater) -> bool:
        reason = body.reason.strip()
        said = f"skipped: {reason}" if reason else "skipped"
        with suppress(ToldError):  # Answered in another window.
            study.fail(body.ticket, said, worker=rater.worker)
        return False

    return await _act(service, who, name, request, body, call)


@router.post("/leave")
async def leave(
    service: ServiceOf, who: Answerer, name: str, body: Leave, request: Request
) -> Response:
    """Let go of the item on the page, so that another rater gets it at once."""
    rater = Rater(request, who, name)

    def call() -> dict[str, Any]:
        study = service.shelf.writer(name)
        if body.ticket is not None and study.holder(body.ticket) == rater.worker:
            study.release([body.ticket])
        return {"state": "left", "end": (study.page or {}).get("end")}

    return answer(await service.threads.write(name, call))


async def _act(
    service: Service,
    who: Identity,
    name: str,
    request: Request,
    body: Answer | Skip,
    act: Callable[[Study, Rater], bool],
) -> Response:
    """Do something with the rater's own ticket, and say what to show next."""
    rater = Rater(request, who, name)

    def call() -> dict[str, Any]:
        study = service.shelf.writer(name)
        if study.holder(body.ticket) != rater.worker:
            raise ApiError(403, "this item was not given to you", code="not_yours")
        held = held_ticket(study, rater.worker)
        record = _record(service, study, rater)
        counted = act(study, rater)
        if held is not None and held.id == body.ticket:
            if isinstance(body, Skip):
                record.skipped.add(held.arm)
            elif counted:
                record.add(held.arm)
        return {**_show(service, study, rater, body.again), "counted": counted}

    return answer(await service.threads.write(name, call))


def _record(service: Service, study: Study, rater: Rater, *, is_new: bool = False) -> Record:
    """What the rater has done here, as far as this process knows."""
    kept: OrderedDict[str, Record] = service.cache.setdefault(f"raters {study.name}", OrderedDict())
    if is_new or rater.worker not in kept:
        kept[rater.worker] = Record() if rater.is_new else read_record(study, rater.worker)
        if len(kept) > MOST_RATERS:
            kept.popitem(last=False)
    kept.move_to_end(rater.worker)
    return kept[rater.worker]


def _show(service: Service, study: Study, rater: Rater, again: bool) -> dict[str, Any]:
    """What this rater is to see now."""
    page = study.page or {}
    if page.get("consent") and not rater.has_agreed:
        return {"state": "consent", "consent": page["consent"]}
    record = _record(service, study, rater)
    skipped = set() if again else record.skipped
    lease = min(study.lease, service.settings.rater_lease)
    ticket, has_passed = _hand_out(study, rater.worker, record, skipped, lease)
    if ticket is not None:
        item = study.items([ticket.arm]).get(ticket.arm) or {"text": ticket.arm}
        asked = question_of(study)
        return {"state": "item", "ticket": ticket.id, "item": item, "asked": asked}
    if study.is_stopped:
        return {"state": "end", "end": page.get("end")}
    return {"state": "skipped" if has_passed else "wait"}


def _hand_out(
    study: Study, worker: str, record: Record, skipped: set[str], lease: float
) -> tuple[Ticket | None, bool]:
    """The ticket that the rater has, or a new one, and whether only skipped items were left.

    The method may want several answers in a row to one item. One rater's would
    not be worth much, and look like a mistake: so the rater gets an item that is
    new to it, or else the one it saw longest ago, and the others go to whoever
    asks next.
    """
    held = held_ticket(study, worker)
    if held is not None:
        return held, False
    found = study.ask(1, worker=worker, lease=lease)
    if found and (found[0].arm in record.answered or found[0].arm in skipped):
        more = min(CHOICE + len(skipped), MOST_CHOICE)
        found += study.ask(more, worker=worker, lease=lease)
    fitting = [ticket for ticket in found if ticket.arm not in skipped]
    if not fitting:
        study.release(found)
        return None, bool(found)
    chosen = min(fitting, key=lambda ticket: record.answered.get(ticket.arm, 0))
    study.release([ticket for ticket in found if ticket is not chosen])
    return chosen, False
