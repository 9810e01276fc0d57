"""Several server processes on one socket, looked after by one parent."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from types import FrameType

from standout.errors import StudyError
from standout.service.server import LAST
from standout.service.settings import Settings

EARLY = 5.0
"""A process that ends sooner than this did not come up."""
MOST_EARLY = 3


class Crew:
    """Starts processes, starts others for those that die, and ends them all."""

    def __init__(
        self, place: str, settings: Settings, listener: socket.socket, level: str, count: int
    ) -> None:
        self._listener = listener
        self._told = json.dumps(
            {
                "place": place,
                "settings": asdict(settings),
                "level": level,
                "socket": listener.fileno(),
            }
        )
        self._count = count
        self._processes: dict[subprocess.Popen[str], float] = {}
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
            [sys.executable, "-P", "-m", "standout.service.worker_process"],
            stdin=subprocess.PIPE,
            pass_fds=[self._listener.fileno()],
            text=True,
        )
        assert process.stdin is not None
        self._processes[process] = time.monotonic()
        try:
            process.stdin.write(self._told + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # It has died already, which will be seen.

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
