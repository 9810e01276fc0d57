"""A way to PostgreSQL that breaks at the worst moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import psycopg

_WRITING = (b"INSERT", b"UPDATE", b"DELETE", b"COPY")


class Cut:
    """A proxy on 127.0.0.1; when `is_armed`, the next COMMIT is carried out and not answered.

    Of a transaction that only reads it is let through. With `before`, the connection breaks before
    the COMMIT gets there. Whoever served the connection is ended by `pg_terminate_backend`.
    """

    def __init__(self, url: str) -> None:
        self._direct = url
        parts = urlsplit(url)
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = url.replace(f":{parts.port}/", f":{port}/")
        self.is_armed = False
        self.before = False
        self.refuses = False
        self.cuts = 0
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.create_connection(self._target)
            self._open.append(client)
            thread = threading.Thread(target=self._carry, args=(client, server))
            thread.start()
            self._threads.append(thread)

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        is_mute = threading.Event()
        answers = threading.Thread(target=_pump, args=(server, client, is_mute))
        answers.start()
        has_written = False
        with suppress(OSError):
            while data := client.recv(65536):
                has_written |= any(word in data for word in _WRITING)
                if self.is_armed and has_written and b"COMMIT" in data:
                    is_mute.set()
                    self._cut(server, data)
                    break
                has_written &= b"COMMIT" not in data
                server.sendall(data)
        for one in (client, server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        answers.join()
        client.close()
        server.close()

    def _cut(self, server: socket.socket, data: bytes) -> None:
        self.is_armed = False
        self.cuts += 1
        with psycopg.connect(self._direct, autocommit=True) as connection:
            if not self.before:
                done = "SELECT count(*) FROM standout_events"
                count = connection.execute(done).fetchone()
                server.sendall(data)
                while connection.execute(done).fetchone() == count:
                    pass
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'standout' AND datname = current_database()"
            )

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in self._open:  # Also of whoever forgot to close it.
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()


def _pump(server: socket.socket, client: socket.socket, is_mute: threading.Event) -> None:
    with suppress(OSError):
        while data := server.recv(65536):
            if not is_mute.is_set():
                client.sendall(data)
    with suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(url: str) -> Iterator[Cut]:
    """The proxy in front of a database's address."""
    cut = Cut(url)
    try:
        yield cut
    finally:
        cut.close()
