"""Asking and telling.

Telling the same ticket twice with the same value is harmless and gives the same
next tickets; another value is refused.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from standout.service.auth import Answerer, Identity, Measurer, Reader
from standout.service.errors import ApiError
from standout.service.plain import answer
from standout.service.routes import sent
from standout.service.schemas_measure import (
    Ask,
    Done,
    Fail,
    Pause,
    PendingList,
    Release,
    Renew,
    Resume,
    Reward,
    Tell,
    Tickets,
    Told,
)
from standout.service.service import Service, ServiceOf
from standout.service.shelf import Shelf
from standout.study import Study, Ticket
from standout.study.telling import Receipt
from standout.study.tokens import Role

router = APIRouter(prefix="/studies/{name}", tags=["measuring"])


def _worker(who: Identity, given: str | None) -> str:
    """A rater is who it is; others may say who measures."""
    return who.name if who.role is Role.RATER or not given else given


def _known(who: Identity, given: list[int] | None) -> list[int] | None:
    """A rater has one ticket at a time: the one it has comes again."""
    return [] if who.role is Role.RATER else given


def _lease(service: Service, study: Study, who: Identity, given: float | None) -> float | None:
    """Raters leave without a word: what they hold is soon free again."""
    if who.role is not Role.RATER:
        return given
    return min(given or study.lease, study.lease, service.settings.rater_lease)


def _check_own(study: Study, who: Identity, tickets: list[int | None]) -> None:
    """A rater answers what it was handed, nothing else."""
    if who.role is not Role.RATER:
        return
    for ticket in tickets:
        if ticket is None or study.holder(ticket) != who.name:
            raise ApiError(403, "raters answer only the tickets that they were given")


def _tickets(study: Study, tickets: list[Ticket], with_items: bool) -> list[dict[str, Any]]:
    items = study.items({ticket.arm for ticket in tickets}) if with_items and tickets else {}
    return [
        {
            "ticket": ticket.id,
            "arm": ticket.arm,
            "expires": ticket.expires,
            **({"item": items.get(ticket.arm)} if with_items else {}),
        }
        for ticket in tickets
    ]


@router.post("/ask", responses=sent(Tickets, "Pulls to measure, or none."))
async def ask(service: ServiceOf, who: Answerer, name: str, body: Ask) -> Response:
    """Ask for pulls to measure; a rater gets one at a time."""
    return await service.threads.write(name, _ask, service, name, body, who)


def _ask(service: Service, name: str, body: Ask, who: Identity) -> Response:
    study = service.shelf.writer(name)
    found = study.ask(
        1 if who.role is Role.RATER else body.n,
        worker=_worker(who, body.worker),
        lease=_lease(service, study, who, body.lease),
        known=_known(who, body.known),
    )
    content = {"tickets": _tickets(study, found, body.items), "stopped": study.is_stopped}
    return answer(content)


@router.post("/tell", responses=sent(Told, "The rewards are on disk."))
async def tell(service: ServiceOf, who: Answerer, name: str, body: Tell) -> Response:
    """Tell rewards, and ask for the next pulls in the same request if wanted."""
    return await service.threads.write(name, _tell, service, name, body, who)


def _key(reward: Reward) -> Ticket | int | str:
    if reward.ticket is None:
        return str(reward.arm)
    return reward.ticket if reward.arm is None else Ticket(reward.ticket, reward.arm)


def _tell(service: Service, name: str, body: Tell, who: Identity) -> Response:
    study = service.shelf.writer(name)
    _check_own(study, who, [reward.ticket for reward in body.rewards])
    worker = _worker(who, body.worker)
    pairs = [(_key(reward), reward.reward) for reward in body.rewards]
    found: list[Ticket] = []
    receipt: Receipt
    if body.ask:
        receipt, found = study.tell_and_ask(
            pairs,
            1 if who.role is Role.RATER else body.ask,
            worker=worker,
            lease=_lease(service, study, who, body.lease),
            known=_known(who, body.known),
        )
    else:
        receipt = study.tell_many(pairs, worker=worker)
    content = {
        **asdict(receipt),
        "tickets": _tickets(study, found, body.items),
        "stopped": study.is_stopped,
    }
    return answer(content)


@router.post("/fail", responses=sent(Done))
async def fail(service: ServiceOf, who: Answerer, name: str, body: Fail) -> Response:
    """Give a ticket back without a reward; its pull is handed out again."""
    return await service.threads.write(name, _fail, service.shelf, name, body, who)


def _fail(shelf: Shelf, name: str, body: Fail, who: Identity) -> Response:
    study = shelf.writer(name)
    _check_own(study, who, [body.ticket])
    study.fail(body.ticket, body.reason, worker=_worker(who, body.worker))
    return answer({"done": True})


@router.get("/pending", responses=sent(PendingList, "The tickets that are out."))
async def pending(service: ServiceOf, who: Reader, name: str) -> Response:
    """The tickets that are out, with whom and until when."""
    found = await service.threads.look(lambda: service.shelf.reader(name).pending())
    return answer({"pending": [asdict(one) for one in found]})


@router.post("/renew", responses=sent(Done))
async def renew(service: ServiceOf, who: Measurer, name: str, body: Renew) -> Response:
    """Begin the leases of pending tickets anew."""

    def call() -> None:
        service.shelf.writer(name).renew(body.tickets, body.lease)

    await service.threads.write(name, call)
    return answer({"done": True})


@router.post("/release", responses=sent(Done))
async def release(service: ServiceOf, who: Measurer, name: str, body: Release) -> Response:
    """End the leases of pending tickets now: the next to ask gets their pulls."""
    await service.threads.write(name, lambda: service.shelf.writer(name).release(body.tickets))
    return answer({"done": True})


@router.post("/pause", responses=sent(Done))
async def pause(service: ServiceOf, who: Measurer, name: str, body: Pause) -> Response:
    """Hand out no more pulls of an arm."""
    await service.threads.write(
        name, lambda: service.shelf.writer(name).pause(body.arm, body.reason)
    )
    return answer({"done": True})


@router.post("/resume", responses=sent(Done))
async def resume(service: ServiceOf, who: Measurer, name: str, body: Resume) -> Response:
    """Hand out pulls of a paused arm again."""
    await service.threads.write(name, lambda: service.shelf.writer(name).resume(body.arm))
    return answer({"done": True})
