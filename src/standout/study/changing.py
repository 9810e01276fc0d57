"""Changes by hand: other settings, a stop, a reward that was a mistake. Each is a step.

Why settings may change is said in `settings`. To make a reward void is another matter: it is
right if what was told is not what was measured (a slip of the pen, the wrong arm), found out by
other means than by how far off it looks. The reward stays in the log, the step says who took it
out and why, and what was really measured can be told in its place: then the arm has the very
sequence of rewards that it should have had, and the guarantee is whole. Who takes out what does
not please makes the arm's mean another one, and no interval covers that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from standout.errors import StudyError
from standout.results import Change, Ticket
from standout.study.log.chain import Kind, Logged, Step
from standout.study.log.counted_order import counted_sequences
from standout.study.settings import change_words
from standout.study.storage.database import Connection
from standout.study.storage.log import audit, reward_log, steps
from standout.study.storage.stored_study import StoredStudy
from standout.study.tickets import clean, ticket_id
from standout.study.transaction import Mark
from standout.text import plural, printable

NOTE = "note"
"""What a change is called that changes nothing: it was made for its reason's sake."""


class Hand(NamedTuple):
    """Who changes something, why, and the key that the change came with."""

    worker: str
    reason: str
    mark: Mark


def change_settings(
    connection: Connection, stored: StoredStudy, values: Mapping[str, Any], hand: Hand, now: float
) -> None:
    """Set what is given; the same again with the same key changes nothing."""
    request = _digest(values)
    if _was_done(connection, stored, hand, request):
        return
    progress = stored.progress
    settings = progress.settings.with_values(values, len(progress.arms))
    least = progress.totals.pulls + progress.out
    if settings.budget is not None and settings.budget < least:
        raise StudyError(
            f"a budget of {settings.budget:,} is less than the {plural(least, 'pull')} that are "
            f"told or out already; the least is {least:,}, or stop the study"
        )
    changed = settings.unlike(progress.settings)
    if not changed and not hand.mark.is_given:
        return
    step = _step(Kind.SET, stored, hand, request, now, {"set": changed})
    if changed:
        progress.adopt(settings)
        step.is_due = "tolerance" in changed
        progress.settle(step)
        progress.changes.is_wide = True
    steps.write(connection, stored, step)


def void(
    connection: Connection,
    stored: StoredStudy,
    place: int,
    value: float | None,
    hand: Hand,
    now: float,
) -> None:
    """Take the reward at a place of the log out of the totals, or put `value` in its place."""
    request = _digest({"void": place, "value": value})
    if _was_done(connection, stored, hand, request):
        return
    progress, key = stored.progress, stored.key
    arm = _arm_to_void(connection, stored, place)
    new = 0 if value is None else progress.totals.log + 1
    note = {"void": [[place, new]], "arms": [arm]}
    step = _step(Kind.VOID, stored, hand, request, now, note)
    if value is not None:
        step.rewards.append(Logged(arm, value + 0.0, None, None, True))
        step.detail = hand.worker
        row = (key, new, now, arm, value + 0.0, None, None, hand.worker, True)
        reward_log.add(connection, [row])
        progress.totals.log += 1
        progress.totals.pulls += 1
    sequences = counted_sequences(connection, key, [arm], progress.totals.steps, [(place, new)])
    progress.totals.pulls -= 1
    progress.revise({arm: [each for _, each in sequences[arm]]}, [place])
    step.is_due = True
    progress.settle(step)
    steps.write(connection, stored, step)


def place_of(connection: Connection, stored: StoredStudy, ticket: Ticket | int) -> int:
    """The place in the log of a ticket's reward; raises `StudyError` if it has none."""
    number = ticket_id(ticket)
    found = reward_log.place_of.first(connection, stored.key, number)
    if found is None:
        raise StudyError(f"ticket {number} has no reward in this study")
    return int(found[0])


def _arm_to_void(connection: Connection, stored: StoredStudy, place: int) -> int:
    """Whose reward stands at a place of the log; raises `StudyError` if it cannot be made void."""
    if audit.read_base(connection, stored.key) is not None:
        raise StudyError(
            "this study was begun by a version of standout that kept no steps, so that its rewards "
            "cannot be counted anew; export it, mend the file and begin a study with "
            "`standout analyse FILE --to PATH`"
        )
    found = reward_log.reward_at(connection, stored.key, place)
    if found is None:
        raise StudyError(f"there is no reward at place {place} of the log; `study export` has all")
    arm, _, is_counted = found
    if not is_counted:
        raise StudyError(f"the reward at place {place} came beyond the budget: it is in no total")
    if place in stored.progress.voided:
        raise StudyError(f"the reward at place {place} is void already")
    if place in reward_log.waiting_places.column(connection, stored.key):
        raise StudyError(
            f"the reward at place {place} waits for an earlier pull of its arm and is not counted "
            "yet; tell that pull or give it back first (`study status` says which)"
        )
    return arm


def read_changes(connection: Connection, stored: StoredStudy) -> list[Change]:
    """All that was changed by hand, oldest first."""
    settings, n_arms = stored.progress.begun, len(stored.progress.arms)
    changes = []
    for number, time, kind, text in steps.read_by_hand(connection, stored.key):
        note = json.loads(text)
        if kind in (Kind.PAUSE, Kind.RESUME):
            changes.append(_tending(stored, number, time, kind, *note))
            continue
        if kind == Kind.SET:
            after = settings.with_values(note["set"], n_arms)
            words, settings = change_words(settings, after), after
            if not note["set"]:
                changes.append(Change(number, time, NOTE, note["by"], note["why"], NOTE))
                continue
        else:
            words = "; ".join(_void_words(connection, stored, *pair) for pair in note["void"])
        name = Kind(kind).name.lower()
        changes.append(Change(number, time, name, note["by"], note["why"], words))
    return changes


def _tending(
    stored: StoredStudy, number: int, time: float, kind: int, arm: int, why: str = "", by: str = ""
) -> Change:
    """An arm that was paused or resumed; older versions kept neither who nor why it was resumed."""
    name = Kind(kind).name.lower()
    return Change(
        number, time, name, by or "unknown", why, f"{name}d {printable(stored.progress.arms[arm])}"
    )


def _void_words(connection: Connection, stored: StoredStudy, place: int, new: int) -> str:
    old = reward_log.reward_at(connection, stored.key, place)
    if old is None:
        return f"reward {place} void"
    words = f"reward {place} of {printable(stored.progress.arms[old[0]])}, {old[1]:g}, void"
    instead = reward_log.reward_at(connection, stored.key, new) if new else None
    return words if instead is None else f"{words}; {instead[1]:g} in its place (reward {new})"


def _step(
    kind: Kind, stored: StoredStudy, hand: Hand, request: bytes, now: float, note: Mapping[str, Any]
) -> Step:
    text = json.dumps({**note, "by": hand.worker, "why": clean(hand.reason)})
    first = stored.progress.totals.log + 1
    asked = request if hand.mark.is_given else None
    return Step(kind, now, key=hand.mark.key, request=asked, first=first, note=text)


def _was_done(connection: Connection, stored: StoredStudy, hand: Hand, request: bytes) -> bool:
    """Whether the same was asked with this key before; raises `KeyUsedError` if it was other."""
    asked = request if hand.mark.is_given else None
    return not hand.mark.is_new and steps.find(connection, stored, hand.mark.key, asked) is not None


def _digest(asked: Mapping[str, Any]) -> bytes:
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()[:16]
