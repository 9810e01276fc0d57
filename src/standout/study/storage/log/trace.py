"""How the threshold's interval and the undecided arms went over the pulls.

A row is written by the telling that ends a round, in its transaction: after the
first complete round, then whenever the pulls have grown by a fiftieth, and at
the stop. A million pulls make a few hundred rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from standout.results import Trace
from standout.study.storage.connection import Connection
from standout.study.storage.statements import Statement, insert_into

GROWTH = 1.02
"""The pulls of a row over those of the row before, at least."""

_COLUMNS = ("pulls", "time", "lower", "upper", "lower_low", "upper_low", "undecided")
_LAST = Statement("SELECT max(pulls) FROM standout_trace WHERE study = ?")
_ADD = insert_into("standout_trace", ("study", *_COLUMNS))
_READ = Statement(
    f"SELECT {', '.join(_COLUMNS)} FROM standout_trace WHERE study = ? ORDER BY pulls"
)


class TraceLog:
    """The rows of one study, as far as this process has seen them."""

    def __init__(self, key: int) -> None:
        self.key = key
        self._last = 0

    def forget(self) -> None:
        """After a failed write: the last row seen may not be there."""
        self._last = 0

    def add(self, connection: Connection, moment: dict[str, Any], is_last: bool) -> None:
        """Write how a study stood when a round ended (`Progress.moment`), if a row is due."""
        pulls = moment["pulls"]
        if not is_due(pulls, self._last, is_last):
            return
        # Others may have written since: ask only now, which is seldom.
        self._last = _LAST.number(connection, self.key)
        if is_due(pulls, self._last, is_last):
            _ADD.run(connection, self.key, *moment.values())
            self._last = pulls


def is_due(pulls: int, last: int, is_stopped: bool) -> bool:
    """Whether a round that ends at `pulls` gets a row, the last having been at `last`."""
    return pulls > last and (is_stopped or pulls >= GROWTH * last)


def read_trace(connection: Connection, key: int) -> Trace:
    """All rows of a study."""
    table = np.array(_READ(connection, key), dtype=float).reshape(-1, len(_COLUMNS))
    pulls, time, lower, upper, lower_low, upper_low, undecided = table.T
    ends = (lower, upper, lower_low, upper_low)
    return Trace(pulls.astype(int), time, *ends, undecided.astype(int))
