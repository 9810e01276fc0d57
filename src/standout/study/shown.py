"""What a study has for people to look at: its page, its items, its trace."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from standout.errors import StudyError
from standout.study import schema
from standout.study.handle import Handle
from standout.study.page import Parts, read_items
from standout.study.trace import Trace, read_trace

_STUDIES = schema.studies


class Shown(Handle):
    """The part of a study that dashboards and rating pages read."""

    _page: tuple[dict[str, Any] | None] | None = None
    _created: float | None = None

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

    def items(self, arms: Iterable[str] | None = None) -> dict[str, Parts]:
        """What a rating page shows for these arms (all unless given), where there is something."""
        desk = self._ledger.desk
        positions = None if arms is None else [self._position(arm) for arm in arms]
        with self._reading() as (connection, _):
            found = read_items(connection, self._ledger.key, positions)
        return {desk.arms[place]: parts for place, parts in found.items()}

    def trace(self) -> Trace:
        """The threshold's interval and the number of undecided arms over the pulls."""
        with self._reading() as (connection, _):
            return read_trace(connection, self._ledger.key)

    def _position(self, arm: str) -> int:
        position = self._ledger.desk.index.get(arm)
        if position is None:
            raise StudyError(f"no arm {arm!r} in this study")
        return position
