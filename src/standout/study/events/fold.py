"""From events to the state of a study: the same events always give the same state.

Each event contains its outcome. The fold computes it again and compares. So it detects events that
were edited, left out, inserted or moved, and events whose verdicts do not follow. `verify` folds a
whole study in this way, and repeats every look at the chances.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from standout.errors import DamagedError, StandoutError
from standout.results import Verification
from standout.study.events.definition import Definition
from standout.study.events.event import NO_DIGEST, Event, Kind, digest_of
from standout.study.events.planner import RecordedPlans
from standout.study.events.rules import apply, check
from standout.study.events.snapshot import arrays_of, plain_of
from standout.study.events.state import DueLook, StudyState
from standout.study.events.telling import At

OUTCOME = "came"
"""The key of the outcome in an event's content."""
_decode = json.JSONDecoder().decode
_WRONG = (StandoutError, ValueError, TypeError, LookupError, AttributeError, OverflowError)


def begin(event: Event) -> StudyState:
    """The state of a study after its first event; raises `DamagedError` for another event."""
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
    """Apply the next event to a state.

    Raises `DamagedError` for an event that does not follow; the state is unusable then.
    """
    _check_digest(event, state.number + 1, state.head)
    try:
        content = content_of(event)
        check(state, event.kind, content)
        plans = RecordedPlans(state, content)
        at = At(event.number, event.time, event.worker)
        came = apply(state, event.kind, at, content, plans).to_body()
        plans.adopt_schedule()
    except _WRONG as error:
        raise DamagedError(f"{_named(event)} cannot have happened ({error})") from None
    if came != content.get(OUTCOME, {}):
        raise DamagedError(f"{_named(event)}: its outcome does not follow from the rewards")
    state.number, state.head = event.number, event.digest


def content_of(event: Event) -> dict[str, Any]:
    """The content of an event; raises `ValueError` if it cannot be read."""
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


NEARLY = 1e-6
"""The largest relative difference of estimates between machines."""
_NEAR = 1e-9
"""The largest relative difference of the same sum between machines."""
MOST_PROBLEMS = 20


def verify(
    events: Iterable[Event], head: str | None = None, current: StudyState | None = None
) -> Verification:
    """Fold all events, repeat every look at the chances, and compare with the stored state.

    `head` is an earlier digest, in hexadecimal; one of the events must have it. `current` is the
    state in use or in a snapshot, as of the last event. Without `head`, the events are only shown
    to be consistent: a person with write access could have written other consistent events.
    """
    checks = _Checks()
    try:
        checks.fold_all(events)
    except DamagedError as error:
        checks.problems.append(str(error))
    if head is not None and head.strip().lower() not in checks.heads:
        checks.problems.append(
            f"no event has the digest {head.strip()[:80]}: this is not the study that had it, "
            "or its log was rewritten"
        )
    state = checks.state
    if state is None:
        return Verification(0, 0, tuple(checks.problems))
    if current is not None and not checks.problems:
        checks.problems += differences(current, state)
    return Verification(
        state.ledger.size,
        state.tickets.size,
        tuple(checks.problems[:MOST_PROBLEMS]),
        state.number + 1,
        state.head.hex(),
    )


class _Checks:
    def __init__(self) -> None:
        self.state: StudyState | None = None
        self.problems: list[str] = []
        self.heads: set[str] = set()

    def fold_all(self, events: Iterable[Event]) -> None:
        """Fold all events; raises `DamagedError` at the first that does not follow."""
        for event in events:
            if self.state is None:
                self.state = begin(event)
            else:
                look = self.state.look
                fold(self.state, event)
                if event.kind == Kind.LOOKED and look is not None:
                    self._look_again(look, event)
            self.heads.add(event.digest.hex())
        if self.state is None:
            raise DamagedError("the study has no events")

    def _look_again(self, look: DueLook, event: Event) -> None:
        """Whether the chances were as the event says."""
        said, found = content_of(event)["excess"], look.excess()
        is_same = not math.isfinite(found) if said is None else _is_near(said, found)
        if not is_same:
            self.problems.append(
                f"event {event.number} (looked): it says that the chances are {said} times what "
                f"was asked for, but by the rewards it is {found:g}"
            )


def _is_near(said: object, found: float) -> bool:
    return isinstance(said, int | float) and math.isclose(said, found, rel_tol=NEARLY)


def differences(kept: StudyState, found: StudyState) -> list[str]:
    """The differences of two states of a study; `found` follows from the events."""
    return [*_different_arrays(kept, found), *_different_plain(kept, found)]


def _different_arrays(kept: StudyState, found: StudyState) -> Iterator[str]:
    theirs = arrays_of(found)
    for name, mine in arrays_of(kept).items():
        if not _is_alike(mine, theirs.get(name)):
            yield f"{name} is not what follows from the events"


def _is_alike(mine: Any, theirs: Any) -> bool:
    if theirs is None or mine.shape != theirs.shape:
        return False
    if mine.dtype.kind != "f":
        return bool(np.array_equal(mine, theirs))
    return bool(np.allclose(mine, theirs, rtol=_NEAR, atol=_NEAR, equal_nan=True))


def _different_plain(kept: StudyState, found: StudyState) -> Iterator[str]:
    theirs = plain_of(found)
    for name, mine in plain_of(kept).items():
        if mine != theirs[name]:
            yield f"{name}: {_short(mine)}, but {_short(theirs[name])} by the events"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
