"""Functions in processes of their own: killed in the middle, or with fewer rights."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

NOBODY = 65534


def in_child(work: Callable[[], None]) -> None:
    """Run `work` in a fork; what it raises fails the test."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            work()
            code = 0
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[-60_000:])
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, text


def killed_after(work: Callable[[], object]) -> None:
    """Run `work` in a fork that then dies as in a power cut, with nothing closed."""
    pid = os.fork()
    if pid == 0:
        try:
            kept = work()  # noqa: F841  # So that nothing is closed by the way.
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def as_nobody(work: Callable[[], None]) -> None:
    """Run `work` in a fork without the rights of root."""

    def drop_rights() -> None:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()

    in_child(drop_rights)
