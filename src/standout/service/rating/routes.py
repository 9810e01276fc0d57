"""The rating page's own addresses: one item at a time, one answer per ticket.

Each returns what to show next in every case: an answer sent twice, a page loaded again and a second
window all get the same item.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from standout.errors import BatchError, NotYoursError, ToldError, TooLateError
from standout.results import Receipt
from standout.service.rating import next_item
from standout.service.rating.questions import check_answer
from standout.service.rating.rater import Rater, RaterOf, Record, told_when
from standout.service.schemas import Body, TicketNumber
from standout.service.security.auth import Answerer
from standout.service.service import Service, ServiceOf, answer
from standout.study import Study, Ticket
from standout.study.events.requests import Fail, Lease, Tell
from standout.study.queries import arm_of
from standout.study.queries import holder as holder_of
from standout.study.transaction import Transaction

router = APIRouter(prefix="/rate/{name}", include_in_schema=False)

CHANGE_SECONDS = 120.0
"""Seconds in which a rater may change an answer."""
CHANGED = "changed by the rater"
BACK_SECONDS = 10.0
"""Seconds for which the item of a closed page waits, in case the page was reloaded."""
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
    """Skip an item."""

    ticket: TicketNumber
    reason: str = Field(default="", max_length=500)
    again: Again = False


class Leave(Body):
    """Stop rating for now; `closes` if the page was closed and may come back."""

    ticket: TicketNumber | None = None
    closes: bool = False
    again: Again = False


Seen = tuple[str, Ticket | None]


async def _show(service: Service, name: str, seen: Seen, answers: int, **more: Any) -> Response:
    """The page's next state as an answer, for a rater with this many answers."""

    def look() -> dict[str, Any]:
        study = service.studies.reader(name)
        done = next_item.completion_of(study, answers, seen[0])
        return {**next_item.show(study, *seen), "completion": done, "answered": answers}

    return answer({**await service.queues.quick(look), **more})


@router.post("/next")
async def following(service: ServiceOf, rater: RaterOf, body: Next) -> Response:
    """The next step; the same item again until it is answered."""
    if body.consent:
        rater.agree()
    async with rater.turn(service):
        return await _following(service, rater, body)


async def _following(service: Service, rater: Rater, body: Next) -> Response:
    record = await rater.record(service, is_fresh=True)
    if not rater.has_agreed and await service.queues.quick(_asks_for_consent, service, rater.study):
        # Nothing is stored about a rater who has not agreed.
        return await _show(service, rater.study, ("consent", None), record.answers)
    rater.meet(service)

    def call(study: Study, turn: Transaction) -> Seen:
        skipped = set() if body.again else record.skipped
        return next_item.choose(study, turn, rater, record, service.settings, skipped)

    _, seen = await service.change(rater.study, call)
    rater.gets(service, seen[1])
    return rater.keep(await _show(service, rater.study, seen, record.answers))


def _asks_for_consent(service: Service, name: str) -> bool:
    return bool((service.studies.reader(name).page or {}).get("consent"))


@router.post("/answer")
async def answered(service: ServiceOf, rater: RaterOf, body: Answer) -> Response:
    """Record an answer, once, and return the next step."""

    def check_it() -> None:
        check_answer(service.studies.reader(rater.study), body.value)

    def tell(turn: Transaction, worker: str) -> Receipt:
        try:
            told = Tell([(body.ticket, body.value)], late="log")
            return turn.handle(told, worker).receipt
        except BatchError as error:
            if isinstance(error.__cause__, ToldError):
                return Receipt()  # Answered before with another button: the first answer stays.
            raise (error.__cause__ or error) from None

    await service.queues.quick(check_it)
    return await _act(service, rater, body, tell)


@router.post("/skip")
async def skip(service: ServiceOf, rater: RaterOf, body: Skip) -> Response:
    """Give an item back, and return the next step."""
    reason = body.reason.strip()

    def give_back(turn: Transaction, worker: str) -> Receipt:
        with suppress(ToldError):  # Answered in another window.
            why = f"skipped: {reason}" if reason else "skipped"
            turn.handle(Fail(body.ticket, why, pauses=False), worker)
        return Receipt()

    return await _act(service, rater, body, give_back)


