"""SQLAlchemy statements that are compiled once per database and run by the driver.

A single ask or tell runs a dozen small statements; preparing each anew takes
longer than running it. Whatever reads rows inside `Storage.write(is_small=True)`
must be one of these: SQLAlchemy's own results do not wait for a pipeline.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from sqlalchemy import Connection, Executable

Params = dict[str, Any]


class _Compiled:
    def __init__(self, core: Any, connection: Connection) -> None:
        compiled: Any = core.compile(dialect=connection.dialect)
        self.text = str(compiled)
        self.constants = {
            name: value
            for name, value in compiled.params.items()
            if not compiled.binds[name].required and value is not None
        }
        self.order = list(compiled.positiontup) if compiled.positiontup is not None else None
        names = [column.key for column in getattr(core, "selected_columns", ())]
        self.row: Any = namedtuple("Row", names, rename=True) if names else None

    def given(self, params: Params) -> Any:
        """Parameters as the driver takes them."""
        if self.constants:
            params = {**self.constants, **params}
        return params if self.order is None else tuple([params[name] for name in self.order])


class Statement:
    """A Core statement with named parameters, of columns that need no conversion."""

    def __init__(self, core: Executable) -> None:
        self.core = core
        self._compiled: dict[str, _Compiled] = {}

    def __call__(self, connection: Connection, params: Params | list[Params]) -> list[Any]:
        """Run it, once or for each of a list of parameters; its rows."""
        compiled = self._compiled.get(connection.dialect.name)
        if compiled is None:
            compiled = _Compiled(self.core, connection)
            self._compiled[connection.dialect.name] = compiled
        cursor = connection.connection.cursor()
        try:
            if isinstance(params, list):
                cursor.executemany(compiled.text, [compiled.given(row) for row in params])
                return []
            cursor.execute(compiled.text, compiled.given(params))
            if compiled.row is None:
                return []
            return list(map(compiled.row._make, cursor.fetchall()))
        finally:
            cursor.close()
