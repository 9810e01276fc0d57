"""What a rating page shows for an arm, kept as JSON beside the arm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, select

from standout.study.storage import schema
from standout.study.storage.statements import insert_columns

_ITEMS = schema.items
_READ = select(_ITEMS.c.position, _ITEMS.c.content).where(_ITEMS.c.study == bindparam("key"))
_PART = 500
"""Positions that are named in one statement."""


def write_items(connection: Connection, key: int, items: Mapping[int, dict[str, str]]) -> None:
    """Keep the items of a new study."""
    rows = [(key, place, json.dumps(parts)) for place, parts in items.items()]
    if rows:
        insert_columns(connection, _ITEMS, ("study", "position", "content"), rows, len(rows))


def read_items(
    connection: Connection, key: int, positions: Sequence[int] | None
) -> dict[int, dict[str, str]]:
    """The items at these positions (all if None), where there are any."""
    if positions is None:
        rows = connection.execute(_READ, {"key": key}).all()
        return {row.position: json.loads(row.content) for row in rows}
    found: dict[int, dict[str, str]] = {}
    for start in range(0, len(positions), _PART):
        part = list(positions[start : start + _PART])
        for row in connection.execute(_READ.where(_ITEMS.c.position.in_(part)), {"key": key}):
            found[row.position] = json.loads(row.content)
    return found
