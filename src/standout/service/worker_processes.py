"""Several server processes on one socket, looked after by one parent.

uvicorn has the like; but its processes go on when their parent is killed, one that is
busy for some seconds is killed, and none ends in time as `Server` does.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

from standout.errors import StandoutError, StudyError
from standout.retries import Patience
from standout.service.settings import Settings

EARLY = 5.0
"""A process that ends sooner than this did not come up."""
MOST_EARLY = 3
OUTAGE = 60.0
"""Seconds that a process waits for a database that is away when it comes up."""


class ServerProcesses:
    """Starts processes, starts others for those that die, and ends them all."""

    def __init__(
        self, place: str, settings: Settings, listener: socket.socket, level: str, count: int
    ) -> None:
        self._socket = listener.fileno()
        self._told = pickle.dumps((place, settings, level, self._socket))
        self._count = count
        self._processes: dict[subprocess.Popen[bytes], float] = {}
        self._early = 0
        self._is_ending = False

    def run(self) -> None:
        """Serve until a signal comes."""
        before = [(s, signal.signal(s, self._end)) for s in (signal.SIGINT, signal.SIGTERM)]
        try:
            while not self._is_ending:
                self._replace_dead()
                while len(self._processes) < self._count and not self._is_ending:
                    self._start()
                time.sleep(0.2)
        finally:
            self._stop()
            for number, handler in before:
                signal.signal(number, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._is_ending = True

    def _start(self) -> None:
        process = subprocess.Popen(
            # -P: nothing is imported from the folder that the server was started in.
            [sys.executable, "-P", "-c", f"import {__name__}; {__name__}.serve()"],
            stdin=subprocess.PIPE,
            pass_fds=[self._socket],
            bufsize=0,
        )
        self._processes[process] = time.monotonic()
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # It has died already, which will be seen.
            process.stdin.write(self._told)

    def _replace_dead(self) -> None:
        for process, began in list(self._processes.items()):
            if process.poll() is None:
                continue
            del self._processes[process]
            self._early = self._early + 1 if time.monotonic() - began < EARLY else 0
            if self._early >= MOST_EARLY:
                raise StudyError("the server's processes end as soon as they begin; see above why")
            print(
                f"standout: a server process ended ({process.returncode}); starting another",
                file=sys.stderr,
            )

    def _stop(self) -> None:
        from standout.service.server import LAST

        for process in self._processes:
            process.terminate()
        deadline = time.monotonic() + LAST + 1
        for process in self._processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()


def serve() -> None:
    """What such a process does: serve until it is told to end, or its parent is gone.

    What it needs comes on its standard input, where no list of processes shows
    it. The same pipe ends with the parent.
    """
    told = sys.stdin.fileno()
    place, settings, level, number = pickle.load(sys.stdin.buffer)
    # Ctrl-C goes to the whole group of processes; the parent then says when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.read(told, 1024):  # Not through Python's buffer, which its end would wait for.
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    # Before anything slow is imported or done: a parent may go while its child is still coming up,
    # and the child has the socket.
    threading.Thread(target=watch, daemon=True).start()
    from standout.service.server import make_server
    from standout.study.warm import warm_up

    warm_up()
    try:
        # The service is up: a database that is away just now is waited for, as by its requests.
        server = Patience(OUTAGE).call(lambda: make_server(place, settings, level))
    except StandoutError as error:
        sys.exit(f"standout: error: {error}")
    server.run(sockets=[socket.socket(fileno=number)])
