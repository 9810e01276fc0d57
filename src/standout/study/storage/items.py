"""The items of a rating page, stored as JSON beside the study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from standout.study.storage.session import Session

Parts = dict[str, str]
"""The parts of an item, by their kind."""
_READ = "SELECT position, content FROM standout_items WHERE study = ?"


def put_items(session: Session, study: int, items: Mapping[int, Mapping[str, str]]) -> None:
    """Store the items of a new study, by the positions of its arms."""
    session.run_many(
        "INSERT INTO standout_items (study, position, content) VALUES (?, ?, ?)",
        [(study, position, json.dumps(dict(parts))) for position, parts in items.items()],
    )


def read_items(
    session: Session, study: int, positions: Sequence[int] | None = None
) -> dict[int, Parts]:
    """The items at these positions (all if None); positions without an item are omitted."""
    if positions is None:
        rows = session.run(_READ, (study,))
    else:
        rows = [
            row
            for position in positions
            for row in session.run(f"{_READ} AND position = ?", (study, int(position)))
        ]
    return {int(position): json.loads(content) for position, content in rows}


def count_items(session: Session, study: int) -> int:
    """The number of arms of a study with an item."""
    return int(session.run("SELECT count(*) FROM standout_items WHERE study = ?", (study,))[0][0])
