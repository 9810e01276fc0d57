"""Every error that standout raises for a user's mistake.

Each class has the `code` and the HTTP `status` with which a server answers it: the
client finds the class again by the code (`by_code`). docs/service.md has the table,
`help(standout.errors)` shows the tree.

Each message says what was wrong and what to change. The command line prints it
as one line; anything that is not a `StandoutError` is a bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from standout.results import Identification


class StandoutError(Exception):
    """Something given to standout is not valid; the base of all errors here."""

    code: ClassVar[str] = "invalid"
    """What programs know the error by, in a server's answers."""
    status: ClassVar[int] = 422
    """The HTTP status of such an answer."""
    may_be_done: bool = False
    """Whether what was asked for may have been done nevertheless."""


class ProblemError(StandoutError, ValueError):
    """The question itself is not valid."""

    code = "problem"


class InstanceError(StandoutError, ValueError):
    """An instance name or file is not valid."""

    code = "instance"


class MethodError(StandoutError, ValueError):
    """No such method, or it cannot be used for this problem."""

    code = "method"


class RewardError(StandoutError, ValueError):
    """A reward is not a number that the noise family allows."""

    code = "reward"


class MeasureError(StandoutError, RuntimeError):
    """`measure` raised or gave an unusable reward.

    `arm` names the arm, `partial` is the `Identification` of all that had been
    observed until then; the original exception is the `__cause__`.
    """

    code = "measure"

    def __init__(self, message: str, arm: str, partial: Identification) -> None:
        super().__init__(message)
        self.arm = arm
        self.partial = partial


class ReproduceError(StandoutError, ValueError):
    """A reproduction cannot be made: no such figure, too few runs, no place to write."""

    code = "reproduce"


class MissingExtraError(StandoutError, ImportError):
    """A package is missing that only a part of standout needs; the message names the extra."""

    code = "missing_extra"


class StudyError(StandoutError, RuntimeError):
    """A study cannot do what was asked of it."""

    code = "study"


class AccessError(StudyError):
    """The token does not allow this, or the request comes from a page of another site."""

    code, status = "forbidden", 403


class TokenError(AccessError):
    """A token is needed, or this one does not hold."""

    code, status = "unauthorized", 401


class StorageError(StudyError):
    """The database cannot be reached, is locked, damaged, foreign or of a newer version."""

    code, status = "storage", 503


class DamagedError(StorageError):
    """An event of a study was edited, or does not follow from those before it."""

    code = "damaged"


class NoStudyError(StorageError):
    """There is no study of that name at that place (yet)."""

    code, status = "no_study", 404


class MovedError(StorageError):
    """The file was moved, removed or replaced while in use; open the study again."""

    code = "moved"


class UnavailableError(StorageError):
    """A database or a server does not answer at the moment; nothing was changed.

    Trying again may help; `wait` is for how many seconds it asked to be left alone.
    `has_waited`: it was waited for already, as long as the caller's patience allows.
    """

    code = "unavailable"

    def __init__(self, message: str, wait: float = 0.0, *, has_waited: bool = False) -> None:
        super().__init__(message)
        self.wait = wait
        self.has_waited = has_waited


class UncertainError(StorageError):
    """No answer came, and what was sent may have been done or not.

    Rewards told again with the same `key` count once; None where there is no key.
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
    """The study runs, and all that is useful to measure now is handed out.

    That is so when the budget leaves no room for more, when every arm is paused, or when so many
    rewards wait for slower ones that more would only wait, too. `wait` is in how many
    seconds the first lease ends: then its pull can be asked for again. It is 0 if no pull is out.
    """

    code, status = "all_out", 409

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait

    @classmethod
    def after(cls, wait: float) -> AllOutError:
        """The error of a caller who may ask again after `wait` seconds, if there is a lease."""
        if wait == 0.0:
            return cls("there is nothing to measure now: every arm that could be is paused")
        return cls(
            "there is nothing to measure now: all that is useful is handed out; ask again when a "
            f"reward has come in, or in {max(1, round(wait)):,} s, when the first lease ends",
            wait,
        )


class TooLateError(StudyError):
    """An answer on the rating page can be changed for a short while, and not after the end."""

    code, status = "too_late", 409


class NoPictureError(StudyError):
    """There is no such picture in the folder of pictures, or the file there is none."""

    code, status = "no_picture", 404


class TicketError(StudyError, ValueError):
    """No such ticket, or it is not what it is taken for."""

    code = "ticket"


class NotYoursError(TicketError):
    """The ticket was handed to somebody else, and a rater answers only its own."""

    code, status = "not_yours", 403


class ToldError(TicketError):
    """The ticket was told before, and a told reward is never changed."""

    code, status = "told", 409


class KeyUsedError(StudyError, ValueError):
    """A key was used before to tell other rewards, at `time`, `count` of them."""

    code, status = "key", 409

    def __init__(self, message: str, time: float | None = None, count: int | None = None) -> None:
        super().__init__(message)
        self.time = time
        self.count = count


class BatchError(StudyError, ValueError):
    """One of many rewards is bad; none of them was counted. `index` says which (from 0).

    A server answers with the code of what is wrong with that one: its `__cause__`, or `ticket`
    where that is all there is to say.
    """

    code = "batch"

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


def all_kinds(kind: type[StandoutError] = StandoutError) -> Iterator[type[StandoutError]]:
    """`kind` and every class below it that is defined here, a class before its own kinds."""
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == __name__:
            yield from all_kinds(each)


def by_code(code: str) -> type[StandoutError] | None:
    """The class of a server's `code`; None for a code that is no error of ours."""
    return next((kind for kind in all_kinds() if kind.code == code), None)


class UndecidableWarning(UserWarning):
    """Some arm looks as if it could never be decided without a tolerance or a budget."""


class ArmNameWarning(UserWarning):
    """An arm's name had blanks at an end; they are left out."""


_WARNINGS = ("ArmNameWarning", "UndecidableWarning")
__all__ = [*(kind.__name__ for kind in all_kinds()), *_WARNINGS]  # noqa: PLE0604
"""What `standout` itself offers."""


def shown(value: object, length: int = 60) -> str:
    """What a user gave, as a message shows it: its start, if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= length else text[: length - 3] + "..."
