"""Processes of the torturer's own: forked, so that they start at once, and never left behind.

The torturer itself has no threads, and forks safely. A child dies with it, whatever it dies of.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(eq=False)
class Child:
    """A process that was started here; `status` is that of `waitpid` once it has ended.

    `heard` is the length of the file that it writes to when it was started: others wrote there.
    """

    kind: str
    pid: int
    number: int = -1
    slot: int = -1
    heard: int = 0
    status: int | None = None

    @property
    def is_alive(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is None

    @property
    def code(self) -> int:
        """As in `subprocess`: negative for a signal."""
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    def send(self, number: int) -> None:
        if self.is_alive:
            os.kill(self.pid, number)

    def wait(self) -> int:
        if self.status is None:
            _, self.status = os.waitpid(self.pid, 0)
        return self.code

    def kill(self) -> None:
        """As a power cut would, with all that it started."""
        if self.is_alive:
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


def start(
    kind: str, work: Callable[[], object], said: Path, number: int = -1, slot: int = -1
) -> Child:
    """Run `work` in a fork; what it prints is added to the file `said`."""
    parent, heard = os.getpid(), said.stat().st_size if said.exists() else 0
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        with suppress(OSError):  # Whoever of the two is first.
            os.setpgid(pid, pid)
        return Child(kind, pid, number, slot, heard)
    code = 1
    try:
        _settle(parent, said)
        code = _code_of(work)
    except BaseException:
        with suppress(BaseException):
            traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _settle(parent: int, said: Path) -> None:
    """A group and an output of its own, no handlers of the parent, and no life after it."""
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    number = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(number, 1)
    os.dup2(number, 2)
    os.close(number)
    faulthandler.enable(all_threads=True)  # A crash says where it was.


def _code_of(work: Callable[[], object]) -> int:
    try:
        work()
        return 0
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        atexit._run_exitfuncs()


def command(*words: str) -> None:
    """`standout WORDS...` in this process, as the program does it."""
    from standout.cli.main import main

    sys.argv = ["standout", *words]
    main()
