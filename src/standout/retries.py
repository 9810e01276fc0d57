"""Retries while a server or a database is unavailable."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from standout.errors import UnavailableError

T = TypeVar("T")
Say = Callable[[str], None]

QUIET = 2.0
"""Seconds of waiting before the user is informed."""
SHORTEST, LONGEST = 0.05, 2.0
"""Seconds between two attempts: at first, and at most."""


class Patience:
    """Repeats a failing call for `seconds`.

    `say` is called once when waiting begins and once when it ends, for any number of waiting
    threads.
    """

    def __init__(self, seconds: float, say: Say | None = None) -> None:
        self.seconds = seconds
        self._say = say
        self._lock = threading.Lock()
        self._since: float | None = None
        self._is_over = threading.Event()

    def end(self) -> None:
        """Stop waiting: from now on, a failing call fails at once."""
        self._is_over.set()

    def call(
        self, send: Callable[[], T], may_repeat: Callable[[UnavailableError], bool] | None = None
    ) -> T:
        """The result of `send`, called again while it fails; raises the last `UnavailableError`.

        After an error for which `may_repeat` is false the call is not repeated: it may have been
        carried out, and would be carried out twice.
        """
        begin = time.monotonic()
        pause = SHORTEST
        while True:
            try:
                found = send()
            except UnavailableError as error:
                now, failure = time.monotonic(), error
                wait = max(pause, error.wait)
                is_final = may_repeat is not None and not may_repeat(error)
                if is_final or now + wait > begin + self.seconds:
                    raise
                if now - begin >= QUIET:
                    self._announce(error, begin)
            else:
                self._is_back()
                return found
            if self._is_over.wait(wait * random.uniform(0.5, 1.0)):
                raise failure
            pause = min(2 * pause, LONGEST)

    def _announce(self, error: UnavailableError, begin: float) -> None:
        with self._lock:
            if self._since is not None:
                return
            self._since = begin
        if self._say is not None:
            self._say(f"waiting, for {self.seconds:g} s at most: {error}")

    def _is_back(self) -> None:
        with self._lock:
            since, self._since = self._since, None
        if since is not None and self._say is not None:
            self._say(f"back after {time.monotonic() - since:.0f} s; continuing")
