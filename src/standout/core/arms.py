"""Arms as the caller gave them: whole numbers stay whole numbers, texts lose blanks at their ends.

An arm is any hashable thing, such as a text, a number or a tuple of settings. Its name, for
tables and messages, is its text; no two arms of a run share one.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from standout.errors import ArmNameWarning, ProblemError, shown


def check_arms(arms: Sequence[object]) -> tuple[str, ...]:
    """Arm names as a tuple of distinct texts; raises an error that names an invalid one."""
    names = tuple(str(arm) for arm in arms)
    if len(set(names)) != len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise ProblemError(f"arm {name!r} is named twice; give each arm its own name")
            seen.add(name)
    return names


def label_of(arm: Any) -> Any:
    """The arm in plain Python: NumPy's numbers as Python's, a text without blanks at its ends."""
    if type(arm) is str:
        return arm.strip()
    if isinstance(arm, np.generic):
        return label_of(arm.item())
    if arm is None or arm != arm or not isinstance(arm, Hashable):
        raise ProblemError(
            f"an arm is a text, a number or another hashable value, not {shown(arm)}"
        )
    return arm


def labels_of(arms: Iterable[Any]) -> tuple[Any, ...]:
    """All arms in plain Python; warns if texts had blanks at their ends."""
    given = list(arms)
    labels = tuple(label_of(arm) for arm in given)
    trimmed = [arm for arm in given if isinstance(arm, str) and arm != arm.strip()]
    if "" in labels:
        raise ProblemError(f"arm {given[labels.index('')]!r} has no name but blanks")
    if len(set(labels)) != len(set(map(str, labels))):
        raise ProblemError(
            "two arms are equal, or have the same name, though they are not of the same type "
            "(such as 1, 1.0 and '1'); give all arms one type"
        )
    if trimmed:
        warn_trimmed(trimmed)
    return labels


def warn_trimmed(names: Sequence[str]) -> None:
    """Warn that names had blanks at their ends, with an example."""
    count = len(set(names))
    what = "1 name of an arm has" if count == 1 else f"{count:,} names of arms have"
    warnings.warn(
        f"{what} blanks at an end, which are left out: {str(names[0])!r} is {names[0].strip()!r}",
        ArmNameWarning,
        stacklevel=4,
    )