Act = Callable[[Transaction, str], Receipt]


async def _act(service: Service, rater: Rater, body: Answer | Skip, act: Act) -> Response:
    """Act on the rater's own ticket and return the next step, in one transaction."""
    needs_consent = not rater.has_agreed and await service.queues.quick(
        _asks_for_consent, service, rater.study
    )
    async with rater.turn(service):
        record = await rater.record(service)

        def call(study: Study, turn: Transaction) -> tuple[Receipt, str, Seen]:
            holder = holder_of(turn.state, body.ticket) or rater.had(service, body.ticket)
            arm = arm_of(turn.state, body.ticket)
            if holder != rater.worker or arm is None:
                raise NotYoursError("this item was not assigned to you")
            if isinstance(body, Answer) and arm in record.answered:
                # Answered twice: one answer counts.
                turn.handle(Lease([body.ticket], 0.0), rater.worker)
                receipt = Receipt()
            else:
                receipt = act(turn, rater.worker)
            if needs_consent:
                return receipt, arm, ("consent", None)
            seen = deepcopy(record)
            _note(seen, body, arm, receipt)
            skipped = set() if body.again else seen.skipped
            chosen = next_item.choose(study, turn, rater, seen, service.settings, skipped)
            return receipt, arm, chosen

        _, (receipt, arm, seen) = await service.change(rater.study, call)
        _note(record, body, arm, receipt)  # Only now is it on disk.
        rater.gets(service, seen[1])
        counted = receipt.counted == 1
        return await _show(service, rater.study, seen, record.answers, counted=counted)


def _note(record: Record, body: Answer | Skip, arm: str, receipt: Receipt) -> None:
    """Add an answer to the rater's record, even if it came too late to count."""
    if isinstance(body, Skip):
        record.skipped.add(arm)
    elif receipt.counted or receipt.surplus:
        record.add(arm)


@router.post("/change")
async def change(service: ServiceOf, rater: RaterOf, body: Answer) -> Response:
    """Replace an answer just given, once; then as `next`.

    For typing errors: only the same rater may do it, and only for a short time. The first answer
    stays in the log, void; the new one takes its place.
    """

    def check_it() -> None:
        study = service.studies.reader(rater.study)
        check_answer(study, body.value)
        told = told_when(study, body.ticket)
        if told is None or told[1] != rater.worker:
            raise NotYoursError("this answer was not given by you")
        if told[0] > CHANGE_SECONDS:
            raise TooLateError(f"an answer can be changed for {CHANGE_SECONDS:.0f} seconds")
        if study.is_stopped:
            raise TooLateError("the study has ended: its answers stay as they are")

    def mend() -> None:
        service.studies.writer(rater.study).void(
            ticket=body.ticket, value=body.value, reason=CHANGED, worker=rater.worker
        )

    await service.queues.quick(check_it)
    await service.queues.write(mend)
    return await following(service, rater, Next(again=body.again))


@router.post("/pilot")
async def pilot(service: ServiceOf, who: Answerer, name: str) -> Response:
    """A random item to try the page with, without a ticket; answers are ignored."""

    def look() -> dict[str, Any]:
        study = service.studies.reader(name)
        return next_item.show(study, "item", Ticket(0, secrets.choice(study.arms)))

    return answer(await service.queues.quick(look))


@router.post("/leave")
async def leave(service: ServiceOf, rater: RaterOf, body: Leave) -> Response:
    """Give the item on the page back, so that another rater gets it at once."""

    def call(_: Study, turn: Transaction) -> None:
        if body.ticket is not None and holder_of(turn.state, body.ticket) == rater.worker:
            seconds = BACK_SECONDS if body.closes else 0.0
            turn.handle(Lease([body.ticket], seconds), rater.worker)

    def end() -> Any:
        return (service.studies.reader(rater.study).page or {}).get("end")

    await service.change(rater.study, call)
    return answer({"state": "left", "end": await service.queues.quick(end)})
