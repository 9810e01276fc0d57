"""Ctrl-C and SIGTERM: to put them off where an exception would do harm.

Python runs a signal's handler between any two steps of the main thread, also inside a
function that C code has called. An exception that is raised there is lost, or worse: amid
the loading of compiled code it has crashed the process.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def put_off() -> Iterator[None]:
    """A signal that comes within takes effect afterwards; a second one does so at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Handlers run in the main thread alone.
        return
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        handler = handlers[number]
        if heard and callable(handler):
            handler(number, frame)
        heard.append(number)

    # One that is ignored, or ends the process without Python, is none of ours.
    handlers = {int(s): handler for s in _SIGNALS if callable(handler := signal.getsignal(s))}
    for number in handlers:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])
