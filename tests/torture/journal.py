"""What a worker is about to send, and what became of it, in a file of its own.

A line is one short write at the end of a file that is opened for appending: it is there
when the call returns, also if the process is killed right after. A reward is known by its
value, which no other reward of the whole torture has.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import random
import re
import resource
import struct
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ACKNOWLEDGED, UNSURE, REFUSED, OPEN, LIE = "ack", "unsure", "refused", "open", "lie"
"""Ways a telling ends: told; no answer; an answer that nothing was changed; killed before any of
these; and one that must be refused because it contradicts what was told before."""

_STEP, _NUMBERS, _COUNTS = 2.0**-40, 1 << 16, 1 << 14
"""A value is a whole number of steps, so exact: noise above, then the worker and its count."""

Row = tuple[float, str, int | None]
"""A reward as sent: its value, its arm, its ticket (None for one without or unknown)."""


class Change(NamedTuple):
    """A change by hand: its reason, which no other has, and the reward that it makes void."""

    reason: str
    void: float | None = None


class Seen(NamedTuple):
    """An answer: between which moments it came, the tickets that were given with their arms, the
    digest of the newest event (of a status), and whether the study was said to be over.

    `since` is when the first request was sent that may have given the tickets, None for `begin`:
    a repeated request also returns tickets whose first answer got lost, or whose request the
    network doubled.
    """

    study: str
    begin: float
    end: float
    tickets: Sequence[tuple[int, str]] = ()
    head: str = ""
    is_over: bool = False
    since: float | None = None


class Slots:
    """How many rewards each worker has acknowledged, seen by all processes."""

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, 8 * size)
        self.size = size

    def add(self, slot: int, count: int) -> None:
        if slot >= 0:
            (now,) = struct.unpack_from("q", self._memory, 8 * slot)
            struct.pack_into("q", self._memory, 8 * slot, now + count)

    def total(self) -> int:
        return sum(struct.unpack_from(f"{self.size}q", self._memory))


class Journal:
    """One worker's file; `number` is the worker's, used once."""

    def __init__(self, folder: Path, number: int, slots: Slots | None = None, slot: int = -1):
        assert number < _NUMBERS
        self.number, self._slots, self._slot = number, slots, slot
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._file = os.open(folder / f"{number}.journal", flags, 0o600)
        self._values = self._serial = self._changes = 0
        self._sizes: dict[int, int] = {}

    def _write(self, *line: Any) -> None:
        data = json.dumps(line).encode() + b"\n"
        # A worker whose disk is made to look full can write this all the same.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        try:
            if os.write(self._file, data) != len(data):
                raise OSError("a journal cannot be written; is the disk full?")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @property
    def is_full(self) -> bool:
        """Whether no more values are to be had."""
        return self._values > _COUNTS - 1000

    def value(self, mean: float, rng: random.Random) -> float:
        """A measurement that differs from every other."""
        coarse = round((mean + max(-9.0, min(9.0, rng.gauss(0.0, 1.0)))) * 1024)
        self._values += 1
        return math.fsum((coarse * 2.0**-10, (self.number * _COUNTS + self._values) * _STEP))

    def trying(
        self,
        study: str,
        rows: Sequence[Row],
        change: Change | None = None,
        key: str | None = None,
        since: float | None = None,
    ) -> int:
        """Before rewards are sent with a key; the number to say by what became of them.

        Or before a `change` by hand, which may bring a reward of its own. `since` is when what it
        is about began, such as the first of its tickets.
        """
        self._serial += 1
        self._sizes[self._serial] = len(rows)
        self._write("try", self._serial, study, rows, change, key, time.monotonic(), since)
        return self._serial

    def loose(self, key: str) -> None:
        """There are copies of the request with this key, or an answer to it was lost."""
        self._write("loose", key)

    def new_change(self, kind: str, void: float | None = None) -> Change:
        """A change that differs from every other."""
        self._changes += 1
        return Change(f"{kind} {self._changes} by worker {self.number}", void)

    def ended(self, serial: int, how: str) -> None:
        self._write(how, serial, time.monotonic())
        size = self._sizes.pop(serial)
        if how == ACKNOWLEDGED and self._slots is not None:
            self._slots.add(self._slot, size)

    def saw(self, seen: Seen) -> None:
        """What a study answered to who asked or looked."""
        self._write("saw", *seen)

    def restored(self, begin: float) -> None:
        """The store is as it was at some moment since `begin`; what came in between is gone."""
        self._write("restored", begin, time.monotonic())

    def happened(self, what: str) -> None:
        """Something to be counted."""
        self._write("event", what)

    def fault(self, text: str, since: float | None = None) -> None:
        """Something that must not be, unless a backup was restored `since` some moment."""
        self._write("fault", f"worker {self.number}: {text}", since, time.monotonic())


def request_of(study: str, ticket: int | None) -> str:
    """What a telling without a key is known by."""
    return f"{study}: ticket {ticket}"


@dataclass
class Sent:
    """A reward as sent, and how its telling ended; moments by the clock that never jumps."""

    study: str
    arm: str
    ticket: int | None
    key: str | None = None
    how: str = OPEN
    begin: float = 0.0
    end: float = math.inf
    since: float = 0.0

    @property
    def request(self) -> str:
        """What a copy of its request is known by: the key, or else the ticket."""
        return self.key or request_of(self.study, self.ticket)


@dataclass
class Changed:
    """A change as sent, and how that ended."""

    study: str
    void: float | None
    key: str | None = None
    how: str = OPEN
    begin: float = 0.0
    end: float = math.inf


@dataclass
class Journals:
    """All that the workers wrote down; changes by their reasons.

    `loose` are the requests that came again, or that an answer to was lost; `gaps` are
    times of which all may be gone because a backup was restored.
    """

    sent: dict[float, Sent] = field(default_factory=dict)
    changes: dict[str, Changed] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)
    seen: list[Seen] = field(default_factory=list)
    gaps: list[tuple[float, float]] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def count(self, *how: str) -> int:
        return sum(one.how in how for one in self.sent.values())

    def count_changes(self, *how: str) -> int:
        return sum(one.how in how for one in self.changes.values())

    def may_be_gone(self, begin: float, end: float) -> bool:
        """Whether what happened between two moments may have gone with a restored backup."""
        return any(end > first and begin < last for first, last in self.gaps)

    def is_gone(self, value: float) -> bool:
        """Whether a reward, or the ticket that it was told for, may have gone so."""
        one = self.sent[value]
        return self.may_be_gone(one.since, one.end)

    def acknowledged(self) -> set[float]:
        return {value for value, one in self.sent.items() if one.how == ACKNOWLEDGED}


def _began(fault: str, since: float, sent: dict[float, Sent]) -> float:
    """When what a fault is about began: also the telling that it contradicts.

    That one may be of an earlier ticket of the same number, which went with a restored backup.
    """
    earlier = re.search(r"has the recorded reward (\S+), not", fault)
    one = sent.get(float(earlier[1])) if earlier else None
    return since if one is None else min(since, one.since)


def read_journals(folder: Path) -> Journals:
    """All journals of a folder; a line that is not whole yet is left out."""
    found, doubtful = Journals(), []
    for path in sorted(folder.glob("*.journal")):
        whole, _, _ = path.read_bytes().rpartition(b"\n")
        tries: dict[int, list[Sent | Changed]] = {}
        for line in whole.splitlines():
            kind, *rest = json.loads(line)
            if kind == "event":
                found.events[rest[0]] += 1
            elif kind == "fault":
                doubtful.append(rest)
            elif kind == "loose":
                found.loose.add(rest[0])
            elif kind == "saw":
                found.seen.append(Seen(*rest))
            elif kind == "restored":
                found.gaps.append((rest[0], rest[1]))
            elif kind == "try":
                serial, study, rows, change, key, begin, since = rest
                times = {"begin": begin, "since": begin if since is None else since}
                made = {v: Sent(study, arm, ticket, key, **times) for v, arm, ticket in rows}
                found.sent |= made
                tries[serial] = list(made.values())
                if change is not None:
                    one = Changed(study, change[1], key, begin=begin)
                    found.changes[change[0]] = one
                    tries[serial].append(one)
            else:
                for each in tries.pop(rest[0]):
                    each.how, each.end = kind, rest[1]
    for text, since, end in doubtful:
        if since is None or not found.may_be_gone(_began(text, since, found.sent), end):
            found.faults.append(text)
    for one in (*found.sent.values(), *found.changes.values()):
        # A copy that comes later may find that nothing is against it any more.
        if one.how == REFUSED and one.key in found.loose:
            one.how = UNSURE
    return found
