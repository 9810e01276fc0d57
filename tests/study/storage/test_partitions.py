"""The log of a PostgreSQL database partitioned by its owner, as docs/scale.md says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from standout.errors import StorageError
from standout.study.storage.store import open_store
from tests.study.postgres import Server
from tests.study.storage.stores import add, last, make, with_study

ROOT = Path(__file__).resolve().parents[3]
STATEMENTS = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_studies_go_on_with_a_partitioned_log(server: Server) -> None:
    url = server.new_database("partitions")
    make(url).close()
    (statements,) = STATEMENTS.findall((ROOT / "docs" / "scale.md").read_text("utf-8"))
    server.run(statements, "partitions")
    store = open_store(url)
    add(store)
    assert last(store) == 60
    for name in ("after", "later"):
        study, events = with_study(store, name=name)
        assert last(store, study) == len(events) - 1
    with store.read() as session:
        assert session.missing_guards() == []
    for part in ("standout_events_0", "standout_events_1"):
        with pytest.raises(StorageError, match="never"), store.write() as session:
            session.run(f"DELETE FROM {part}")
        with pytest.raises(StorageError, match="never"), store.write() as session:
            session.run(f"UPDATE {part} SET body = ''")
    with store.write() as session:
        session.begin_again()
    with store.read() as session:
        assert session.names() == []
    store.close()
