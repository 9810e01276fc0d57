"""Ending in time, whatever hangs."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import FrameType

import uvicorn

GRACE = 3
"""Seconds that open connections get when the server ends (streams of events never end)."""
LAST = GRACE + 2
"""Seconds after which the process ends in any case: a database that does not answer
would otherwise keep it for as long as that takes. Nothing acknowledged is lost by it."""


def _end(seconds: float, code: int) -> None:
    time.sleep(seconds)
    print("standout: something still hangs; ending without it", file=sys.stderr, flush=True)
    os._exit(code)


class Server(uvicorn.Server):
    """A server that ends `LAST` seconds after it was told to, at the latest."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal says to end."""
        is_first = not self.should_exit
        super().handle_exit(sig, frame)
        if is_first:
            threading.Thread(target=_end, args=(LAST, 128 + sig), daemon=True).start()
