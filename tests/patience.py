"""Waiting in tests: a last resort against what hangs, never a measure of speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

HANGS = 300.0
"""Seconds after which a test says that something hangs: no loaded machine takes that long."""


def until(check: Callable[[], Any], what: object, pause: float = 0.02) -> Any:
    """What `check` gives once that is true; says `what` (a text, or what makes it) if never."""
    deadline = time.monotonic() + HANGS
    while not (found := check()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(pause)
    return found
