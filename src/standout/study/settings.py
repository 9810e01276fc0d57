"""The settings that may change while a study runs; none of them can make a verdict wrong.

All intervals hold at all times, for any choice of pulls and any stopping time. So another stopping
rule or batch size changes only how long the study takes. A tolerance may be chosen after looking at
the data: if all intervals hold, each verdict is right for its tolerance. A smaller tolerance
withdraws the verdicts that depend on the larger one.

All other settings are fixed. Delta, the noise and the arms determine each interval (an arm fails
with probability at most delta/n), and k is the question itself. A choice that depends on the data
would spend delta again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from standout.errors import ProblemError, StudyError, shown
from standout.estimation.until import Until
from standout.study import arguments
from standout.text import span

DAY = 86400.0


@dataclass(frozen=True)
class Settings:
    """The settings of a study that may change, as plain values.

    A `lease` of None adapts to the delays of the latest answers.
    """

    budget: int | None = None
    tolerance: float = 0.0
    batch: int = 1
    until: str | None = None
    pause_after: int | None = None
    lease: float | None = None
    stopped: bool = False

    def with_values(self, values: Mapping[str, Any], n_arms: int) -> Settings:
        """These settings with other values; raises `StudyError` for an invalid one."""
        unknown = sorted(set(values) - {one.name for one in fields(self)})
        if unknown:
            raise StudyError(
                f"{unknown[0]} cannot be set; budget, tolerance, batch, until, pause_after and "
                "lease may change, the rest is part of the question (begin another study)"
            )
        checked: dict[str, Any] = {name: _CHECKS[name](each) for name, each in values.items()}
        if checked.get("until") is not None:
            Until.parse(checked["until"]).check_arms(n_arms)
        return replace(self, **checked)

    def unlike(self, other: Settings) -> dict[str, Any]:
        """The values that differ from those of `other`."""
        mine, theirs = vars(self), vars(other)
        return {name: value for name, value in mine.items() if value != theirs[name]}


def change_words(before: Settings, after: Settings) -> str:
    """The differences in words: `tolerance from 0 to 0.01; budget from none to 500`."""
    changed = after.unlike(before)
    parts = []
    if "stopped" in changed:
        parts.append("stopped" if after.stopped else "started again")
    parts += [
        f"{name.replace('_', ' ')} from {_word(name, getattr(before, name))} to {_word(name, new)}"
        for name, new in changed.items()
        if name != "stopped"
    ]
    return "; ".join(parts) or "nothing changed"


def _word(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if name == "lease":
        return span(value)
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _tolerance(value: object) -> float:
    number = arguments.real(value)
    if number is None or number < 0:
        raise ProblemError(f"tolerance must be a number of at least 0, not {shown(value)}")
    return number


def _until(value: object) -> str:
    return str(value if isinstance(value, Until) else Until.parse(arguments.text("until", value)))


def _stopped(value: object) -> bool:
    if not isinstance(value, bool):
        raise StudyError(f"stopped must be True or False, not {shown(value)}")
    return value


def _or_none(check: Callable[[object], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else check(value)


def _whole(name: str, most: int) -> Callable[[object], int]:
    return lambda value: arguments.whole(name, value, 1, most)


_CHECKS: dict[str, Callable[[object], object]] = {
    "budget": _or_none(_whole("budget", arguments.MOST_PULLS)),
    "tolerance": _tolerance,
    "batch": _whole("batch", arguments.MOST_BATCH),
    "until": _or_none(_until),
    "pause_after": _or_none(_whole("pause_after", arguments.MOST_FAILURES)),
    "lease": _or_none(lambda value: arguments.seconds("a lease", value)),
    "stopped": _stopped,
}
