"""One process at a time compiles a kernel; the others wait, and read what it has written.

Large kernels take half a minute. Without turns, workers that start together would all compile the
same ones, side by side.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

try:
    import fcntl
except ImportError:  # On Windows each process compiles for itself.
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 300.0
"""Seconds to wait for another process, which may hang."""
_LOOK = 0.05


class Turn:
    """The turn to compile one kernel for one signature. A process that dies gives it up."""

    def __init__(self) -> None:
        self._file: TextIOWrapper | None = None

    def begin(self, folder: Path, what: str) -> None:
        """Wait until no other process compiles `what`; go on without a turn if there is no lock."""
        self.end()
        if fcntl is not None:
            path = folder / f"{hashlib.sha256(what.encode()).hexdigest()[:24]}.lock"
            with suppress(OSError):
                self._file = path.open("w")
                _wait_for(self._file)

    def end(self) -> None:
        """Let the next process take its turn."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                Path(file.name).unlink()
            file.close()


def _wait_for(file: TextIOWrapper) -> None:
    """Lock the file as soon as it is free, or go on without a lock after `_PATIENCE`."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_LOOK)
