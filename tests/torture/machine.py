"""What is wrong with the machine of one process: its clock jumps, its disk is full."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from standout.errors import StorageError
from tests.torture.journal import Journal

HOUR = 3600.0


class Clock:
    """The time of day, as a machine has it whose clock is set again and again."""

    def __init__(self, rng: random.Random, journal: Journal) -> None:
        self._rng, self._journal, self._off = rng, journal, 0.0
        self._real = time.time

    def jump(self) -> None:
        self._off = self._rng.choice((-1, 1)) * self._rng.choice((1.0, 60.0, HOUR, 9 * HOUR))
        self._journal.happened("clock jumps")

    def __call__(self) -> float:
        if self._rng.random() < 0.02:
            self.jump()
        return self._real() + self._off


class Disk:
    """A disk that is full for this process alone: files may grow to a size and no further."""

    def __init__(self, rng: random.Random, journal: Journal, file: str) -> None:
        self._rng, self._journal, self._file = rng, journal, file
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    @contextmanager
    def maybe_full(self) -> Iterator[None]:
        if self._rng.random() < 0.7:
            yield
            return
        size = 0
        for ending in ("", "-wal"):
            with suppress(OSError):
                size = max(size, os.stat(self._file + ending).st_size)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        room = self._rng.choice((0, size // 2, size, size + self._rng.randrange(20_000)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            yield
        except StorageError:
            self._journal.happened("full disks")
            raise
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
