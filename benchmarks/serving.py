"""`standout serve` and its clients as processes of their own, for the benchmarks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit


class Server:
    """`standout serve` on a file or a database; may be killed and started again."""

    def __init__(self, place: Path | str) -> None:
        self.place, self.port = place, 0
        self.start()

    def start(self) -> None:
        words = [
            "serve",
            str(self.place),
            "--new",
            "--port",
            str(self.port),
            "--log-level",
            "error",
        ]
        self.process = subprocess.Popen(
            [
                str(Path(sys.executable).with_name("standout")),
                *words,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("dashboard: "):
                self.port = int(urlsplit(line.split()[1]).port or 0)
                return
        raise RuntimeError("the server did not start")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Fork; `work` writes what it has to say to a pipe. The child's id and the pipe."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            work(writer)
            code = 0
        except BaseException as error:
            print(f"client: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    os.close(writer)
    return pid, reader


def said(pipe: int) -> list[int]:
    """All numbers that a child wrote."""
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    os.close(pipe)
    return [int(line) for line in b"".join(parts).split()]
