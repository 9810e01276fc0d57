"""Lists that come page by page; `next` is the `after` of the next page, None on the last."""

from __future__ import annotations

from dataclasses import dataclass

from standout.results.answer import Ending
from standout.results.serialisation import Result
from standout.results.study import Change, Failure, Pending, StudyRow
from standout.results.view import ArmRow, Next


@dataclass(frozen=True)
class StudyList(Result):
    """Some studies, oldest first."""

    studies: tuple[StudyRow, ...]
    next: str | None


@dataclass(frozen=True)
class ArmList(Result):
    """Some arms; `found` is how many fit in all."""

    arms: tuple[ArmRow, ...]
    found: int
    next: int | None


@dataclass(frozen=True)
class FailureList(Result):
    """Failures, newest first."""

    failures: tuple[Failure, ...]
    next: int | None


@dataclass(frozen=True)
class PendingList(Result):
    """All tickets that are out."""

    pending: tuple[Pending, ...]


@dataclass(frozen=True)
class NextList(Result):
    """What the method would ask next."""

    next: tuple[Next, ...]


@dataclass(frozen=True)
class ChangeList(Result):
    """All that was changed by hand, oldest first."""

    changes: tuple[Change, ...]


@dataclass(frozen=True)
class EndingList(Result):
    """The tolerance that would end a study now, and smaller ones; empty where there is none."""

    endings: tuple[Ending, ...]
