"""Requests on their way: as their sender sees them, and as whoever has the turn does."""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from pathlib import Path

from standout.study.inbox.requests import LONGEST, Answer

DONE, BACK = b"done\n", b"null\n"
"""What follows an answer when the disk has it; what comes in place of one."""
_PART = 65536
_OVER = getattr(select, "POLLRDHUP", select.POLLIN)
"""What a sender waits for: the end of the connection, where that can be had, and not the answer
before it, which counts for nothing yet."""


class SentRequest:
    """A request that was sent, and what has come back so far.

    `answer` is what was said before the transaction was committed, and counts for nothing
    until `is_done`. `is_back`: it was not done, and is to be tried alone. `is_over`: nothing
    more will come.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._read = b""
        self._is_answered = False
        self.answer: Answer | None = None
        self.is_done = self.is_back = self.is_over = False

    @property
    def was_never_begun(self) -> bool:
        """Whether it was closed without a word: then nothing was done, and nothing will be."""
        return self.is_over and not self._is_answered

    @classmethod
    def send(cls, place: Path, line: bytes) -> SentRequest | None:
        """Send a request to whoever listens at a place; None if nobody does."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)
            connection.connect(str(place))
            if connection.send(line) == len(line):
                return cls(connection)
        except OSError:  # Nobody listens, or there are too many already.
            pass
        connection.close()
        return None

    def wait(self, seconds: float) -> None:
        """Wait until all has come, `seconds` at most."""
        waiter = select.poll()
        waiter.register(self._connection, _OVER)
        if not self.is_over and waiter.poll(1000 * seconds):
            self.look()

    def look(self) -> None:
        """Read what has come."""
        with suppress(BlockingIOError):
            while not self.is_over:
                part = self._take_part()
                self._read += part
                self.is_over = not part
                self._is_answered |= bool(part)
        *lines, self._read = self._read.split(b"\n")
        for line in lines:
            self._understand(line + b"\n")

    def _understand(self, line: bytes) -> None:
        if line == BACK:
            self.is_back = self.is_over = True
        elif line == DONE:
            self.is_done = self.is_over = self.answer is not None
        else:
            self.answer = Answer.unpack(line)

    def _take_part(self) -> bytes:
        try:
            return self._connection.recv(_PART)
        except ConnectionError:
            return b""

    def take_back(self) -> None:
        """Say that it must not be begun any more; what was said before can still be read."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class ReceivedRequest:
    """A request that came in; `line` when all of it is there."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._read = b""

    @property
    def line(self) -> bytes | None:
        """All of it; None while a part is missing."""
        return self._read if self._read.endswith(b"\n") else None

    def look(self) -> bool:
        """Read what has come; False if no request will come of it."""
        try:
            part = self._connection.recv(LONGEST + 1)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._read += part
        return bool(part) and len(self._read) <= LONGEST

    @property
    def is_taken_back(self) -> bool:
        """Whether its sender no longer wants it done, or is gone."""
        try:
            return self._connection.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def say(self, line: bytes) -> None:
        """Send a line; raises OSError if it cannot be read by whoever is there to read it."""
        with suppress(ConnectionError):  # Nobody is: the sender is dead.
            if self._connection.send(line) < len(line):
                raise BlockingIOError

    def close(self) -> None:
        """Close the connection, also that of a fork: what was not begun is not done."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
