"""Requests whose headers, or whatever else is not their body, have no end.

The parser in C reads as long as something comes, and takes headers that follow a
body (trailers) for headers. Here both have an end; h11 sees to it by itself.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 65_536
"""Bytes of a request that are not its body; a body in chunks may bring as many again as it has."""
_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\n\r\n"
    b'{"error":{"code":"too_large","message":"the headers are longer than 64 kB","detail":null}}'
)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol on httptools, with an end to what surrounds a body."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection is open; nothing of its first request has been read."""
        self._around = self._within = 0
        self._has_head = False
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """As uvicorn's; ends the connection when what is not body gets too long."""
        self._around += len(data)
        super().data_received(data)
        if self._around > LONGEST_HEAD + self._within and not self.transport.is_closing():
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._has_head = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes behind the body is none."""
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The body begins."""
        self._has_head = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._around -= len(body)
        self._within += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._around = self._within = 0
        super().on_message_complete()
