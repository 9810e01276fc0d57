"""What a rater is to see now: consent, an item, or why there is none."""

from __future__ import annotations

from typing import Any

from standout.errors import StandoutError
from standout.service.rating.questions import question_of
from standout.service.rating.rater import Rater, may_hold_more
from standout.service.settings import Settings
from standout.study import Study, Ticket
from standout.study.raters import Record
from standout.study.transaction import Transaction

CHOICE = 4
"""Tickets among which the item is looked for that a rater has not seen, or not for longest."""
MOST_CHOICE = 50


def show(
    study: Study, rater: Rater, record: Record, settings: Settings, again: bool
) -> dict[str, Any]:
    """The page's next state; `again`: skipped items may come once more."""
    page = study.page or {}
    if page.get("consent") and not rater.has_agreed:
        return {"state": "consent", "consent": page["consent"]}
    skipped = set() if again else record.skipped
    ticket, has_passed = hand_out(study, rater, record, skipped, settings)
    if ticket is not None:
        item = study.items([ticket.arm]).get(ticket.arm) or {"text": ticket.arm}
        return {"state": "item", "ticket": ticket.id, "item": item, "asked": question_of(study)}
    if study.is_stopped:
        return {"state": "end", "end": page.get("end")}
    return {"state": "skipped" if has_passed else "wait"}


def hand_out(
    study: Study, rater: Rater, record: Record, skipped: set[str], settings: Settings
) -> tuple[Ticket | None, bool]:
    """The ticket that the rater has, or a new one, and whether only skipped items were left.

    The method may want several answers in a row to one item. One rater's would
    not be worth much, and look like a mistake: so the rater gets an item that is
    new to it, or else the one it saw longest ago, and the others go to whoever
    asks next. Where the raters of a token hold as much as they may, there is
    nothing for one more.
    """
    lease = min(study.lease, settings.rater_lease)
    worker = rater.worker

    def first(turn: Transaction) -> tuple[list[Ticket], bool]:
        held = turn.held(worker)
        if held or not may_hold_more(settings, turn, rater.who):
            return held, True
        return turn.ask(1, worker=worker, lease=lease), False

    (answer,) = study.together([first], 1)
    if isinstance(answer, StandoutError):
        raise answer
    found, is_all = answer
    if is_all:
        return (found[0] if found else None), False
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
