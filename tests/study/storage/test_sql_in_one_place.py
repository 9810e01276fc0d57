"""All SQL is in `standout.study.storage`: nobody else writes a statement or speaks to a driver."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator
from pathlib import Path

import standout

PACKAGE = Path(standout.__file__).parent
STORAGE = PACKAGE / "study" / "storage"
DRIVERS = {"sqlite3", "psycopg"}
SQL = re.compile(
    r"\bSELECT\b.+\bFROM\b|\bINSERT INTO\b|\bUPDATE\b.+\bSET\b|\bDELETE FROM\b|\bCREATE TABLE\b"
    r"|\bPRAGMA \w+",
    re.DOTALL,
)


def parse(text: str) -> ast.Module:
    """Parse without collecting garbage amid it: a finalizer that runs then, as that of a lost
    connection, makes Python 3.11 raise SystemError ("recursion depth mismatch")."""
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()


def offences(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        yield from (name for name in names if name.split(".")[0] in DRIVERS)
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and SQL.search(node.value)
        ):
            yield node.value


def test_it_is() -> None:
    for path in PACKAGE.rglob("*.py"):
        if STORAGE not in path.parents:
            found = list(offences(parse(path.read_text("utf-8"))))
            assert not found, (path, found)


def test_what_is_looked_for_is_found() -> None:
    assert set(offences(parse("import sqlite3\nfrom psycopg.errors import Error"))) == {
        "sqlite3",
        "psycopg.errors",
    }
    for text in ("SELECT seq FROM standout_runs", "DELETE FROM x", "UPDATE x SET y = 1"):
        assert list(offences(parse(repr(text)))) == [text]
    assert list(offences(parse("'select a colour from the list'"))) == []
