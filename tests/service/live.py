"""A real server for tests: in a thread of the tests' process, or as a program."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from standout.service.server import make_server, open_socket
from standout.service.settings import Settings
from tests.patience import HANGS


@contextmanager
def serving(place: str, **settings: Any) -> Iterator[str]:
    """A server in a thread; its address."""
    chosen = Settings(**settings)
    listener = open_socket("127.0.0.1", 0)
    server = make_server(place, chosen, "error")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(HANGS)
        listener.close()


class Program:
    """`standout serve` as a program, with what it prints in files; runs the code `before` first."""

    def __init__(
        self,
        folder: Path,
        place: str,
        *words: str,
        at: Path | None = None,
        files: int | None = None,
        before: str = "",
        **environment: str,
    ) -> None:
        self.folder, self.place, self.words = folder, place, words
        self.at, self.files = at, files
        self._code = f"{before}\nfrom standout.cli.main import main; main()"
        self.environment = {**os.environ, **environment}
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        return (self.folder / "out").read_text() + (self.folder / "err").read_text()

    def start(self) -> None:
        command = [sys.executable, "-P", "-c", self._code]
        if self.files is not None:
            command = ["sh", "-c", f'ulimit -n {self.files}; exec "$@"', "sh", *command]
        words = [
            "serve",
            self.place,
            "--new",
            "--port",
            str(self.port),
            "--log-level",
            "info",
            *self.words,
        ]
        with (self.folder / "out").open("a") as out, (self.folder / "err").open("a") as err:
            begin = out.tell()
            self.process = subprocess.Popen(
                [*command, *words], stdout=out, stderr=err, env=self.environment, cwd=self.at
            )
        deadline = time.monotonic() + HANGS
        while True:
            said = (self.folder / "out").read_text()[begin:]
            if found := re.search(r"dashboard: http://127.0.0.1:(\d+)/", said):
                self.port = int(found[1])
                return
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, self.output
            time.sleep(0.02)

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As Ctrl-C or a service manager would; the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(HANGS)


@contextmanager
def program(folder: Path, place: str, *words: str, **options: Any) -> Iterator[Program]:
    """The program, ended afterwards; `options` are those of `Program`."""
    running = Program(folder, place, *words, **options)
    running.start()
    try:
        yield running
    finally:
        running.stop()
