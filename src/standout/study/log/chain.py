"""Steps: what changed in a study, one after the other, each with a digest that covers the last.

A step is one call that counted, decided, paused or gave back something. Its
digest is SHA-256 over the digest before it, its own row and the rewards that it
logged; the first covers the study's settings and arms (`chain_start`). So no
old row can be edited, left out, put in or moved without changing every digest
after it. Nothing here touches a database.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from standout.errors import StudyError, shown
from standout.study.short_json import dumps

ENGINE = 4
"""Goes up with every change that gives other verdicts, or another end, for the same rewards."""
LONGEST_KEY = 200
_ONE, _LENGTH = struct.Struct("<qdqd?"), struct.Struct("<q")


def is_worked_out_alike(engine: int, *, samples: bool, promises: bool) -> bool:
    """Whether a step of that number can be worked out anew; else what it decided is believed.

    Since 2 the sample that stands for very many arms is counted by exact quantiles
    (`samples`); since 3, and since 4 again, chances have other priors, on which a promise may end a
    study (`promises`); since 4 a void reward leaves nothing in a sample's threshold.
    """
    if engine == ENGINE:
        return True
    return 1 <= engine < ENGINE and not samples and not promises


class Kind(IntEnum):
    """What a step was."""

    BEGIN = 0
    """The study was made, or its steps began to be kept."""
    TELL = 1
    FAIL = 2
    PAUSE = 3
    RESUME = 4
    ASK = 5
    """Asking gave up pulls of a paused arm, and so counted what had waited for them."""
    SET = 6
    """Settings were changed, or the study was stopped or started again (see `settings`)."""
    VOID = 7
    """Rewards were taken out of the totals again; its own, if any, stand in their places."""


class Logged(NamedTuple):
    """A reward as a step's digest covers it; `ticket` and `asked` are None where unasked."""

    arm: int
    value: float
    ticket: int | None
    asked: float | None
    counted: bool


@dataclass
class Step:
    """One step while it is being made, or as it was read; see `schema.steps` for the fields."""

    kind: Kind
    time: float
    detail: Any = None
    """What else its digest covers, ready for JSON: who told, or what was given back and why."""
    key: str | None = None
    request: bytes | None = None
    first: int = 1
    rewards: list[Logged] = field(default_factory=list)
    repeated: int = 0
    surplus: int = 0
    counted: list[int] = field(default_factory=list)
    decided: tuple[list[int], list[int]] | None = None
    ended: bool = False
    reason: str | None = None
    note: str | None = None
    engine: int = ENGINE
    is_due: bool = False
    """Whether rewards of no round were counted: verdicts are brought up to date at once."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened that is worth a row."""
        happened = self.rewards or self.counted or self.ended or self.reason or self.note
        kept = (Kind.FAIL, Kind.SET, Kind.VOID)
        return not happened and self.kind not in kept and self.key is None

    def own_places(self) -> list[int]:
        """Places in the log of its rewards that belong in the totals."""
        return [self.first + i for i, reward in enumerate(self.rewards) if reward.counted]

    def row(self, previous: bytes, number: int) -> tuple[Any, ...]:
        """The row to keep, without the study's number: `COVERED`, then the digest."""
        counted = None
        if self.counted != self.own_places():
            counted = write_places(self.counted)
        decided = None if self.decided is None else json.dumps(self.decided)
        row = (
            number, self.time, int(self.kind), self.engine, self.key, self.request, self.first,
            len(self.rewards), self.repeated, self.surplus, counted, decided, self.ended,
            self.reason, self.note,
        )  # fmt: skip
        return *row, link(previous, row, self.detail, pack(self.rewards))


COVERED = (
    "number", "time", "kind", "engine", "key", "request", "first", "logged", "repeated",
    "surplus", "counted", "decided", "ended", "reason", "note",
)  # fmt: skip
"""The columns of a step's row that its digest covers, in this order."""
_REQUEST = COVERED.index("request")


def link(previous: bytes, row: Sequence[Any], detail: Any, rewards: bytes) -> bytes:
    """The digest of a step whose row has these values of `COVERED`, after the digest before it."""
    request = row[_REQUEST]
    if request is not None:
        row = (*row[:_REQUEST], bytes(request).hex(), *row[_REQUEST + 1 :])
    head = dumps([row, detail]).encode()
    return hashlib.sha256(previous + _LENGTH.pack(len(head)) + head + rewards).digest()


def pack(rewards: Sequence[Logged]) -> bytes:
    """Rewards as bytes, column after column."""
    if not rewards:
        return b""
    if len(rewards) == 1:
        arm, value, ticket, asked, counted = rewards[0]
        time = float("nan") if asked is None else asked
        return _ONE.pack(arm, value + 0.0, ticket or 0, time, counted)
    arms, values, tickets, times, flags = zip(*rewards, strict=True)
    numbers = tickets if None not in tickets else [ticket or 0 for ticket in tickets]
    parts = (
        np.array(arms, dtype="<i8"),
        np.array(values, dtype="<f8") + 0.0,  # SQLite keeps no negative zero.
        np.array(numbers, dtype="<i8"),
        np.array(times, dtype="<f8"),  # None becomes NaN.
        np.array(flags, dtype=np.bool_),
    )
    return b"".join(part.tobytes() for part in parts)


def write_places(places: Iterable[int]) -> str:
    """Places in the log as ranges: `3,7-9,8` is 3, 7, 8, 9, 8."""
    parts: list[str] = []
    start = last = None
    for place in places:
        if last is not None and place == last + 1:
            last = place
            continue
        if start is not None:
            parts.append(f"{start}" if start == last else f"{start}-{last}")
        start = last = place
    if start is not None:
        parts.append(f"{start}" if start == last else f"{start}-{last}")
    return ",".join(parts)


def read_places(text: str) -> list[int]:
    """The reverse of `write_places`.

    >>> read_places("3,7-9")
    [3, 7, 8, 9]
    """
    return [place for part in read_ranges(text) for place in part]


def read_ranges(text: str) -> list[range]:
    """The places of `write_places` as ranges: who forged them may have written any length.

    >>> read_ranges("3,7-9")
    [range(3, 4), range(7, 10)]
    """
    ends = [part.partition("-") for part in text.split(",")] if text else []
    return [range(int(start), int(last or start) + 1) for start, _, last in ends]


def check_key(key: object) -> str:
    """A key as given by a caller: a short text."""
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY or not key.isprintable():
        raise StudyError(
            f"a key must be a text of 1 to {LONGEST_KEY} printable characters, not {shown(key)}"
        )
    return key


def digest_request(items: Iterable[tuple[float, int | None, int | None]]) -> bytes:
    """What was told, in short: of each reward its value, its ticket or else its arm."""
    rewards = [
        Logged(-1 if arm is None or ticket is not None else arm, value, ticket, None, True)
        for value, ticket, arm in items
    ]
    return hashlib.sha256(pack(rewards)).digest()[:16]
