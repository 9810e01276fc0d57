"""What may be asked of a study, and what it answers: the words of `handle`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from standout.results import Receipt, Ticket

Given = Ticket | int | str
"""What a reward is of: a ticket, its number, or an arm by name."""
Late = Literal["count", "log", "refuse"]
"""What becomes of the answer to a pull that was handed out again or given up."""


@dataclass(frozen=True)
class Tell:
    """Rewards as they were given: all are counted or, with one bad one among them, none.

    `late` says what becomes of a reward whose ticket is no longer out: `count` takes it as any
    other, `log` keeps it as surplus, in no total, `refuse` raises `TooLateError`.
    """

    rewards: Sequence[tuple[Given, float]]
    late: Late = "count"


@dataclass(frozen=True)
class Ask:
    """Up to `n` tickets, for `lease` seconds (the study's unless given).

    With `known`, the tickets that the worker holds and that are not among these numbers
    come first. No ticket is given for an arm to `avoid` (one that a rater has answered already):
    its pull stays for others.
    """

    n: int = 1
    lease: float | None = None
    known: Collection[int] | None = None
    avoid: Collection[str] = ()


@dataclass(frozen=True)
class TellAndAsk:
    """Rewards, then tickets. What is told again word by word gives the same tickets again."""

    tell: Tell
    ask: Ask


@dataclass(frozen=True)
class Fail:
    """A ticket is given back without a reward; unless it `pauses`, no arm is paused for it."""

    ticket: Ticket | int
    reason: str = ""
    pauses: bool = True


@dataclass(frozen=True)
class Lease:
    """Start the leases of pending tickets again: `seconds` (None: the study's; 0: end now)."""

    tickets: Iterable[Ticket | int]
    seconds: float | None = None


@dataclass(frozen=True)
class Pause:
    """No more pulls of an arm are handed out."""

    arm: str
    reason: str = ""


@dataclass(frozen=True)
class Resume:
    """Pulls of a paused arm are handed out again."""

    arm: str
    reason: str = ""


@dataclass(frozen=True)
class Set:
    """Other settings (`Settings`), `stopped` among them."""

    values: Mapping[str, Any]
    reason: str = ""


@dataclass(frozen=True)
class Void:
    """The reward at a place of the log, or of a ticket, is void; `value` stands in its place."""

    place: int | None = None
    ticket: Ticket | int | None = None
    value: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Add:
    """Arms that join the study."""

    arms: Sequence[str]
    reason: str = ""


@dataclass(frozen=True)
class Note:
    """A text that is kept and changes nothing."""

    text: str


@dataclass(frozen=True)
class Look:
    """What a look at the chances found: `number` is that of the event after which it was due."""

    number: int
    excess: float


Request = Tell | Ask | TellAndAsk | Fail | Lease | Pause | Resume | Set | Void | Add | Note | Look


@dataclass(frozen=True)
class Asked:
    """The tickets; with none while the study runs, all there is to do is out (`is_all_out`).

    Then `free_at` is when the first lease ends, None if no ticket is out. `avoided` are the arms
    that came up and were to be avoided.
    """

    tickets: tuple[Ticket, ...] = ()
    is_all_out: bool = False
    free_at: float | None = None
    avoided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What came of a request; `look_due`: it made a look at the chances due (`StudyState.look`)."""

    receipt: Receipt = field(default_factory=Receipt)
    asked: Asked = Asked()
    look_due: bool = False
