"""An event: one change of a study, with a digest that covers all events so far."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

ENGINE = 8
"""Increased by every change of the code that changes the verdicts or the end of a replay."""
NO_DIGEST = b"\0" * 32
"""The digest before the first event."""


class Kind(StrEnum):
    """The kind of an event."""

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
    """One change of a study.

    `number` counts from 0 without gaps. `time` is in seconds since 1970. `key` is the idempotency
    key of the call. `body` is JSON text, exactly as it is stored and digested, with the request and
    its outcome. `digest` is SHA-256 over the previous digest and all fields here.
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
    # Lengths separate the fields, so that no two events share a digest.
    head = f"{ENGINE} {number} {time!r} {kind} {len(worker)} {-1 if key is None else len(key)}\n"
    return hashlib.sha256(before + f"{head}{worker}{key or ''}{body}".encode()).digest()


def make_event(
    before: bytes, number: int, time: float, kind: Kind, worker: str, key: str | None, body: str
) -> Event:
    """An event with its digest."""
    digest = digest_of(before, number, time, kind.value, worker, key, body)
    return Event(number, time, kind, worker, key, body, digest)
