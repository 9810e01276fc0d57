"""An event: one thing that happened in a study, with a digest that covers all before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

ENGINE = 5
"""Goes up with every change that gives other verdicts, or another end, for the same events."""
NO_DIGEST = b"\0" * 32
"""What stands before the first event."""


class Kind(StrEnum):
    """What an event is."""

    CREATED = "created"
    ASKED = "asked"
    TOLD = "told"
    FAILED = "failed"
    LEASED = "leased"
    PAUSED = "paused"
    RESUMED = "resumed"
    SET = "set"
    VOIDED = "voided"
    NOTED = "noted"
    ADDED = "added"
    LOOKED = "looked"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    `number` counts from 0 without a gap; `time` is in seconds since 1970; `key` stands for the
    call that made the event; `body` is JSON text, exactly as it is stored and digested, with
    the request and what came of it; `digest` is SHA-256 over the digest before it and
    all fields here.
    """

    number: int
    time: float
    kind: Kind
    worker: str
    key: str | None
    body: str
    digest: bytes


def digest_of(
    before: bytes, number: int, time: float, kind: str, worker: str, key: str | None, body: str
) -> bytes:
    """The digest of an event with these fields, after the digest `before`."""
    # Lengths keep apart what could run into one another.
    head = f"{ENGINE} {number} {time!r} {kind} {len(worker)} {-1 if key is None else len(key)}\n"
    return hashlib.sha256(before + f"{head}{worker}{key or ''}{body}".encode()).digest()


def make_event(
    before: bytes, number: int, time: float, kind: Kind, worker: str, key: str | None, body: str
) -> Event:
    """An event with its digest."""
    digest = digest_of(before, number, time, kind.value, worker, key, body)
    return Event(number, time, kind, worker, key, body, digest)
