"""What a server writes on standard error: no secrets, and nothing over and over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from standout.service.cache import Recent

EVERY, AT_ONCE = 60.0, 10
"""Of one kind of message, `AT_ONCE` in `EVERY` seconds are written."""
_MOST_KINDS = 500


class Sparing(logging.Filter):
    """Lets some messages of each kind through, and says how many it left out.

    A kind is a logger, a level and a text before its values are filled in: what
    a client does a thousand times must not fill a disk. The log of requests, which
    has to be asked for, is not thinned.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._kinds = Recent[tuple[str, int, str], tuple[float, int]](_MOST_KINDS)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write this one."""
        if record.name == "standout.access":
            return True
        key = (record.name, record.levelno, str(record.msg)[:200])
        now = self._clock()
        begin, seen = self._kinds.get(key) or (now, 0)
        left_out = 0
        if now - begin >= EVERY:
            left_out = max(0, seen - AT_ONCE)
            begin, seen = now, 0
        self._kinds[key] = (begin, seen + 1)
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out:,} more like this were left out)"
            record.args = None
        return seen < AT_ONCE


def log_config(level: str) -> dict[str, Any]:
    """Everything on standard error. uvicorn's own access log is off: it shows queries."""
    ours = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"sparing": {"()": Sparing}},
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["sparing"],
            }
        },
        "loggers": {
            "standout": {"handlers": ["stderr"], "level": level.upper()},
            "uvicorn": ours,
            "asyncio": {**ours, "level": "ERROR" if level == "error" else "WARNING"},
            "uvicorn.access": {"handlers": [], "level": "ERROR", "propagate": False},
        },
    }
