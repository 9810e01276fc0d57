"""The requests to a study and their answers: the vocabulary of `handle`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from standout.results import Receipt, Ticket

Given = Ticket | int | str
"""What a reward belongs to: a ticket, its number, or an arm by name."""
Late = Literal["count", "log"]
"""How to treat the answer to a pull that was handed out again or given up."""


@dataclass(frozen=True)
class Tell:
    """Rewards: all of them count or, if one is bad, none.

    `late` says how to treat a reward whose ticket is no longer out: `count` accepts it, `log` keeps
    it as surplus in no total.
    """

    rewards: Sequence[tuple[Given, float]]
    late: Late = "count"


@dataclass(frozen=True)
class Ask:
    """At most `n` tickets, for `lease` seconds (by default the study's).

    With `known`, the tickets that the worker holds and that are not among these numbers come first.
    No ticket is given for an arm to `avoid` (one that a rater has answered); its pull stays for
    others.
    """

    n: int = 1
    lease: float | None = None
    known: Collection[int] | None = None
    avoid: Collection[str] = ()


@dataclass(frozen=True)
class TellAndAsk:
    """Rewards, then tickets. An identical repetition returns the same tickets."""

    tell: Tell
    ask: Ask


@dataclass(frozen=True)
class Fail:
    """A ticket is given back without a reward; if `pauses`, repeated failures pause the arm."""

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
    """Voids the reward at a place of the log or of a ticket; `value` replaces it."""

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
    """A remark that changes nothing."""

    text: str


@dataclass(frozen=True)
class Look:
    """The result of a look at the chances that was due after event `number`."""

    number: int
    excess: float


Request = Tell | Ask | TellAndAsk | Fail | Lease | Pause | Resume | Set | Void | Add | Note | Look


@dataclass(frozen=True)
class Asked:
    """The tickets. Without any in a running study, every useful pull is out (`is_all_out`).

    Then `free_at` is the end of the first lease, None if no ticket is out. `avoided` are the arms
    that came up and were to be avoided.
    """

    tickets: tuple[Ticket, ...] = ()
    is_all_out: bool = False
    free_at: float | None = None
    avoided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The answer to a request; `look_due`: a look at the chances is due (`StudyState.look`)."""

    receipt: Receipt = field(default_factory=Receipt)
    asked: Asked = Asked()
    look_due: bool = False
