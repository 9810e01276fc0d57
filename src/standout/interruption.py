"""Deferral of Ctrl-C and SIGTERM while an exception would do harm.

Python runs signal handlers between any two steps of the main thread, also inside a function that
C code has called. An exception that is raised there may be lost. During the loading of compiled
code it has crashed the process.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

try:
    # The same functions without the conversion of numbers to enums, which is ten times as slow.
    from _signal import getsignal  # type: ignore[import-not-found]
    from _signal import signal as set_handler
except ImportError:  # Not CPython.
    from signal import getsignal
    from signal import signal as set_handler

_SIGNALS = (int(signal.SIGINT), int(signal.SIGTERM))


class put_off:
    """Defers a signal until the end of the block; a second signal takes effect at once."""

    __slots__ = ("_handlers", "_heard")

    def __enter__(self) -> None:
        self._heard: list[int] = []
        self._handlers: list[tuple[int, Any]] = []
        if threading.current_thread() is not threading.main_thread():
            return  # Handlers run only in the main thread.
        hear = self._hear
        for number in _SIGNALS:
            handler = getsignal(number)
            # Skip SIG_IGN and SIG_DFL; only Python handlers are deferred.
            if callable(handler):
                self._handlers.append((number, handler))
        try:
            for number, _ in self._handlers:
                set_handler(number, hear)
        except BaseException:
            self.__exit__()
            raise

    def _hear(self, number: int, frame: FrameType | None) -> None:
        handler = dict(self._handlers)[number]
        if self._heard:
            handler(number, frame)
        self._heard.append(number)

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        for number, handler in self._handlers:
            set_handler(number, handler)
        if self._heard:
            signal.raise_signal(self._heard[0])
