"""Clients that dawdle: half a request, a byte at a time, or nothing at all."""

from __future__ import annotations

import random
import socket
import time
from contextlib import ExitStack, closing, suppress

from tests.torture.journal import Journal

HEAD = b"POST /api/v1/studies/main/tell HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = (
    b"POST /api/v1/studies/main/tell HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    b'{"rewards": [{"arm": "ash", "reward": 0.123}], "key": "never whole'
)


def dawdle(port: int, journal: Journal, rng: random.Random, count: int, steps: int) -> None:
    """Keep `count` connections open for so many steps; nothing that is sent is ever whole."""
    with ExitStack() as stack:
        lines: list[tuple[socket.socket, bytes]] = []
        for _ in range(count):
            with suppress(OSError):
                line = socket.create_connection(("127.0.0.1", port), 5)
                stack.enter_context(closing(line))
                text = rng.choice((HEAD, BODY))
                begin = rng.choice((0, 1, rng.randrange(len(text)), len(text)))
                line.sendall(text[:begin])
                lines.append((line, text[begin:]))
                journal.happened("slow clients")
        for step in range(steps):
            for line, rest in lines:
                with suppress(OSError):
                    line.sendall(rest[step : step + 1] or b" ")
            time.sleep(rng.uniform(0.0, 0.1))
