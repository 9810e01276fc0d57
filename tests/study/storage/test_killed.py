"""A process that is killed at any statement: what it was doing is done as a whole or not at all."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from standout.study.storage.items import put_items, read_items
from standout.study.storage.logins import begin_login, read_logins
from standout.study.storage.session import Deleted
from standout.study.storage.store import Store, open_store
from standout.study.storage.tokens import create, read_all, revoke
from tests.study.storage.stores import add, chain, last, make, with_study


def change_all(store: Store) -> None:
    with store.write() as session:
        session.append(1, chain(64)[60:])
        session.put_snapshot(1, 63, b"s", b"r", is_alone=False)
        put_items(session, 1, {1: {"text": "x"}})


def delete(store: Store) -> None:
    with store.write() as session:
        session.delete_study(Deleted(1, "a", 1.0, "w", "", 0, 60, "ab"))


def revoke_first(store: Store) -> None:
    with store.read() as session:
        (token, *_) = read_all(session)
    revoke(store, token.token.id)


CHANGES: dict[str, Callable[[Store], object]] = {
    "add": add,
    "change all": change_all,
    "create": lambda store: with_study(store, 3, "other"),
    "delete": delete,
    "token": lambda store: create(store, "viewer", None),
    "revoke": revoke_first,
    "close": lambda store: (add(store), store.close()),
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("begun") / "study.db"
    store = make(place)
    with store.read() as session:
        (token,) = read_all(session)
    begin_login(store, token.token.id, 1e9)
    store.close()
    return place


def seen(place: Path) -> Any:
    """Everything, but for what is different each time."""
    store = open_store(place)
    with store.read() as session:
        names = session.names()
        events = {study: len(list(session.events(study))) for study, _ in names}
        found = (
            names, events, session.deleted(), session.snapshot(1), read_items(session, 1),
            sorted(
                (each.token.role, each.token.revoked is None) for each in read_all(session)
            ),
            len(read_logins(session)), session.missing_guards(),
        )  # fmt: skip
    for study in events:
        last(store, study)
    store.close()
    return found


def killed_at(place: Path, change: Callable[[Store], object], at: int) -> bool:
    """Let a fork make a change, and kill it before its `at`-th statement; whether it got there."""
    pid = os.fork()
    if pid == 0:
        try:
            statements = itertools.count(1)

            def count(_: str) -> None:
                if next(statements) == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            store = open_store(place)
            assert isinstance(store._raw, sqlite3.Connection)
            store._raw.set_trace_callback(count)
            change(store)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_done_as_a_whole_or_not_at_all(begun: Path, folder: Path, name: str) -> None:
    change, place = CHANGES[name], folder / "study.db"
    before = seen(begun)
    shutil.copy(begun, place)
    store = open_store(place)
    change(store)
    store.close()
    after = seen(place)
    found = []
    for at in itertools.count(1):
        shutil.copy(begun, place)
        is_over = not killed_at(place, change, at)
        found.append(seen(place))
        assert found[-1] in (before, after), at
        if is_over:
            break
    assert len(found) > 3
    assert found[0] == before
    assert found[-1] == after != before
