"""Connections that say nothing, or say it slowly, keep nobody else out.

A connection waits while its request is not complete. It may do so for a
limited time; and when there is no room for a new connection, the one that has
waited for longest makes room. So a client that sends its request at once gets in,
however many others dawdle.
"""

from __future__ import annotations

import asyncio
from typing import Any

from standout.service.settings import Settings

ACCEPTED_AT_ONCE = 128
"""Connections taken up before any of them is looked at."""
_OTHER_FILES = 200
"""Files that a process needs for databases, logs and exports."""
_FEWEST = 16
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Retry-After: 5\r\n\r\n"
    b'{"error":{"code":"full","message":"too many connections; try again later","detail":null}}'
)


class Room:
    """The connections of one server process: those that wait, the longest first."""

    def __init__(self, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self.waiting: dict[Any, None] = {}

    def make(self, new: Any, count: int) -> bool:
        """Whether there is room for one more, if need be at the cost of another that waits."""
        if count <= self.most:
            return True
        slowest = next((one for one in self.waiting if one is not new), None)
        if slowest is None:
            return False
        self.leave(slowest)
        slowest.transport.abort()
        return True

    def leave(self, connection: Any) -> None:
        """It waits no longer, or is gone."""
        self.waiting.pop(connection, None)


def _protocol() -> Any:
    """The protocol on the parser in C, where that is installed, else the one in Python."""
    try:
        from standout.service.security.request_heads import BoundedProtocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        return H11Protocol
    return BoundedProtocol


def connection_class(settings: Settings) -> type[asyncio.Protocol]:
    """uvicorn's protocol for one server process, with time-outs and a limit on connections."""
    room = Room(most_connections(settings.most_connections), settings.header_seconds)
    base: Any = _protocol()

    class Connection(base):  # type: ignore[misc]
        """One connection; waits from its beginning, and between two requests."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._limit: asyncio.TimerHandle | None = None
            if not room.make(self, len(self.connections)):
                transport.write(_FULL)
                transport.close()
                return
            self._look()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            # Idle, unless the next request was sent already; how long is uvicorn's keep-alive.
            self._wait_or_work()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_limit()
            room.leave(self)
            super().connection_lost(exc)

        def _look(self) -> None:
            """After something was read: is the request complete, or at least its headers?"""
            if self._has_headers():
                self._end_limit()  # How long a body takes is limited where it is read.
            elif self._limit is None and not self.transport.is_closing():
                self._limit = self.loop.call_later(room.seconds, self.transport.abort)
            self._wait_or_work()

        def _has_headers(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _wait_or_work(self) -> None:
            if self._has_headers() and not self.cycle.more_body:
                room.leave(self)
            elif not self.transport.is_closing():
                room.waiting.setdefault(self)

        def _end_limit(self) -> None:
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None

    return Connection


def most_connections(wanted: int) -> int:
    """As many as wanted, or as the system has files for.

    A server that runs out of files can neither accept nor refuse.
    """
    try:
        import resource
    except ImportError:  # Not on Windows.
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES + ACCEPTED_AT_ONCE
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        soft = raised
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(_FEWEST, soft - _OTHER_FILES - ACCEPTED_AT_ONCE))
