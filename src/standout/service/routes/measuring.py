"""Asking and telling.

Telling the same ticket twice with the same value, or anything twice with the
same key, is harmless and gives the same next tickets; another value is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import APIRouter
from starlette.responses import Response

from standout.errors import NotYoursError
from standout.results import PendingList, Receipt, Tickets, Told
from standout.service.answers import answer, sent
from standout.service.long_bodies import LongRoute, check_rewards
from standout.service.rating.rater import may_hold_more
from standout.service.schemas import (
    MANY,
    Ask,
    Done,
    Fail,
    Pause,
    Release,
    Renew,
    Resume,
    Reward,
    Tell,
)
from standout.service.security.auth import Answerer, Identity, Measurer, Reader
from standout.service.service import Service, ServiceOf
from standout.study import Study, Ticket
from standout.study.storage.old_tokens import Role
from standout.study.transaction import Mark, Transaction, behind_commit

router = APIRouter(prefix="/studies/{name}", tags=["measuring"], route_class=LongRoute)


def _worker(who: Identity, given: str | None) -> str:
    """A rater is who it is; others may say who measures."""
    return who.name if who.role is Role.RATER or not given else given


def _lease(service: Service, study: Study, who: Identity, given: float | None) -> float | None:
    """Raters leave without a word: what they hold is soon free again."""
    if who.role is not Role.RATER:
        return given
    return min(given or study.lease, study.lease, service.settings.rater_lease)


def _one(service: Service, turn: Transaction, who: Identity, lease: float | None) -> list[Ticket]:
    """A rater's one ticket: the one it has comes again; a new one if its token has room."""
    held = turn.held(who.name)
    if held or not may_hold_more(service.settings, turn, who):
        return held
    return turn.ask(1, worker=who.name, lease=lease)


def _check_own(turn: Transaction, who: Identity, tickets: Sequence[int | None]) -> None:
    """A rater answers what it was handed, nothing else."""
    if who.role is not Role.RATER:
        return
    for ticket in tickets:
        if ticket is None or turn.holder(ticket) != who.name:
            raise NotYoursError("raters answer only the tickets that they were given")


async def _tickets(
    service: Service, name: str, tickets: list[Ticket], with_items: bool
) -> tuple[Ticket, ...]:
    """The tickets, with what to show for their arms if that is wanted."""
    if not with_items or not tickets:
        return tuple(tickets)
    arms = {ticket.arm for ticket in tickets}
    with behind_commit():
        items = await service.queues.quick(lambda: service.studies.reader(name).items(arms))
    return tuple(replace(ticket, item=items.get(ticket.arm)) for ticket in tickets)


@router.post("/ask", responses=sent(Tickets, "Pulls to measure, or none."))
async def ask(service: ServiceOf, who: Answerer, name: str, body: Ask) -> Response:
    """Ask for pulls to measure; a rater gets one at a time."""
    count = 1 if who.role is Role.RATER else body.n

    def request(study: Study, turn: Transaction) -> list[Ticket]:
        lease = _lease(service, study, who, body.lease)
        if who.role is Role.RATER:
            return _one(service, turn, who, lease)
        return turn.ask(count, worker=_worker(who, body.worker), lease=lease, known=body.known)

    study, found = await service.change(name, request, count)
    listed = await _tickets(service, name, found, body.items)
    return answer(Tickets(listed, study.is_stopped))


def _key(reward: Reward) -> Ticket | int | str:
    if reward.ticket is None:
        return str(reward.arm)
    return reward.ticket if reward.arm is None else Ticket(reward.ticket, reward.arm)


@router.post("/tell", responses=sent(Told, "The rewards are on disk."))
async def tell(service: ServiceOf, who: Answerer, name: str, body: Tell) -> Response:
    """Tell rewards, and ask for the next pulls in the same request if wanted."""
    rewards = body.rewards
    if len(rewards) > MANY:
        rewards = await service.queues.quick(check_rewards, rewards)
    pairs = [(_key(reward), reward.reward) for reward in rewards]
    worker = _worker(who, body.worker)
    count = min(body.ask, 1) if who.role is Role.RATER else body.ask
    mark = Mark.of(body.key)

    def request(study: Study, turn: Transaction) -> tuple[Receipt, list[Ticket]]:
        _check_own(turn, who, [reward.ticket for reward in rewards])
        if not count:
            return turn.tell_many(pairs, worker=worker, mark=mark), []
        lease = _lease(service, study, who, body.lease)
        if who.role is Role.RATER:
            told = turn.tell_many(pairs, worker=worker, mark=mark)
            return told, _one(service, turn, who, lease)
        return turn.tell_and_ask(
            pairs, count, worker=worker, lease=lease, known=body.known, mark=mark
        )

    # A plate has a look of its own.
    single = [
        reward.ticket for reward in rewards if reward.ticket is not None and len(rewards) == 1
    ]
    study, (receipt, found) = await service.change(name, request, len(pairs) + count, single)
    listed = await _tickets(service, name, found, body.items)
    return answer(Told(**vars(receipt), tickets=listed, stopped=study.is_stopped))


@router.post("/fail", responses=sent(Done))
async def fail(service: ServiceOf, who: Answerer, name: str, body: Fail) -> Response:
    """Give a ticket back without a reward; its pull is handed out again."""

    def request(study: Study, turn: Transaction) -> None:
        _check_own(turn, who, [body.ticket])
        turn.fail(body.ticket, body.reason, worker=_worker(who, body.worker))

    await service.change(name, request)
    return answer({"done": True})


@router.get("/pending", responses=sent(PendingList, "The tickets that are out."))
async def pending(service: ServiceOf, who: Reader, name: str) -> Response:
    """The tickets that are out, with whom and until when."""
    return await service.look(name, lambda study: PendingList(tuple(study.pending())))


@router.post("/renew", responses=sent(Done))
async def renew(service: ServiceOf, who: Measurer, name: str, body: Renew) -> Response:
    """Begin the leases of pending tickets anew."""
    return await service.write(name, lambda study: study.renew(body.tickets, body.lease))


@router.post("/release", responses=sent(Done))
async def release(service: ServiceOf, who: Measurer, name: str, body: Release) -> Response:
    """End the leases of pending tickets now: the next to ask gets their pulls."""
    return await service.write(name, lambda study: study.release(body.tickets))


@router.post("/pause", responses=sent(Done))
async def pause(service: ServiceOf, who: Measurer, name: str, body: Pause) -> Response:
    """Hand out no more pulls of an arm; who did so and why is in `changes`."""
    by = _worker(who, body.worker)
    return await service.write(name, lambda study: study.pause(body.arm, body.reason, worker=by))


@router.post("/resume", responses=sent(Done))
async def resume(service: ServiceOf, who: Measurer, name: str, body: Resume) -> Response:
    """Hand out pulls of a paused arm again."""
    by = _worker(who, body.worker)
    return await service.write(name, lambda study: study.resume(body.arm, body.reason, worker=by))
