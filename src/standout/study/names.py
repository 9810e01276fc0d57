"""Names of workers."""

from __future__ import annotations

import os
import socket
from functools import cache

from standout.study import arguments
from standout.study.events.contents import clean


def worker_of(given: str | None) -> str:
    """The worker's name: as given, or the machine and the process."""
    if given is None or given == "":
        return _process_name(os.getpid())
    return clean(arguments.text("worker", given))


@cache
def _process_name(process: int) -> str:
    return clean(f"{socket.gethostname()}:{process}")
