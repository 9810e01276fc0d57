"""Every error that standout raises for a user's mistake.

Each class has the `code` and the HTTP `status` of a server's answer; the client finds the class
by the code (`by_code`). docs/service.md has the table, and `help(standout.errors)` shows the tree.

Each message says what was wrong and what to change. The command line prints it as one line. Any
exception that is not a `StandoutError` is a bug in standout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from standout.results import Identification


class StandoutError(Exception):
    """The base of all errors: an argument, a file or a request is not valid."""

    code: ClassVar[str] = "invalid"
    """The error's name for programs, in a server's answers."""
    status: ClassVar[int] = 422
    """The HTTP status of the answer."""
    may_be_done: bool = False
    """Whether the request may have been carried out nevertheless."""


class ProblemError(StandoutError, ValueError):
    """The problem is not valid: its settings, its arms or its noise."""

    code = "problem"


class InstanceError(StandoutError, ValueError):
    """An instance name or file is not valid."""

    code = "instance"


class MethodError(StandoutError, ValueError):
    """There is no such method, or it does not work for this problem."""

    code = "method"


class RewardError(StandoutError, ValueError):
    """A reward is not a number that the noise family allows."""

    code = "reward"


class MeasureError(StandoutError, RuntimeError):
    """`measure` raised an exception or returned an unusable reward.

    Attributes:
        arm: The arm that was measured.
        partial: The `Identification` of all rewards before. The original exception is the
            `__cause__`.
    """

    code = "measure"

    def __init__(self, message: str, arm: str, partial: Identification) -> None:
        super().__init__(message)
        self.arm = arm
        self.partial = partial


class ReproduceError(StandoutError, ValueError):
    """A figure cannot be reproduced: its name, the number of runs or the folder is not valid."""

    code = "reproduce"


class MissingExtraError(StandoutError, ImportError):
    """An optional package is not installed; the message names the extra to install."""

    code = "missing_extra"


class StudyError(StandoutError, RuntimeError):
    """A study cannot carry out the request."""

    code = "study"


class AccessError(StudyError):
    """The token does not allow this, or the request comes from a page of another site."""

    code, status = "forbidden", 403


class TokenError(AccessError):
    """A token is needed, or this one is not valid."""

    code, status = "unauthorized", 401


class StorageError(StudyError):
    """The database cannot be reached, is locked or damaged, or has another or a newer format."""

    code, status = "storage", 503


class DamagedError(StorageError):
    """An event of a study was edited, or does not follow from the events before it."""

    code = "damaged"


class NoStudyError(StorageError):
    """There is no study of that name at that place."""

    code, status = "no_study", 404


class MovedError(StorageError):
    """The file was moved, removed or replaced while in use; open the study again."""

    code = "moved"


class UnavailableError(StorageError):
    """A database or a server does not answer at the moment; nothing was changed.

    Attributes:
        wait: Seconds to wait before the next attempt, as the server asked.
        has_waited: Whether the attempts were repeated for as long as the caller's patience allows.
    """

    code = "unavailable"

    def __init__(self, message: str, wait: float = 0.0, *, has_waited: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.has_waited = has_waited


class UncertainError(StorageError):
    """No answer came, and the request may or may not have been carried out.

    Attributes:
        key: Rewards told again with this key count once; None if there is no key.
    """

    code = "uncertain"
    may_be_done = True

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class StudyExistsError(StudyError):
    """There is a study of that name already."""

    code, status = "study_exists", 409


class AllOutError(StudyError):
    """The study runs, but every useful pull is handed out.

    The budget leaves no room, every arm is paused, or so many rewards wait for slower ones that
    more pulls would only wait, too.

    Attributes:
        wait: Seconds until the first lease ends and its pull can be asked for again; 0 if no pull
            is out.
    """

    code, status = "all_out", 409

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait

    @classmethod
    def after(cls, wait: float) -> AllOutError:
        """The error for a caller who may ask again after `wait` seconds, if there is a lease."""
        if wait == 0.0:
            return cls("there is nothing to measure now: every arm that could be is paused")
        return cls(
            "there is nothing to measure now: all that is useful is handed out; ask again when a "
            f"reward has come in, or in {max(1, round(wait)):,} s, when the first lease ends",
            wait,
        )


class TooLateError(StudyError):
    """The time for changing an answer on the rating page is over, or the rating has ended."""

    code, status = "too_late", 409


class NoPictureError(StudyError):
    """The folder of pictures has no such file, or the file is not a picture."""

    code, status = "no_picture", 404


class TicketError(StudyError, ValueError):
    """There is no such ticket, or it does not fit the request."""

    code = "ticket"


class NotYoursError(TicketError):
    """The ticket belongs to another worker; raters may answer only their own."""

    code, status = "not_yours", 403


class ToldError(TicketError):
    """The ticket has a reward already, and a recorded reward is never changed."""

    code, status = "told", 409


class KeyUsedError(StudyError, ValueError):
    """The key was used before, at `time`, to tell `count` other rewards."""

    code, status = "key", 409

    def __init__(self, message: str, time: float | None = None, count: int | None = None) -> None:
        super().__init__(message)
        self.time = time
        self.count = count


class BatchError(StudyError, ValueError):
    """One of many rewards is bad; none of them counts. `index` says which (from 0).

    The code of a server's answer is that of the bad reward's error: its `__cause__`, or `ticket` if
    there is none.
    """

    code = "batch"

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


def all_kinds(kind: type[StandoutError] = StandoutError) -> Iterator[type[StandoutError]]:
    """`kind` and every class derived from it in this module, a base before its subclasses."""
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == __name__:
            yield from all_kinds(each)


def by_code(code: str) -> type[StandoutError] | None:
    """The class of a server's `code`; None for an unknown code."""
    return next((kind for kind in all_kinds() if kind.code == code), None)


class UndecidableWarning(UserWarning):
    """An arm looks undecidable without a tolerance or a budget."""


class ArmNameWarning(UserWarning):
    """An arm's name began or ended with blanks; they were removed."""


_WARNINGS = ("ArmNameWarning", "UndecidableWarning")
__all__ = [*(kind.__name__ for kind in all_kinds()), *_WARNINGS]  # noqa: PLE0604
"""The names that `standout` exports."""


def shown(value: object, length: int = 60) -> str:
    """A user's value for a message, shortened to `length` characters."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print an integer of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= length else text[: length - 3] + "..."
