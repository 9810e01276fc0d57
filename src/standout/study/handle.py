"""An open study: its connection, its lock and its name. What it does is in `study`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, Self

from sqlalchemy import Connection

from standout.core.method import Method
from standout.core.problem import Problem
from standout.errors import StudyError
from standout.study.storage.bulk import FEW
from standout.study.storage.database import Storage
from standout.study.storage.mirror import Ledger


class Handle:
    """What every method of a study works with."""

    def __init__(self, storage: Storage, ledger: Ledger, name: str, lease: float) -> None:
        self.name = name
        self.lease = lease
        self._storage = storage
        self._ledger = ledger
        self._lock = threading.RLock()
        self._reader: Connection | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms' names."""
        return self._ledger.desk.arms

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return self._ledger.desk.problem

    @property
    def budget(self) -> int | None:
        """The largest number of pulls, if there is one."""
        return self._ledger.desk.budget

    @property
    def ordered(self) -> bool:
        """Whether an arm's rewards are counted in the order of asking."""
        return self._ledger.desk.ordered

    @property
    def method(self) -> Method:
        """How pulls are chosen."""
        return self._ledger.desk.method

    @property
    def remark(self) -> str | None:
        """What is to be known about the study's file: that it may lack rewards, say."""
        return self._storage.remark

    @property
    def is_current(self) -> bool:
        """Whether the study's file is still the one that was opened."""
        return self._storage.is_current

    @contextmanager
    def _writing(
        self, size: int = 1, tickets: Sequence[int] = ()
    ) -> Iterator[tuple[Connection, float]]:
        """A transaction on the study as it is now, that writes about `size` rows.

        `tickets` are those that it is going to tell of, if that is known.
        """
        with self._lock:
            try:
                with self._storage.write(is_small=size <= FEW) as connection:
                    now = self._ledger.sync(connection, lock=True, tickets=tickets)
                    yield connection, self._storage.clock() if self._storage.clock else now
                    self._ledger.flush(connection)
            except BaseException:
                self._ledger.forget()
                raise

    @contextmanager
    def _reading(self, *, is_long: bool = False) -> Iterator[tuple[Connection, float]]:
        """A transaction that sees the study at one moment; inside another one, that one.

        So several looks are of the same moment if they stand in one block.
        """
        with self._lock:
            try:
                with self._snapshot(is_long) as connection:
                    now = self._ledger.sync(connection, lock=False)
                    yield connection, self._storage.clock() if self._storage.clock else now
            except BaseException:
                self._ledger.forget()
                raise

    @contextmanager
    def _snapshot(self, is_long: bool) -> Iterator[Connection]:
        if self._reader is not None:
            yield self._reader
            return
        with self._storage.read(is_long=is_long) as connection:
            self._reader = connection
            try:
                yield connection
            finally:
                self._reader = None

    def close(self) -> None:
        """Close the connection to the database; the study itself stays.

        Every method opens another if it is used afterwards. Leaving a `with`
        closes, too.
        """
        with self._lock:
            self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._storage.shown!r})"

    def __reduce__(self) -> NoReturn:
        raise StudyError("a Study cannot be sent to another process; open it there by its place")
