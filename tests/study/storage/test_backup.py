"""Copies of stores: nothing acknowledged is missing, nothing in place is spoilt."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from standout.errors import NoStudyError, StorageError
from standout.results import CopiedStudy
from standout.study.storage import backup
from standout.study.storage.backup import copy_store
from standout.study.storage.session import TABLES, Session
from standout.study.storage.store import open_store
from tests.study.postgres import Server
from tests.study.processes import killed_after
from tests.study.storage.stores import add, last, make

_numbers = itertools.count(1)


def check(session: Session) -> tuple[CopiedStudy, ...]:
    return tuple(
        CopiedStudy(name, 7, session.count("standout_events")) for _, name in session.names()
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where a copy goes: nothing is there."""
    if request.param == "sqlite":
        return str(folder / "copy.db")
    running: Server = request.getfixturevalue("server")
    return running.new_database(f"copy_{os.getpid()}_{next(_numbers)}")


def rows(place: str | Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything in a store, for comparison."""
    store = open_store(place)
    with store.read() as session:
        found = {
            table: sorted((row for part in session.rows(table) for row in part), key=repr)
            for table in TABLES[1:]
        }
    store.close()
    return found


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_row_comes_along(place: str, target: str) -> None:
    """From either database into either, while the source is in use."""
    store = make(place, 5000)
    seen: list[tuple[int, int]] = []
    done = copy_store(place, target, check, progress=lambda d, t: seen.append((d, t)))
    assert done.studies == (CopiedStudy("a", 7, 5000),)
    assert (done.source, done.target) == (place, target)
    assert rows(target) == rows(place)
    assert all(rows(target).values()) == all(rows(place).values())
    assert seen[-1][0] == seen[-1][1] == sum(map(len, rows(place).values()))
    add(store)  # The source goes on, and so does the copy.
    copied = open_store(target)
    assert copied.identity != store.identity
    assert add(copied) == 5000
    if copied.is_sqlite:
        assert done.size is not None
        copied.close()
        assert not [name for name in files(Path(target).parent) if "copy.db-" in name]
    else:
        assert done.size is None
    copied.close()
    store.close()


def test_what_is_there_is_kept_unless_it_is_forced(place: str, target: str) -> None:
    make(place, 10).close()
    there = make(target, 20)
    before = rows(target)
    with pytest.raises(StorageError, match=r"holds studies or tokens already; --force"):
        copy_store(place, target, check)
    assert rows(target) == before
    copy_store(place, target, check, force=True)
    assert rows(target) == rows(place)
    again = open_store(target)
    assert (again.identity, again.generation) == (there.identity, 1)
    assert last(there) == 9  # Who had it open sees what is there now.
    assert add(there) == 10
    for store in (there, again):
        store.close()


def test_restored_under_those_who_use_it(place: str, folder: Path) -> None:
    """A transaction is before or after; none is written behind what is gone."""
    store = make(place, 10)
    copy_store(place, folder / "kept.db", check)
    stop = threading.Event()
    failed: list[BaseException] = []

    def work() -> None:
        own = open_store(place)
        try:
            while not stop.is_set():
                add(own)
                assert last(own) >= 9
        except BaseException as error:
            failed.append(error)
        own.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        copy_store(folder / "kept.db", place, check, force=True)
        add(store, 3)
    stop.set()
    for thread in threads:
        thread.join()
    assert failed == []
    last(store)
    store.close()
    again = open_store(place)
    assert again.generation == 5
    again.close()


def test_a_copy_amid_writing_is_one_moment(place: str, target: str) -> None:
    store = make(place, 10)
    stop = threading.Event()

    def write() -> None:
        own = open_store(place)
        while not stop.is_set():
            add(own)
        own.close()

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(3):
        copy_store(place, target, check, force=True)
        copied = open_store(target)
        last(copied)
        copied.close()
    stop.set()
    thread.join()
    store.close()


def stop_at_once(done: int, total: int) -> None:
    raise KeyboardInterrupt


def refuse(session: Session) -> tuple[CopiedStudy, ...]:
    raise StorageError("study 'a' is not sound")


def test_what_fails_changes_nothing(place: str, target: str, folder: Path) -> None:
    make(place, 10).close()
    before = files(folder)
    with pytest.raises(StorageError, match="not sound"):
        copy_store(place, target, refuse)
    with pytest.raises(KeyboardInterrupt):
        copy_store(place, target, check, progress=stop_at_once)
    assert files(folder) == before
    make(target, 20).close()
    there = rows(target)
    with pytest.raises(StorageError, match="not sound"):
        copy_store(place, target, refuse, force=True)
    with pytest.raises(KeyboardInterrupt):
        copy_store(place, target, check, force=True, progress=stop_at_once)
    assert rows(target) == there
    store = open_store(target)
    assert store.generation == 0
    store.close()


def test_an_event_that_was_changed_on_its_way_is_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(folder / "study.db", 10).close()
    from standout.study.storage.sqlite import SqliteSession

    insert: Callable[..., None] = SqliteSession.insert

    def spoil(session: Session, table: str, rows: list[tuple[object, ...]]) -> None:
        changed = [(*row[:7], "[1]") if row[1:2] == (4,) else row for row in rows]
        insert(session, table, changed if table == "standout_events" else rows)

    monkeypatch.setattr(SqliteSession, "insert", spoil)
    with pytest.raises(StorageError, match="'a' did not arrive as it was; nothing is kept"):
        copy_store(folder / "study.db", folder / "copy.db", check)
    assert files(folder) == ["study.db"]


def kill(done: int, total: int) -> None:
    os.kill(os.getpid(), 9)


def test_what_a_killed_copy_leaves_goes_with_the_next(folder: Path) -> None:
    place, target = folder / "study.db", folder / "copy.db"
    make(place, 10).close()
    for _ in range(2):
        killed_after(lambda: copy_store(place, target, check, progress=kill))
        assert any(name.endswith(".part") for name in files(folder))
        assert not target.exists()
    (folder / "copy.db.notes.part").mkdir()
    copy_store(place, target, check)
    assert files(folder) == ["copy.db", "copy.db.notes.part", "study.db"]
    killed_after(lambda: copy_store(place, target, check, force=True, progress=kill))
    store = open_store(target)
    assert last(store) == 9
    store.close()


def test_a_copy_that_is_being_made_is_left_alone(folder: Path) -> None:
    target = folder / "copy.db"
    make(folder / "study.db", 10).close()
    with backup._part(target) as part:
        copy_store(folder / "study.db", target, check)
        assert part.exists()
    assert files(folder) == ["copy.db", "study.db"]


def test_what_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, target = folder / "study.db", folder / "copy.db"
    make(place, 10).close()
    for same in (place, folder / "same.db"):
        if same != place:
            os.link(place, same)
        with pytest.raises(StorageError, match="is the study itself"):
            copy_store(place, same, check, force=True)
    (folder / "same.db").unlink()
    with pytest.raises(StorageError, match="no folder"):
        copy_store(place, folder / "none" / "x.db", check)
    with pytest.raises(NoStudyError):
        copy_store(folder / "none.db", target, check)
    target.write_text("my notes " * 100)
    with pytest.raises(StorageError, match="no SQLite database"):
        copy_store(place, target, check, force=True)
    assert target.read_text() == "my notes " * 100
    target.unlink()
    open_store(folder / "empty.db", create=True).close()
    with pytest.raises(NoStudyError, match="nothing to copy"):
        copy_store(folder / "empty.db", target, check)

    def no_space(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_sync", no_space)
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        copy_store(place, target, check)
    assert files(folder) == ["empty.db", "study.db"]


def test_a_copy_is_as_private_as_its_source(folder: Path) -> None:
    make(folder / "study.db").close()
    for mode in (0o600, 0o644):
        (folder / "study.db").chmod(mode)
        copy_store(folder / "study.db", folder / f"{mode}.db", check)
        assert (folder / f"{mode}.db").stat().st_mode & 0o777 == mode
