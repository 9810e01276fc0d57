"""Changes by hand: pauses, other settings, a stop, a reward that was a mistake, a note.

Why settings may change is said in `standout.study.settings`. To make a reward void is another
matter: it is right if what was told is not what was measured (a slip of the pen, the wrong arm),
found out by other means than by how far off it looks. The reward stays in the ledger, the event
says who took it out and why, and what was really measured can be told in its place: then the arm
has the very sequence of rewards that it should have had, and the guarantee is whole. Who takes out
what does not please makes the arm's mean another one, and no interval covers that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standout.results import Change, StopReason
from standout.study.events.asking import pause_arm
from standout.study.events.ledger import RewardStatus
from standout.study.events.recount import forget_alternatives, recount, withdraw
from standout.study.events.settle import At, Outcome, settle
from standout.study.events.state import StudyState
from standout.study.settings import Settings, change_words
from standout.text import printable

NOTE = "note"
"""What a change is called that changes nothing: it was made for its reason's sake."""


def _keep(state: StudyState, at: At, kind: str, reason: str, words: str) -> None:
    state.changes.append(Change(at.number, at.time, kind, at.worker, reason, words))


def pause(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Hand out no more pulls of an arm."""
    outcome, arm, why = Outcome(), content["arm"], content.get("reason", "")
    outcome.is_due = pause_arm(state, arm, why)
    _keep(state, at, "pause", why, f"paused {printable(state.arms[arm])}")
    settle(state, at, outcome)
    return outcome


def resume(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Hand out pulls of a paused arm again, and forget its failures in a row."""
    arm = content["arm"]
    state.paused.pop(arm, None)
    state.streak[arm] = 0
    state.touch(arm)
    words = f"resumed {printable(state.arms[arm])}"
    _keep(state, at, "resume", content.get("reason", ""), words)
    return Outcome()


def change_settings(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Go by other settings."""
    outcome, before = Outcome(), state.settings
    settings = before.with_values(content["set"], len(state.arms))
    words = change_words(before, settings)
    _keep(state, at, "set", content.get("reason", ""), words)
    if settings == before:
        return outcome
    adopt(state, settings)
    outcome.is_due = settings.tolerance != before.tolerance
    outcome.is_by_hand = True
    settle(state, at, outcome)
    state.touch_all()
    return outcome


def adopt(state: StudyState, settings: Settings) -> None:
    """Change the settings; `settle` then says what follows.

    Verdicts of a larger tolerance are withdrawn, and those that still hold come again.
    """
    before = state.settings.tolerance
    state.use(settings)
    state.look = None
    if settings.tolerance != before:
        forget_alternatives(state)
    if settings.tolerance < before:
        withdraw(state)
    elif state.reason is StopReason.DECIDED:
        return
    state.reason, state.stopped_at = StopReason.RUNNING, None


def void(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Take a reward out of the totals, or put another value in its place."""
    outcome, ledger, place = Outcome(), state.ledger, content["place"]
    arm = ledger.arm.item(place - 1)
    words = f"reward {place} of {printable(state.arms[arm])}, {ledger.value[place - 1]:g}, void"
    new = None
    if content.get("value") is not None:
        code, value = ledger.code_of(at.worker), content["value"]
        new = ledger.add(at.time, arm, value, 0, code, at.number, RewardStatus.COUNTED)
        words += f"; {value:g} in its place (reward {new})"
    else:
        state.totals.pulls -= 1
    ledger.replace(place, new)
    state.voided.add(place)
    recount(state, arm)
    state.reason, state.stopped_at, state.look = StopReason.RUNNING, None, None
    _keep(state, at, "void", content.get("reason", ""), words)
    outcome.is_due = outcome.is_by_hand = True
    settle(state, at, outcome)
    return outcome


def note(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Keep a text."""
    _keep(state, at, NOTE, content["text"], NOTE)
    return Outcome()


def look(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """The chances were looked at: if they promise what was asked for, the study ends."""
    outcome = Outcome(is_promised=content["excess"] is not None and content["excess"] <= 1.0)
    state.look = None
    settle(state, at, outcome)
    return outcome
