"""A worker of a study: it asks for pulls, measures them on an executor and tells the rewards."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, InvalidStateError, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from standout.errors import (
    AllOutError,
    StorageError,
    StudyError,
    UnavailableError,
    UncertainError,
)
from standout.results import Status, Ticket
from standout.retries import Patience
from standout.study_interface import StudyInterface

LEASE = 60.0
"""Seconds after which other workers take over the pulls of a dead worker; renewed by a live one."""
POLL = 0.2
PATIENCE = 300.0
"""Seconds for which a run waits for an unavailable database."""
FAILED = "measuring failed"

Measure = Callable[[str], float]

T = TypeVar("T")


def worker_name() -> str:
    """Machine, process id and start time, which later show whether the worker still runs."""
    return f"run {socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def _began(pid: int) -> str:
    """The start time of a process, by its system's clock; empty if it has ended or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def is_gone(worker: str) -> bool:
    """Whether this is a worker of this machine that no longer runs."""
    kind, _, rest = worker.partition(" ")
    host, _, began = rest.rpartition(":")
    host, _, pid = host.rpartition(":")
    if kind != "run" or host != socket.gethostname() or not pid.isdigit():
        return False
    if began:
        return _began(int(pid)) != began
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def measure_once(measure: Measure, arm: str, _ticket: int) -> float:
    """One measurement, on a worker. The ticket makes each call different (see `measure_chunk`)."""
    return measure(arm)


def _once(call: Callable[[], T]) -> T:
    """Call once; treat an uncertain outcome as an unavailable server, so that it is repeated."""
    try:
        return call()
    except UncertainError as error:
        raise UnavailableError(str(error)) from None


class EndedError(Exception):
    """The worker was asked to end before the study stopped."""


@dataclass
class Worker:
    """Keeps up to `jobs` measurements going until the study stops.

    `check` returns a measured value as a reward, or raises an error that says what is wrong. With
    `patience`, the worker waits for an unavailable database while measurements continue. (A study
    on a server has its own patience.)
    """

    study: StudyInterface
    check: Callable[[object], float]
    measure: Measure
    executor: Executor
    jobs: int
    retries: int = 2
    lease: float = LEASE
    progress: Callable[[StudyInterface], None] | None = None
    patience: Patience | None = None

    def __post_init__(self) -> None:
        self.name = worker_name()
        self.futures: dict[Future[float], Ticket] = {}
        self.failed: Counter[str] = Counter()
        self.told = 0
        self.renewed = time.monotonic()
        self._end: Future[float] = Future()  # Done when the worker shall end, which wakes `wait`.

    def end(self) -> None:
        """End from another thread: `run` gives its tickets back and returns."""
        if self.patience is not None:
            self.patience.end()
        with suppress(InvalidStateError):  # Asked before.
            self._end.set_result(0.0)

    def _calmly(self, call: Callable[[], T]) -> T:
        """Call a function of the study until it succeeds; the function must be idempotent."""
        if self._end.done():
            raise EndedError
        return call() if self.patience is None else self.patience.call(partial(_once, call))

    def run(self) -> Status:
        """Measure until the study has stopped or nothing more can be measured.

        Raises `EndedError` if it was asked to end before.
        """
        self._take_over()
        try:
            while True:
                self._fill()
                if not self.futures and not self._wait_for_others():
                    return self._calmly(self.study.status)
                self._collect()
                self._renew()
                if self.progress is not None:
                    self._calmly(partial(self.progress, self.study))
        except BaseException:
            self._give_back()
            raise

    def _take_over(self) -> None:
        """Take over the tickets of a run on this machine that died."""
        gone = [p.ticket for p in self._calmly(self.study.pending) if is_gone(p.worker)]
        self._calmly(lambda: self.study.release(gone))
        for arm, why in self._calmly(self.study.status).paused.items():
            if why.startswith(FAILED):
                self._calmly(partial(self.study.resume, arm))

    def _fill(self) -> None:
        free = self.jobs - len(self.futures)
        if free > 0:
            try:
                asked = self._calmly(
                    lambda: self.study.ask(free, worker=self.name, lease=self.lease)
                )
            except AllOutError:
                return
            for ticket in asked:
                future = self.executor.submit(measure_once, self.measure, ticket.arm, ticket.id)
                self.futures[future] = ticket

    def _wait_for_others(self) -> bool:
        """Wait while all pulls are out; return whether more pulls may become available."""
        status = self._calmly(self.study.status)
        if status.stopped or not status.pending:
            return False
        time.sleep(POLL)
        return True

    def _collect(self) -> None:
        done, _ = wait(
            [*self.futures, self._end], timeout=self.lease / 4, return_when=FIRST_COMPLETED
        )
        if self._end.done():
            raise EndedError
        rewards: list[tuple[Ticket, float]] = []
        for future in done:
            ticket = self.futures[future]
            try:
                rewards.append((ticket, self.check(future.result())))
                self.failed[ticket.arm] = 0
            except Exception as error:
                self._fail(ticket, str(error) or type(error).__name__)
        if rewards:
            self._calmly(lambda: self.study.tell_many(rewards, worker=self.name))
            self.told += len(rewards)
        for future in done:
            del self.futures[future]

    def _fail(self, ticket: Ticket, why: str) -> None:
        self._calmly(lambda: self.study.fail(ticket, why, worker=self.name))
        self.failed[ticket.arm] += 1
        if self.failed[ticket.arm] > self.retries:
            times = self.failed[ticket.arm]
            reason = f"{FAILED} {times} times in a row: {why}"
            self._calmly(lambda: self.study.pause(ticket.arm, reason, worker=self.name))
        if self.told == 0 and sum(self.failed.values()) >= 3 * (self.retries + 1):
            raise StudyError(
                f"no measurement works; the last, of arm {ticket.arm!r}, failed: {why}"
            )

    def _renew(self) -> None:
        if self.futures and time.monotonic() - self.renewed > self.lease / 4:
            self._calmly(lambda: self.study.renew(self.futures.values(), self.lease))
            self.renewed = time.monotonic()

    def _give_back(self) -> None:
        """Give back the tickets of running measurements, so that other workers measure them."""
        for future in self.futures:
            future.cancel()
        with suppress(StorageError):  # Without a connection, the leases expire.
            mine = [out.ticket for out in self.study.pending() if out.worker == self.name]
            self.study.release(mine)
