"""What a rater is to see now: consent, an item, or why there is none."""

from __future__ import annotations

from typing import Any

from standout.service.rating.questions import question_of
from standout.service.rating.rater import Rater, may_hold_more
from standout.service.settings import Settings
from standout.study import Study, Ticket
from standout.study.rating.rater import Record
from standout.study.transaction import Transaction

CHOICE = 4
"""Tickets among which the item is looked for that a rater has not seen, or not for longest."""
MOST_CHOICE = 50


def choose(
    study: Study,
    turn: Transaction,
    rater: Rater,
    record: Record,
    settings: Settings,
    skipped: set[str],
) -> tuple[str, Ticket | None]:
    """What the page comes to (`item`, `skipped`, `wait` or `end`), and the ticket of an item.

    That is the ticket that the rater has, or a new one. The method may want
    several answers in a row to one item. One rater's would
    not be worth much, and look like a mistake: so the rater gets an item that is
    new to it, or else the one it saw longest ago, and the others go to whoever
    asks next. Where the raters of a token hold as much as they may, there is
    nothing for one more.
    """
    if held := turn.held(rater.worker):
        return "item", held[0]
    found: list[Ticket] = []
    if may_hold_more(settings, turn, rater.who):
        lease = min(study.lease, settings.rater_lease)
        found = turn.ask(1, worker=rater.worker, lease=lease)
        if found and (found[0].arm in record.answered or found[0].arm in skipped):
            more = min(CHOICE + len(skipped), MOST_CHOICE)
            found += turn.ask(more, worker=rater.worker, lease=lease)
    fitting = [ticket for ticket in found if ticket.arm not in skipped]
    chosen = min(fitting, key=lambda one: record.answered.get(one.arm, 0), default=None)
    turn.release([ticket for ticket in found if ticket is not chosen])
    if chosen is not None:
        return "item", chosen
    if study.is_stopped:
        return "end", None
    return ("skipped" if found else "wait"), None


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
    """How a panel hears that a rater is done, once that is so: no code before it is earned."""
    found = (study.page or {}).get("completion")
    if found is None or (answers < found["after"] and (state != "end" or answers == 0)):
        return None
    return {"url": found.get("url"), "code": found.get("code")}
