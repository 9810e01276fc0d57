"""What a server answers, as objects with the names that a `Study` uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class Ticket:
    """One pull handed out: measure `arm` once and tell its reward before `expires`.

    `item` is what to show for the arm, if that was asked for.
    """

    id: int
    arm: str
    expires: float = math.inf
    item: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Receipt:
    """What became of told rewards, as in `standout.study.Receipt`."""

    counted: int = 0
    repeated: int = 0
    surplus: int = 0
    again: bool = False
    time: float | None = None


@dataclass(frozen=True)
class Pending:
    """A ticket that is out: with whom, and since when (seconds since 1970)."""

    ticket: int
    arm: str
    worker: str
    asked: float
    expires: float


@dataclass(frozen=True)
class Interval:
    """An interval with its ends included; an end that is not known yet is infinite."""

    lower: float
    upper: float

    @classmethod
    def read(cls, data: Mapping[str, Any] | None) -> Self | None:
        """From JSON, where such an end is null."""
        if data is None:
            return None
        return cls(_or(data["lower"], -math.inf), _or(data["upper"], math.inf))


def _or(value: float | None, instead: float) -> float:
    return instead if value is None else value


@dataclass(frozen=True)
class Waiting:
    """Told rewards of an arm that are counted as soon as `ticket` is told or given back."""

    arm: str
    rewards: int
    ticket: int
    worker: str
    expired: bool


@dataclass(frozen=True)
class Status:
    """How a study stands, as in `standout.study.Status`."""

    name: str
    pulls: int
    pending: int
    expired: int
    surplus: int
    budget: int | None
    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    threshold: Interval
    stopped: bool
    reason: str
    rounds: int
    threshold_low: Interval | None
    note: str | None
    failures: dict[str, int]
    paused: dict[str, str]
    waiting: tuple[Waiting, ...]
    head: str
    data: dict[str, Any]
    """The whole answer, with the problem and the method."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dict(self.data)

    @classmethod
    def read(cls, data: dict[str, Any]) -> Self:
        """From JSON."""
        known = _named(cls, data)
        known["waiting"] = tuple(Waiting(**one) for one in known["waiting"])
        return cls(**known, data=data)


@dataclass(frozen=True)
class Answer:
    """The answer so far, as in `standout.Identification`, with lists for arrays."""

    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    best_guess: tuple[str, ...]
    threshold: Interval
    threshold_estimate: float
    pulls: int
    rounds: int
    reason: str
    threshold_low: Interval | None
    note: str | None
    arms: tuple[str, ...]
    means: list[float]
    lower: list[float]
    upper: list[float]
    pulls_by_arm: list[int]

    @classmethod
    def read(cls, data: dict[str, Any]) -> Self:
        """From JSON, where a number that is not known yet is null."""
        known = _named(cls, data)
        for name, instead in (("means", math.nan), ("lower", -math.inf), ("upper", math.inf)):
            known[name] = [_or(value, instead) for value in known[name]]
        known["threshold_estimate"] = _or(known["threshold_estimate"], math.nan)
        return cls(**known)


_NAMES = ("outliers", "normal", "undecided", "best_guess", "arms")
_INTERVALS = ("threshold", "threshold_low")


def _named(kind: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a class out of an answer."""
    known = {field.name: data[field.name] for field in fields(kind) if field.name in data}
    for name in _NAMES:
        if name in known:
            known[name] = tuple(known[name])
    for name in _INTERVALS:
        known[name] = Interval.read(known[name])
    return known
