"""From events to the state of a study: the same events always give the same state.

Each event says what came of it. That is worked out anew here, and has to be the same: so an event
that was edited, left out, put in or moved is found, and so is one whose verdicts do not follow.
"""

from __future__ import annotations

import json
from typing import Any

from standout.errors import DamagedError, StandoutError
from standout.study.events.definition import Definition
from standout.study.events.event import NO_DIGEST, Event, Kind, digest_of
from standout.study.events.planner import RecordedPlans
from standout.study.events.rules import apply, check
from standout.study.events.settle import At
from standout.study.events.state import StudyState

OUTCOME = "came"
"""Where the content of an event has what came of it."""
_decode = json.JSONDecoder().decode
_WRONG = (StandoutError, ValueError, TypeError, LookupError, AttributeError, OverflowError)


def begin(event: Event) -> StudyState:
    """The state of a study after its first event; raises `DamagedError` if that is none."""
    _check_digest(event, 0, NO_DIGEST)
    if event.kind != Kind.CREATED:
        raise DamagedError(f"a study begins with an event that creates it, not {_named(event)}")
    try:
        return StudyState(Definition.from_body(content_of(event)), 0, event.digest)
    except DamagedError:
        raise
    except _WRONG as error:
        raise DamagedError(f"{_named(event)} cannot be read ({error})") from None


def fold(state: StudyState, event: Event) -> None:
    """Let the next event happen to a state.

    Raises `DamagedError` for one that does not follow from those before it; the state is
    of no use then.
    """
    _check_digest(event, state.number + 1, state.head)
    try:
        content = content_of(event)
        kind = Kind(event.kind)
        check(state, kind, content)
        plans = RecordedPlans(state, content)
        at = At(event.number, event.time, event.worker)
        came = apply(state, kind, at, content, plans).to_body()
        plans.adopt_schedule()
    except _WRONG as error:
        raise DamagedError(f"{_named(event)} cannot have happened ({error})") from None
    if came != content.get(OUTCOME, {}):
        raise DamagedError(f"{_named(event)}: what came of it does not follow from the rewards")
    state.number, state.head = event.number, event.digest


def content_of(event: Event) -> dict[str, Any]:
    """What an event says; raises `ValueError` for one that says nothing."""
    content = _decode(event.body)
    if not isinstance(content, dict):
        raise ValueError("an event has no content")
    return content


def _check_digest(event: Event, number: int, before: bytes) -> None:
    if event.number != number:
        raise DamagedError(f"event {number} is missing: {_named(event)} comes in its place")
    found = digest_of(before, number, event.time, event.kind, event.worker, event.key, event.body)
    if found != event.digest:
        raise DamagedError(f"{_named(event)} was changed: its digest does not fit")


def _named(event: Event) -> str:
    return f"event {event.number} ({event.kind})"
