"""A driver's own connection, as everything sees it that runs a statement."""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]


class Connection:
    """An open connection to SQLite (`sqlite3.Connection`) or PostgreSQL (`postgres.Watched`)."""

    __slots__ = ("is_sqlite", "raw")

    def __init__(self, raw: Any, *, is_sqlite: bool) -> None:
        self.raw, self.is_sqlite = raw, is_sqlite

    @property
    def dialect(self) -> str:
        """Which words the database understands: `sqlite` or `postgresql`."""
        return "sqlite" if self.is_sqlite else "postgresql"

    def execute(self, text: str) -> list[Row]:
        """Run a statement without parameters, in the database's own words; its rows, if any."""
        cursor = self.raw.execute(text)
        found: list[Row] = cursor.fetchall() if cursor.description else []
        return found
