"""The rating page's own addresses: one item at a time, one answer per ticket.

Each answers with what to show next, whatever happened: an answer sent twice, a
page loaded again or a second window all come to the same item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from standout.errors import NoStudyError, NotYoursError, ToldError
from standout.service.answers import answer
from standout.service.errors import ApiError
from standout.service.rating import next_item
from standout.service.rating.questions import check_answer, image_policy
from standout.service.rating.rater import Rater
from standout.service.schemas import Body, TicketNumber
from standout.service.security.auth import Answerer, Identity, check
from standout.service.service import Service, ServiceOf
from standout.study import Study
from standout.study.raters import Record, held_ticket
from standout.study.storage.tokens import Role

router = APIRouter(prefix="/rate/{name}", include_in_schema=False)

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


async def image_sources(service: Service, who: Identity | None, name: str) -> str:
    """Where the pictures of a study's items come from; told only to those who may see them."""
    try:
        check(who, (Role.OWNER, Role.WORKER, Role.RATER), name)
    except ApiError:
        return "'self'"
    found = service.cache.images.get(name)
    if found is None:
        try:
            found = await service.queues.slow(_read_sources, service, name)
        except NoStudyError:
            return "'self'"
        service.cache.images[name] = found
    return found


def _read_sources(service: Service, name: str) -> str:
    study = service.studies.reader(name)

    def addresses() -> Iterator[str]:
        # In parts: items may hold whole pictures.
        for start in range(0, len(study.arms), _PART):
            for item in study.items(study.arms[start : start + _PART]).values():
                if "image" in item:
                    yield item["image"]

    return image_policy(addresses())


def _show(
    service: Service, study: Study, rater: Rater, record: Record, again: bool
) -> dict[str, Any]:
    return next_item.show(study, rater, record, service.settings, again)


@router.post("/next")
async def following(
    service: ServiceOf, who: Answerer, name: str, body: Next, request: Request
) -> Response:
    """What to show; the same item again until it is answered."""
    rater = Rater(request, who, name)
    if body.consent:
        rater.agree()
    record = await rater.record(service, is_fresh=True)

    def call() -> dict[str, Any]:
        shown = _show(service, service.studies.writer(name), rater, record, body.again)
        return {**shown, "answered": record.answers}

    content = await service.queues.write(name, call)
    if content["state"] == "consent":
        # Nothing is kept of someone who has not agreed.
        return answer(content)
    return rater.keep(answer(content))


@router.post("/answer")
async def answered(
    service: ServiceOf, who: Answerer, name: str, body: Answer, request: Request
) -> Response:
    """Take an answer, once, and say what to show next."""

    def call(study: Study, worker: str) -> bool:
        check_answer(study, body.value)
        try:
            return study.tell(body.ticket, body.value, worker=worker).repeated == 0
        except ToldError:
            return False  # Answered before, with another button: the first answer holds.

    return await _act(service, Rater(request, who, name), body, call)


@router.post("/skip")
async def skip(
    service: ServiceOf, who: Answerer, name: str, body: Skip, request: Request
) -> Response:
    """Give an item back, and say what to show next."""
    reason = body.reason.strip()

    def call(study: Study, worker: str) -> bool:
        with suppress(ToldError):  # Answered in another window.
            study.fail(body.ticket, f"skipped: {reason}" if reason else "skipped", worker=worker)
        return False

    return await _act(service, Rater(request, who, name), body, call)


async def _act(
    service: Service, rater: Rater, body: Answer | Skip, act: Callable[[Study, str], bool]
) -> Response:
    """Do something with the rater's own ticket, and say what to show next."""
    record = await rater.record(service)

    def call() -> dict[str, Any]:
        study = service.studies.writer(rater.study)
        if study.holder(body.ticket) != rater.worker:
            raise NotYoursError("this item was not given to you")
        held = held_ticket(study, rater.worker)
        counted = act(study, rater.worker)
        if held is not None and held.id == body.ticket:
            if isinstance(body, Skip):
                record.skipped.add(held.arm)
            elif counted:
                record.add(held.arm)
        return {**_show(service, study, rater, record, body.again), "counted": counted}

    return answer(await service.queues.write(rater.study, call))


@router.post("/leave")
async def leave(
    service: ServiceOf, who: Answerer, name: str, body: Leave, request: Request
) -> Response:
    """Give the item on the page back, so that another rater gets it at once."""
    rater = Rater(request, who, name)

    def call() -> dict[str, Any]:
        study = service.studies.writer(name)
        if body.ticket is not None and study.holder(body.ticket) == rater.worker:
            study.release([body.ticket])
        return {"state": "left", "end": (study.page or {}).get("end")}

    return answer(await service.queues.write(name, call))
