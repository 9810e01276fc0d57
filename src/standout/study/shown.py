"""Looking at a study: its page, its items, its trace, its history, what is pending."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from standout.core.undecidable import doubt
from standout.errors import StudyError, shown
from standout.results import Failure, Pending, Pulse, Trace
from standout.study import numbers
from standout.study.handle import Handle
from standout.study.page import Parts, read_items
from standout.study.storage import schema
from standout.study.storage.trace import read_trace
from standout.study.tickets import MOST, read_failures, read_pending

if TYPE_CHECKING:
    from standout.results import Forecast, Verification
    from standout.study.history import History

_STUDIES = schema.studies


class Shown(Handle):
    """The part of a study that changes nothing."""

    _page: tuple[dict[str, Any] | None] | None = None
    _created: float | None = None
    _noted: tuple[int, str | None] | None = None

    @property
    def page(self) -> dict[str, Any] | None:
        """How the rating page asks people, as given when the study was created."""
        if self._page is None:
            self._read_row()
        assert self._page is not None
        return self._page[0]

    @property
    def created(self) -> float:
        """When the study was created, in seconds since 1970."""
        if self._created is None:
            self._read_row()
        assert self._created is not None
        return self._created

    def _read_row(self) -> None:
        """What never changes is read once."""
        query = select(_STUDIES.c.page, _STUDIES.c.created).where(_STUDIES.c.id == self._ledger.key)
        with self._reading() as (connection, _):
            row = connection.execute(query).one()
        self._page = (None if row.page is None else json.loads(row.page),)
        self._created = float(row.created)

    def _note(self) -> str | None:
        """Why what is left may never be decided, for who looks often.

        To look into it takes a while with many arms: so it is said again until
        the pulls have grown by a fiftieth. Called inside a transaction.
        """
        desk = self._ledger.desk
        if desk.is_stopped:
            return None
        pulls = desk.totals.pulls
        if self._noted is None or not self._noted[0] <= pulls < 1.02 * self._noted[0] + 1:
            self._noted = (pulls, doubt(desk.spec, desk.state, desk.arms))
        return self._noted[1]

    def items(self, arms: Iterable[str] | None = None) -> dict[str, Parts]:
        """What a rating page shows for these arms (all unless given), where there is something.

        By arm: `text`, `image` or `html`. Raises `StudyError` for an arm that
        is not of this study.

        >>> study.items(["ash"])
        {}
        """
        desk = self._ledger.desk
        positions = None if arms is None else [self._position(arm) for arm in arms]
        with self._reading() as (connection, _):
            found = read_items(connection, self._ledger.key, positions)
        return {desk.arms[place]: parts for place, parts in found.items()}

    def trace(self) -> Trace:
        """The threshold's interval and the number of undecided arms over the pulls, as arrays.

        Not every pull is kept: from one entry to the next they grow by 2 % or more.

        >>> len(study.trace())
        0
        """
        with self._reading() as (connection, _):
            return read_trace(connection, self._ledger.key)

    def failures(self, limit: int = 100, before: int | None = None) -> list[Failure]:
        """Up to `limit` tickets that were given back, newest first, from before a `seq` on.

        >>> study.fail(study.ask(), "dropped")
        >>> [(failure.arm, failure.reason) for failure in study.failures()]
        [('ash', 'dropped')]
        """
        limit = numbers.whole("limit", limit, 1, numbers.MOST_TICKETS)
        if before is not None:
            before = numbers.whole("before", before, 0, MOST)
        with self._reading() as (connection, _):
            return read_failures(connection, self._ledger, limit, before)

    @property
    def is_stopped(self) -> bool:
        """Whether the study had stopped when this handle last looked."""
        return self._ledger.desk.is_stopped

    def pulse(self) -> Pulse:
        """The little that shows whether anything has changed, as cheap as can be.

        >>> before = study.pulse()
        >>> _ = study.ask()
        >>> study.pulse().seq > before.seq
        True
        """
        with self._reading():
            desk = self._ledger.desk
            undecided = np.count_nonzero((desk.certified == 0) & (desk.state.verdict == 0))
            return Pulse(desk.totals.seq, desk.totals.pulls, int(undecided), desk.is_stopped)

    def pending(self) -> list[Pending]:
        """The tickets that are out, oldest first, with whom and until when (seconds since 1970).

        >>> _ = study.ask(worker="lab 3")
        >>> [(one.ticket, one.arm, one.worker) for one in study.pending()]
        [(1, 'ash', 'lab 3')]
        """
        with self._reading() as (connection, _):
            return read_pending(connection, self._ledger)

    def forecast(self) -> int | None:
        """How many pulls are left, roughly; None when that cannot be told (too early, no end).

        The method is played on with rewards like those told so far, which
        takes half a second.

        >>> print(study.forecast())
        None
        """
        from standout.study.forecast import forecast

        with self._reading() as (connection, _):
            return forecast(connection, self._ledger)

    def forecast_range(self, seed: int = 0) -> Forecast | None:
        """How many pulls are left, and between which numbers probably; None as in `forecast`.

        Played on several times, with random choices that `seed` drives.
        """
        from standout.study.forecast import Outlook

        with self._reading() as (connection, _):
            outlook = Outlook(connection, self._ledger)
        # Others may use the study meanwhile.
        return outlook.forecast(seed)

    def history(self) -> History:
        """Every reward ever told, in the order of telling; one array per column.

        >>> _ = study.tell(arm="fir", reward=1.0)
        >>> log = study.history()
        >>> len(log), float(log["reward"][0])
        (1, 1.0)
        """
        from standout.study.history import read_history

        with self._reading() as (connection, _):
            return read_history(connection, self._ledger)

    def export(self, file: IO[Any], form: str = "csv", *, raw: bool = False) -> int:
        """Write the history as `csv`, `json` (text files) or `parquet` (a binary one); its length.

        CSV and JSON are written as they are read, whatever the history's size. In
        a CSV, names that a spreadsheet would run as formulas get a `'` in front,
        unless `raw`. Raises `StudyError` for another form, `MissingExtraError` if
        Parquet's package is not installed.

        >>> import io
        >>> file = io.StringIO()
        >>> study.export(file), file.getvalue().strip()
        (0, 'seq,time,arm,reward,ticket,asked,worker,counted')
        """
        from standout.study.history import FORMS, write_history

        if form not in FORMS:
            raise StudyError(f"no format {shown(form)}; there are {', '.join(FORMS)}")
        with self._reading() as (connection, _):
            return write_history(connection, self._ledger, file, form, raw)

    def verify(self, head: str | None = None) -> Verification:
        """Work everything out anew from the log, and compare with what is stored.

        It also sees that the file is whole.

        `head` is a digest that was noted earlier (`Status.head`, in hex): one of
        the steps must have it.

        >>> bool(study.verify()), study.verify().problems
        (True, ())
        """
        from standout.study.verify import verify

        if head is not None:
            numbers.text("head", head)
        with self._lock:
            self._ledger.forget()
            with self._reading(is_long=True) as (connection, _):
                found = verify(connection, self._ledger, head)
        if self.remark is None:
            return found
        return replace(found, problems=(*found.problems, self.remark))

    def export_parts(self, form: str = "csv", *, raw: bool = False) -> Iterator[str]:
        """The history as it is now, as `csv` or `json`, in parts of some thousand rewards.

        `raw`: as in `export`.

        Between two parts no transaction is open, so that a slow reader
        keeps nobody waiting; the log only grows, and so they fit together.
        """
        from standout.study.history import TEXTS, read_part, text_of

        if form not in TEXTS:
            raise StudyError(f"no format {shown(form)}; there are {', '.join(TEXTS)}")
        text = text_of(form, self.arms, raw)
        with self._reading():
            last = self._ledger.desk.totals.log
        yield text.head()
        done = 0
        while done < last:
            with self._reading() as (connection, _):
                rows = read_part(connection, self._ledger.key, done, last)
            done = rows[-1][0] if rows else last
            yield text.rows(rows)
        yield text.tail()

    def _position(self, arm: str) -> int:
        position = self._ledger.desk.index.get(numbers.text("an arm", arm))
        if position is None:
            raise StudyError(f"no arm {shown(arm)} in this study")
        return position
