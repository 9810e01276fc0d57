"""Whose turn it is, among the processes of one user on one machine."""

from __future__ import annotations

import hashlib
import os
import select
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there everybody takes the database's lock.
    fcntl = None  # type: ignore[assignment]

from standout.study.inbox.private_folder import private_folder
from standout.study.inbox.request_sockets import ReceivedRequest, SentRequest

FORM = 1
"""Goes up with every change of what is sent: those of different forms do not meet."""
MOST = 32
"""Requests of others in one transaction."""
_BACKLOG = 64
_LATELY = 1.0
"""Seconds for which somebody who had to wait lets the next ones listen."""
_NOTE = struct.Struct("<dI")
"""In the lock's file: when somebody had to wait last, and how many came at once."""
_LONGEST_PLACE = 100
"""Characters of a socket's address; systems allow 104 or 108."""


class Turn:
    """The turn of this process, until it is closed: it may listen to others meanwhile.

    `number` is the lock's file. At `place`, unless nobody is `expected`, it listens.
    """

    def __init__(self, number: int, place: Path, expected: int | None) -> None:
        self._number, self._place, self._expected = number, place, expected or 0
        self._listener: socket.socket | None = None
        self._coming: list[ReceivedRequest] = []
        self.most = 0
        """How many came at once."""
        if expected is not None:
            with suppress(OSError):
                self._listen(place)

    @property
    def is_alone(self) -> bool:
        """Whether nobody can come: it does not listen."""
        return self._listener is None

    def _listen(self, place: Path) -> None:
        place.unlink(missing_ok=True)  # Of one that was killed.
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            listener.bind(str(place))
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        self._listener = listener

    def gather(self, seconds: float = 0.0) -> list[ReceivedRequest]:
        """The requests that have come in since, as far as they fit into one transaction.

        As many as came last time are waited for, `seconds` at most.
        """
        if self._listener is None:
            return []
        end = time.monotonic() + seconds
        self._accept(self._listener)
        waiter = select.poll()  # select() knows the first thousand files only.
        waiter.register(self._listener, select.POLLIN)
        while len(self._coming) < self._expected and (left := end - time.monotonic()) > 0:
            waiter.poll(1000 * left)
            self._accept(self._listener)
        return self._complete()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # Nobody is there, or no more files can be opened.
            while len(self._coming) < MOST:
                self._coming.append(ReceivedRequest(listener.accept()[0]))

    def _complete(self) -> list[ReceivedRequest]:
        found: list[ReceivedRequest] = []
        coming, self._coming = self._coming, []
        for one in coming:
            if not one.look():
                one.close()
            else:
                (self._coming if one.line is None else found).append(one)
        self.most = max(self.most, len(found))
        return found

    def close(self) -> None:
        """Let everybody know who was not served, and let the next one in."""
        try:
            if self._listener is not None:
                self._end(self._listener)
        finally:
            with suppress(OSError):  # What was done in the turn is done.
                fcntl.flock(self._number, fcntl.LOCK_UN)

    def _end(self, listener: socket.socket) -> None:
        with suppress(OSError):
            self._place.unlink()
        listener.close()
        for one in self._coming:
            one.close()
        if self.most:
            expect(self._number, self.most)


class Inbox:
    """The file with the lock of one study, and the socket beside it.

    `identity` is a text that no other study has, whatever its database.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        name = hashlib.sha256(f"{FORM} {identity}".encode()).hexdigest()[:24]
        self._lock, self._place = folder / f"{name}.lock", folder / f"{name}.inbox"
        self._number: int | None = None
        self._owner = 0
        self.shunned_until = 0.0
        """When to try again after somebody did not answer, in the system's monotonic time."""

    @classmethod
    def of(cls, identity: str) -> Inbox | None:
        """The inbox of a study; None where there can be none."""
        if "flock" not in dir(fcntl) or not hasattr(socket, "AF_UNIX"):
            return None
        folder = private_folder()
        found = None if folder is None else cls(folder, identity)
        return None if found is None or len(str(found._place)) > _LONGEST_PLACE else found

    def _open(self) -> int:
        """The lock's file. A lock is shared with a parent process if its open file is."""
        if self._number is None or self._owner != os.getpid():
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._number, self._owner = os.open(self._lock, flags, 0o600), os.getpid()
        return self._number

    def take_turn(self) -> Turn | None:
        """This process's turn; None if somebody else has it. Raises OSError if it cannot be had."""
        number = self._open()
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Turn(number, self._place, expected(number))
        except BlockingIOError:
            return None
        except BaseException:  # Ctrl-C, say, when it had just been got.
            fcntl.flock(number, fcntl.LOCK_UN)
            raise

    def send(self, line: bytes) -> SentRequest | None:
        """Send a request to whoever has the turn; None if that one does not listen."""
        found = SentRequest.send(self._place, line)
        if found is None:
            expect(self._open(), 1)
        return found

    @property
    def is_free(self) -> bool:
        """Whether nobody has the turn."""
        number = self._open()
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(number, fcntl.LOCK_UN)
        return True

    def close(self) -> None:
        """Close the lock's file, and remove it where nobody else has its turn."""
        number, self._number = self._number, None
        if number is None:
            return
        try:
            if self._owner == os.getpid():
                with suppress(OSError):
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._lock.unlink(missing_ok=True)
                    fcntl.flock(number, fcntl.LOCK_UN)  # A fork may have it open, too.
        finally:
            os.close(number)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def expected(number: int) -> int | None:
    """How many came at once of late; None if nobody had to wait: to listen costs, too."""
    kept = os.pread(number, _NOTE.size, 0)
    if len(kept) < _NOTE.size:
        return None
    moment, count = _NOTE.unpack(kept)
    return min(count, MOST) if abs(time.time() - moment) < _LATELY else None


def expect(number: int, count: int) -> None:
    """Note that somebody had to wait now, and how many came at once."""
    with suppress(OSError):  # A full disk: then nobody listens.
        os.pwrite(number, _NOTE.pack(time.time(), count), 0)
