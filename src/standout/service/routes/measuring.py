"""Asking and telling, for workers and owners; raters use the addresses of the rating page.

A repeated telling of a ticket with the same value, or of anything with the same key, is harmless
and returns the same next tickets; another value is refused.
"""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import Response

from standout.analysis.begin_study import tell_table
from standout.results import PendingList, Receipt, Tickets, Told
from standout.service.answers import sent
from standout.service.errors import ApiError
from standout.service.past import read_past
from standout.service.schemas import (
    Ask,
    Asking,
    Done,
    Fail,
    PastRewards,
    Pause,
    Release,
    Renew,
    Resume,
    Reward,
    Tell,
)
from standout.service.security.auth import Measurer, Owner, Reader
from standout.service.service import Service, ServiceOf, answer
from standout.study import Study, Ticket
from standout.study.events import requests
from standout.study.events.requests import Asked
from standout.study.transaction import Transaction, behind_commit

router = APIRouter(prefix="/studies/{name}", tags=["measuring"])


async def _tickets(
    service: Service, name: str, tickets: tuple[Ticket, ...], with_items: bool
) -> tuple[Ticket, ...]:
    """The tickets, with the items of their arms if requested."""
    if not with_items or not tickets:
        return tickets
    arms = {ticket.arm for ticket in tickets}
    with behind_commit():
        items = await service.queues.quick(lambda: service.studies.reader(name).items(arms))
    return tuple(replace(ticket, item=items.get(ticket.arm)) for ticket in tickets)


@router.post("/ask", responses=sent(Tickets, "Pulls to measure, or none."))
async def ask(service: ServiceOf, who: Measurer, name: str, body: Ask) -> Response:
    """Ask for pulls to measure.

    An empty list with `stopped` false means that every useful pull is out; the first lease ends in
    `wait` seconds.
    """
    wanted, by = _asking(body, body.n), who.signs(body.worker)

    def request(study: Study, turn: Transaction) -> tuple[Asked, float]:
        return turn.handle(wanted, by).asked, turn.moment

    study, (asked, now) = await service.change(name, request)
    listed = await _tickets(service, name, asked.tickets, body.items)
    wait = 0.0 if asked.free_at is None else max(0.0, asked.free_at - now)
    return answer(Tickets(listed, study.memory.state.is_stopped, wait))


def _asking(body: Asking, count: int) -> requests.Ask:
    return requests.Ask(count, body.lease, body.known)


def _key(reward: Reward) -> Ticket | int | str:
    if reward.ticket is None:
        if reward.arm is None:
            raise ApiError(422, "name the ticket or the arm")
        return reward.arm
    return reward.ticket if reward.arm is None else Ticket(reward.ticket, reward.arm)


@router.post("/tell", responses=sent(Told, "The rewards are on disk."))
async def tell(service: ServiceOf, who: Measurer, name: str, body: Tell) -> Response:
    """Tell rewards and, if wanted, ask for the next pulls in the same request."""
    rewards = requests.Tell([(_key(reward), reward.reward) for reward in body.rewards])
    wanted = requests.TellAndAsk(rewards, _asking(body, body.ask)) if body.ask else rewards
    by = who.signs(body.worker)
    study, told = await service.change(name, lambda _, turn: turn.handle(wanted, by, body.key))
    listed = await _tickets(service, name, told.asked.tickets, body.items)
    return answer(Told(**vars(told.receipt), tickets=listed, stopped=study.memory.state.is_stopped))


@router.post("/table", responses=sent(Receipt, "The rewards are on disk."))
async def table(service: ServiceOf, who: Owner, name: str, body: PastRewards) -> Response:
    """Tell all rewards of a table, or none; a repeated table counts once.

    The guarantee holds if the table has every reward of its arms, and if the selection of rewards
    does not depend on their values.
    """
    by = who.signs(body.worker)

    def change() -> Response:
        data, key = read_past(body)
        return answer(tell_table(service.studies.writer(name), data, body.label, key, by))

    return await service.queues.write(change)


@router.post("/fail", responses=sent(Done))
async def fail(service: ServiceOf, who: Measurer, name: str, body: Fail) -> Response:
    """Give a ticket back without a reward; its pull is handed out again."""
    given, by = requests.Fail(body.ticket, body.reason), who.signs(body.worker)
    await service.change(name, lambda _, turn: turn.handle(given, by))
    return answer({"done": True})


@router.get("/pending", responses=sent(PendingList, "The tickets that are out."))
async def pending(service: ServiceOf, who: Reader, name: str) -> Response:
    """The tickets that are out, with their workers and leases."""
    return await service.look(name, lambda study: PendingList(tuple(study.pending())))


@router.post("/renew", responses=sent(Done))
async def renew(service: ServiceOf, who: Measurer, name: str, body: Renew) -> Response:
    """Start the leases of pending tickets again."""
    return await service.write(name, lambda study: study.renew(body.tickets, body.lease))


@router.post("/release", responses=sent(Done))
async def release(service: ServiceOf, who: Measurer, name: str, body: Release) -> Response:
    """End the leases of pending tickets now, so that the next worker gets their pulls."""
    return await service.write(name, lambda study: study.release(body.tickets))


@router.post("/pause", responses=sent(Done))
async def pause(service: ServiceOf, who: Measurer, name: str, body: Pause) -> Response:
    """Hand out no more pulls of an arm; `changes` has who paused it and why."""
    by = who.signs(body.worker)
    return await service.write(name, lambda study: study.pause(body.arm, body.reason, worker=by))


@router.post("/resume", responses=sent(Done))
async def resume(service: ServiceOf, who: Measurer, name: str, body: Resume) -> Response:
    """Hand out pulls of a paused arm again."""
    by = who.signs(body.worker)
    return await service.write(name, lambda study: study.resume(body.arm, body.reason, worker=by))
