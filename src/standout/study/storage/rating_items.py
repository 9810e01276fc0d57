"""What a rating page shows for an arm, kept as JSON beside the arm."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from standout.study.storage.connection import Connection, Row
from standout.study.storage.statements import Statement, insert_columns

_ALL = Statement("SELECT position, content FROM standout_items WHERE study = ?")
_ONE = Statement("SELECT position, content FROM standout_items WHERE study = ? AND position = ?")
_ANY = Statement(
    "SELECT position, content FROM standout_items WHERE study = ? AND position = ANY(?)"
)
count_items = Statement("SELECT COUNT(*) FROM standout_items WHERE study = ?")
"""How many arms of a study have an item."""


def write_items(connection: Connection, key: int, items: Mapping[int, dict[str, str]]) -> None:
    """Keep the items of a new study."""
    rows = [(key, place, json.dumps(parts)) for place, parts in items.items()]
    if rows:
        insert_columns(
            connection, "standout_items", ("study", "position", "content"), rows, len(rows)
        )


def read_items(
    connection: Connection, key: int, positions: Sequence[int] | None
) -> dict[int, dict[str, str]]:
    """The items at these positions (all if None), where there are any."""
    rows: list[Row]
    if positions is None:
        rows = _ALL(connection, key)
    elif connection.is_sqlite:
        rows = [row for position in positions for row in _ONE(connection, key, position)]
    else:
        rows = _ANY(connection, key, list(positions))
    return {position: json.loads(content) for position, content in rows}
