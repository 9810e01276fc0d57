"""A check of a whole study: everything is worked out anew from its events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from standout.errors import DamagedError
from standout.results import Verification
from standout.study.events.event import Event, Kind
from standout.study.events.fold import begin, content_of, fold
from standout.study.events.looks import DueLook
from standout.study.events.snapshot import arrays_of, plain_of
from standout.study.events.state import StudyState

NEARLY = 1e-6
"""Estimates may differ by so much from machine to machine, relative to their size."""
_NEAR = 1e-9
"""Machines may differ in the last digits of the same sum."""
MOST_PROBLEMS = 20


def verify(
    events: Iterable[Event], head: str | None = None, current: StudyState | None = None
) -> Verification:
    """Fold all events, make every look at the chances again, and compare with what is stored.

    `head` is a digest that was noted earlier, in hex: one of the events must have it. `current` is
    the state that is in use or in a snapshot: it must be as of the last event. Without a noted
    head the events are shown to fit together, and what came of them to follow from
    them; who can write to the store could have written other events that do so too.
    """
    checks = _Checks()
    try:
        checks.fold_all(events)
    except DamagedError as error:
        checks.problems.append(str(error))
    if head is not None and head.strip().lower() not in checks.heads:
        checks.problems.append(
            f"no event has the digest {head.strip()[:80]}: this is not the study that had it, "
            "or its log was rewritten since"
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
        """Go through all events; raises `DamagedError` at the first that does not fit."""
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
        """Whether the chances were what the event says."""
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
    """What is not the same in two states of a study: `found` is what the events give."""
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
