"""The next step of a rater: consent, an item, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import Any

from standout.service.rating.questions import question_of
from standout.service.rating.rater import Rater, Record, may_hold_more
from standout.service.settings import Settings
from standout.study import Study, Ticket, queries
from standout.study.events.requests import Ask
from standout.study.transaction import Transaction


def choose(
    study: Study,
    turn: Transaction,
    rater: Rater,
    record: Record,
    settings: Settings,
    skipped: set[str],
) -> tuple[str, Ticket | None]:
    """The next step of the page, and the ticket of an item.

    The step is `item`, `skipped` (such items may be left), `done` (the rater has answered
    everything for now), `wait` or `end`. The ticket is the rater's current one, or a new one for an
    arm that the rater has not answered. The guarantee needs independent answers to an item, and one
    person's are not; the arm's pulls stay for others.
    """
    if study.is_stopped:
        return "end", None
    if held := queries.held_by(turn.state, rater.worker, turn.moment):
        return "item", held[0]
    if not may_hold_more(settings, turn, rater.who):
        return "wait", None
    lease = min(study.lease, settings.rater_lease)
    refused = skipped | record.answered.keys()
    asked = turn.handle(Ask(1, lease, avoid=refused), rater.worker).asked
    if asked.tickets:
        return "item", asked.tickets[0]
    return _why_none(asked.avoided, record.answered), None


def _why_none(avoided: Collection[str], answered: Container[str]) -> str:
    """Why a rater gets no item, if these arms came up."""
    if not avoided:
        return "wait"
    return "done" if all(arm in answered for arm in avoided) else "skipped"


def show(study: Study, state: str, ticket: Ticket | None) -> dict[str, Any]:
    """The page's next state in full."""
    page = study.page or {}
    if state == "consent":
        return {"state": state, "consent": page["consent"]}
    if ticket is not None:
        item = study.items([ticket.arm]).get(ticket.arm) or {"text": ticket.arm}
        return {"state": state, "ticket": ticket.id, "item": item, "asked": question_of(study)}
    return {"state": state, "end": page.get("end")} if state == "end" else {"state": state}


def completion_of(study: Study, answers: int, state: str) -> dict[str, Any] | None:
    """The completion link or code for a panel, once the rater has earned it.

    It is earned by the required number of answers, or by all that the study has for this rater.
    """
    completion = (study.page or {}).get("completion")
    if completion is None or answers == 0:
        return None
    if answers < completion["after"] and state not in ("end", "done"):
        return None
    return {"url": completion.get("url"), "code": completion.get("code")}
