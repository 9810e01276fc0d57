"""Asking in a test that has other things to do while all that is useful is handed out."""

from __future__ import annotations

from typing import Any

from standout.errors import AllOutError
from standout.study import Ticket
from standout.study_interface import StudyInterface


def useful(study: StudyInterface, n: int, **how: Any) -> list[Ticket]:
    """Up to `n` tickets; none also while everything useful is out."""
    try:
        return study.ask(n, **how)
    except AllOutError:
        return []
