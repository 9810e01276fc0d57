"""Every error that standout raises for a user's mistake.

::

    StandoutError
    ├── ProblemError       a question that cannot be asked (k, delta, noise, arms, ...)
    ├── InstanceError      an instance that cannot be built or read
    ├── MethodError        a method, interval or option that does not exist or does not fit
    ├── RewardError        a reward that the noise family cannot produce
    ├── MeasureError       the user's own measure() failed; what was seen is kept
    └── StudyError         a study that cannot do what was asked of it
        ├── StorageError   a database that cannot be reached, read or trusted
        │   ├── NoStudyError   there is no study of that name at that place
        │   ├── MovedError     its file was moved, removed or replaced while in use
        │   ├── UnavailableError   it does not answer at the moment; nothing was changed
        │   └── UncertainError     it broke at the end: what was sent may have been done
        ├── StudyExistsError   there is a study of that name already
        ├── TicketError    a ticket that does not exist or belongs to another arm
        │   └── ToldError      it was told before: another value, or it is given back
        ├── KeyUsedError   a key was used before, for something else
        └── BatchError     one of many rewards is bad, so that none was counted

Each message says what was wrong and what to change. The command line prints it
as one line; anything that is not a `StandoutError` is a bug of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from standout.core.identification import Identification


class StandoutError(Exception):
    """Base of all errors caused by what was given to standout."""


class ProblemError(StandoutError, ValueError):
    """The question itself is not valid."""


class InstanceError(StandoutError, ValueError):
    """An instance name or file is not valid."""


class MethodError(StandoutError, ValueError):
    """No such method, or it cannot be used for this problem."""


class RewardError(StandoutError, ValueError):
    """A reward is not a number that the noise family allows."""


class MeasureError(StandoutError, RuntimeError):
    """`measure` raised or gave an unusable reward.

    `arm` names the arm, `partial` is the `Identification` of all that had been
    observed until then; the original exception is the `__cause__`.
    """

    def __init__(self, message: str, arm: str, partial: Identification) -> None:
        super().__init__(message)
        self.arm = arm
        self.partial = partial


class StudyError(StandoutError, RuntimeError):
    """A study cannot do what was asked of it."""


class StorageError(StudyError):
    """The database cannot be reached, is locked, damaged, foreign or of a newer version."""


class NoStudyError(StorageError):
    """There is no study of that name at that place (yet)."""


class MovedError(StorageError):
    """The file was moved, removed or replaced while in use; open the study again."""


class UnavailableError(StorageError):
    """A database or a server that does not answer at the moment; nothing was changed.

    Trying again may help; `wait` is for how many seconds it asked to be left alone.
    `has_waited`: it was waited for already, as long as the caller's patience allows.
    """

    def __init__(self, message: str, wait: float = 0.0, *, has_waited: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.has_waited = has_waited


class UncertainError(StorageError):
    """No answer came, and what was sent may have been done or not.

    Rewards told again with the same `key` count once; None where there is no key.
    """

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class StudyExistsError(StudyError):
    """There is a study of that name already."""


class TicketError(StudyError, ValueError):
    """No such ticket, or it is not what it is taken for."""


class ToldError(TicketError):
    """The ticket was told before, and a told reward is never changed."""


class KeyUsedError(StudyError, ValueError):
    """A key was used before to tell other rewards, at `time`, `count` of them."""

    def __init__(self, message: str, time: float | None = None, count: int | None = None) -> None:
        super().__init__(message)
        self.time = time
        self.count = count


class BatchError(StudyError, ValueError):
    """One of many rewards is bad; none of them was counted. `index` says which (from 0)."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class UndecidableWarning(UserWarning):
    """Some arm looks as if it could never be decided without a tolerance or a budget."""


def shown(value: object, length: int = 60) -> str:
    """What a user gave, as a message shows it: its start, if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= length else text[: length - 3] + "..."
