"""A stretch of network that can be cut, or fall silent: a proxy before a port of this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_STEP = 0.05


class Proxy:
    """Passes bytes on to `target`, unless told otherwise."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._speaks = threading.Event()
        self._speaks.set()
        self._is_over = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self.port = 0
        self.join()

    def join(self) -> None:
        """Take connections (again), on the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port), reuse_port=True)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """End all connections and refuse others, as a server that is being restarted."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def hush(self) -> None:
        """Pass nothing on, and say nothing: connections stand, nobody answers."""
        self._speaks.clear()

    def speak(self) -> None:
        """Pass everything on again."""
        self._speaks.set()

    def close(self) -> None:
        self._is_over = True
        self.cut()
        self.speak()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        self._speaks.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            near.close()
            return
        with self._lock:
            self._open |= {near, far}
        back = threading.Thread(target=self._pass, args=(far, near), daemon=True)
        back.start()
        self._pass(near, far)
        back.join()
        with self._lock:
            self._open -= {near, far}
        near.close()
        far.close()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._speaks.wait()
                if self._is_over:
                    return
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """A proxy, closed afterwards."""
    made = Proxy(target)
    try:
        yield made
    finally:
        made.close()
