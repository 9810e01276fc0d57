"""Why a run ended."""

from __future__ import annotations

from enum import StrEnum


class StopReason(StrEnum):
    """The reason a run ended, with a message for people."""

    message: str

    def __new__(cls, value: str, message: str) -> StopReason:
        """Attach the message to the plain text value."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.message = message
        return member

    DECIDED = "decided", "every arm is decided"
    BUDGET = "budget", "the budget is used up; some arms are undecided"
    STUCK = "stuck", "no arm is left that can be pulled; some arms are undecided"
    RUNNING = "running", "not ended yet; some arms are undecided"
    INTERRUPTED = "interrupted", "interrupted; some arms are undecided"
