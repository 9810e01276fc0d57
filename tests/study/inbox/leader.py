"""A process that has its turn, does a stranger's request with its own, and dies or freezes."""

from __future__ import annotations

import os
import select
import signal
import traceback
from typing import Any

from standout import Problem
from standout.study import Study
from standout.study.inbox import lock
from standout.study.inbox.request_sockets import DONE, ReceivedRequest
from standout.study.storage.old_postgres import Batch
from standout.study.storage.sqlite_file import SqliteFile
from standout.study.storage.stored_study import StoredStudy
from tests.patience import until

ARMS = ["ash", "elm", "fir", "oak", "yew"]
PROBLEM = Problem(noise="gaussian:9", k=2)
POINTS = ("taken", "begun", "worked", "committed", "told", "answered")
"""Before its transaction, when that has begun, before it commits, right after, before it says so,
and in the end."""


def make(place: str) -> Study:
    """A study past its first rewards, with its kernels loaded."""
    study = Study.create(place, ARMS, PROBLEM)
    for number in range(4 * len(ARMS)):
        for ticket in study.ask(1, worker="first"):
            study.tell(ticket, float(number % 7), worker="first")
    study.status()
    return study


def want(study: Study) -> None:
    """Let the next turn listen, as if somebody had had to wait."""
    inbox = study._find_inbox()
    assert inbox is not None
    lock.expect(inbox._open(), 1)


class Leader:
    """A fork that has the turn; it goes on when one request has come, up to a point."""

    def __init__(self, place: str, point: str | None, number: int = signal.SIGKILL) -> None:
        self._point, self._signal = point, number
        self._reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(self._reader)
                self._lead(place, writer)
                code = 0
            except BaseException:
                os.write(writer, traceback.format_exc().encode()[-60_000:])
            finally:
                os._exit(code)
        os.close(writer)
        assert os.read(self._reader, 1) == b"!", os.read(self._reader, 60_000).decode()

    def _lead(self, place: str, writer: int) -> None:
        study = Study.open(place)
        self._set_trap()
        gather = lock.Turn.gather

        def wait_for_one(turn: lock.Turn, seconds: float = 0.0) -> list[ReceivedRequest]:
            found = gather(turn, seconds)
            if turn.most == 0:
                os.write(writer, b"!")
                assert turn._listener is not None
                while not found:  # Who has come may still be writing.
                    select.select([turn._listener], [], [], 0.01)
                    found = gather(turn, seconds)
                self._act("taken")
            return found

        lock.Turn.gather = wait_for_one  # type: ignore[method-assign]
        want(study)
        study.tell(arm="elm", reward=5.0, worker="leader", key="leader")
        self._act("answered")

    def _set_trap(self) -> None:
        looked, flush, say = (
            ReceivedRequest.is_taken_back.fget,
            StoredStudy.flush,
            ReceivedRequest.say,
        )
        check, commit = SqliteFile.check, Batch.commit

        def look(one: ReceivedRequest) -> bool:
            assert looked is not None
            found: bool = looked(one)
            self._act("begun")
            return found

        def flush_slowly(stored: StoredStudy, connection: Any) -> None:
            self._act("worked")
            flush(stored, connection)

        def say_slowly(one: ReceivedRequest, line: bytes) -> None:
            if line == DONE:
                self._act("told")
            say(one, line)

        def check_slowly(file: SqliteFile, *, is_done: bool = False) -> None:
            if is_done:
                self._act("committed")
            check(file, is_done=is_done)

        def commit_slowly(batch: Batch) -> None:
            commit(batch)
            self._act("committed")

        ReceivedRequest.is_taken_back = property(look)  # type: ignore[assignment]
        StoredStudy.flush = flush_slowly  # type: ignore[method-assign]
        ReceivedRequest.say = say_slowly  # type: ignore[method-assign]
        SqliteFile.check = check_slowly  # type: ignore[method-assign]
        Batch.commit = commit_slowly  # type: ignore[method-assign]

    def _act(self, point: str) -> None:
        if point == self._point:
            self._point = None
            os.kill(os.getpid(), self._signal)

    def wait_until_stopped(self) -> None:
        """Until it has frozen itself."""
        until(lambda: _state(self.pid) == "T", "it does not freeze")

    def go_on(self) -> None:
        """After it has frozen itself."""
        os.kill(self.pid, signal.SIGCONT)

    def end(self) -> int:
        """Wait for it; its exit code."""
        _, status = os.waitpid(self.pid, 0)
        said = os.read(self._reader, 60_000).decode()
        os.close(self._reader)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, -self._signal), said
        return code


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]
