"""Checks of numbers and texts from users: within the range of the databases and the core.

Each function returns the value in its plain type, or raises a `StudyError` of one line.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from standout.core.method import Method
from standout.errors import MethodError, ProblemError, StudyError, shown

MOST_PULLS = 10**15
"""The largest budget; floating-point sums cannot count further."""
MOST_FAILURES = 10**9
MOST_TICKETS = 1_000_000
"""The largest number of tickets of one call of `ask`."""
MOST_BATCH = 10**9
LONGEST_KEY = 200
TEN_YEARS = 10 * 366 * 86400.0


def whole(what: str, value: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`; 3.0 is one, True and '3' are not."""
    number: int | None = None
    try:
        if type(value) is int:
            number = value
        elif isinstance(value, float | np.floating) and float(value).is_integer():
            number = int(value)
        elif not isinstance(value, bool | np.bool_ | np.ndarray):
            number = operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or not least <= number <= most:
        raise StudyError(
            f"{what} must be a whole number from {least} to {most:,}, not {shown(value)}"
        )
    return number


def seconds(what: str, value: object) -> float:
    """A positive number of seconds, at most ten years."""
    number = real(value)
    if number is None or not 0 < number <= TEN_YEARS:
        raise StudyError(
            f"{what} must be a positive number of seconds, at most ten years, not {shown(value)}"
        )
    return number


def real(value: object) -> float | None:
    """A finite number as a float; None for anything else."""
    if isinstance(value, bool | np.bool_ | str | bytes | np.ndarray):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def text(what: str, value: object) -> str:
    """`value` if it is a text; otherwise raises `StudyError`, which names it `what`."""
    if not isinstance(value, str):
        raise StudyError(f"{what} must be a text, not {shown(value)}")
    return value


def key_text(value: object) -> str:
    """An idempotency key from a caller: a short text."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_KEY or not value.isprintable():
        raise StudyError(
            f"a key must be a text of 1 to {LONGEST_KEY} printable characters, not {shown(value)}"
        )
    return encodable("a key", value)


def encodable(what: str, value: str) -> str:
    """`value` if it can be encoded; otherwise raises `ProblemError`, which names it `what`."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ProblemError(f"{what} contains half of a surrogate pair, which is no text") from None
    return value


def check_method(method: Method) -> None:
    """Refuse options of a method that no study can use."""
    if method.batch > MOST_BATCH:
        raise MethodError(
            f"batch must be at most {MOST_BATCH:,} in a study, not {shown(method.batch)}"
        )
    if method.subset is not None and method.subset[0] > MOST_BATCH:
        raise MethodError(
            f"lambda must be at most {MOST_BATCH:,} in a study, not {method.subset[0]:g}"
        )


def clean(given: object) -> str:
    """Free text in the form that both databases can store."""
    found = text("a reason or a worker", given)
    return found.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
