"""The file of a store under its users: moved, replaced, read-only, cut short, foreign."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from standout.errors import MovedError, NoStudyError, StorageError, UnavailableError
from standout.study.storage.session import Session
from standout.study.storage.store import Store, open_store
from tests.study.processes import as_nobody, killed_after
from tests.study.storage.stores import add, chain, last, make

LOG = "-wal"


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "study.db"


def beside(file: Path, ending: str) -> Path:
    return Path(f"{file}{ending}")


# Moved, removed, replaced ---------------------------------------------------------


@pytest.mark.parametrize("how", ["renamed", "removed", "replaced", "log removed", "log replaced"])
def test_nothing_is_written_into_a_file_that_is_gone(folder: Path, file: Path, how: str) -> None:
    store = make(file)
    make(folder / "other.db").close()
    if how == "renamed":
        file.rename(folder / "old.db")
    elif how == "removed":
        file.unlink()
    elif how == "replaced":
        (folder / "other.db").replace(file)
    else:
        beside(file, LOG).unlink()
        if how == "log replaced":
            beside(file, LOG).write_bytes(b"")
    assert not store.is_current
    with pytest.raises(MovedError, match=r"moved, removed or replaced while in use; nothing"):
        add(store)


@pytest.mark.parametrize("how", ["renamed", "log removed"])
def test_nor_is_anything_read_from_it(folder: Path, file: Path, how: str) -> None:
    store = make(file)
    if how == "renamed":
        file.rename(folder / "old.db")
    else:
        beside(file, LOG).unlink()
    with pytest.raises(MovedError, match="while in use"):
        last(store)


def test_a_file_that_comes_back_is_used_again(folder: Path, file: Path) -> None:
    store = make(file)
    file.rename(folder / "away.db")
    for _ in range(2):
        with pytest.raises(MovedError, match="no longer there"):
            add(store)
    (folder / "away.db").rename(file)
    add(store)
    assert last(store) == 60


def test_moved_while_a_transaction_is_written(folder: Path, file: Path) -> None:
    """It is not acknowledged, though it was committed: into a file that nobody looks at."""
    store = make(file)

    def write_while_it_moves() -> None:
        with store.write() as session:
            session.append(1, chain(1, first=60))
            file.rename(folder / "away.db")

    with pytest.raises(MovedError, match="what was just written may be lost"):
        write_while_it_moves()


def test_leaving_does_not_take_the_log_of_a_new_file(folder: Path, file: Path) -> None:
    """SQLite removes a log by its name; by then the name may belong to another store."""
    old = make(file)
    for ending in ("", LOG, "-shm"):
        beside(file, ending).rename(folder / f"old.db{ending}")
    killed_after(lambda: make(file, 8))
    log = beside(file, LOG).read_bytes()
    assert log
    old.close()
    del old
    assert beside(file, LOG).read_bytes() == log
    for path, number in ((file, 7), (folder / "old.db", 59)):
        store = open_store(path)
        assert last(store) == number
        store.close()


def test_no_file_is_made_beside_the_log_of_another(file: Path) -> None:
    """SQLite would remove it, or work it in; it may hold the newest rewards of what is gone."""
    killed_after(lambda: make(file))
    file.unlink()
    log = beside(file, LOG).read_bytes()
    with pytest.raises(StorageError, match=r"study\.db-wal of an earlier file is here.*move it"):
        open_store(file, create=True)
    assert not file.exists()
    assert beside(file, LOG).read_bytes() == log


def test_a_closed_file_is_whole(folder: Path, file: Path) -> None:
    make(file).close()
    assert [path.name for path in folder.iterdir()] == ["study.db"]
    shutil.copy(file, folder / "copy.db")
    store = open_store(folder / "copy.db")
    assert last(store) == 59
    store.close()


def test_a_killed_writer_loses_nothing(file: Path) -> None:
    make(file).close()

    def write() -> Store:
        store = open_store(file)
        add(store, 40)
        return store

    killed_after(write)
    store = open_store(file)
    assert last(store) == 99
    store.close()


def test_many_come_and_go(file: Path) -> None:
    make(file).close()

    def come_and_go() -> None:
        for _ in range(30):
            store = open_store(file)
            add(store)
            store.close()

    threads = [threading.Thread(target=come_and_go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = open_store(file)
    assert last(store) == 59 + 90
    store.close()


# Not a store ----------------------------------------------------------------------


def test_what_is_refused(folder: Path, file: Path) -> None:
    with pytest.raises(NoStudyError, match="no study at"):
        open_store(file)
    with pytest.raises(StorageError, match="no folder"):
        open_store(folder / "none" / "study.db", create=True)
    with pytest.raises(StorageError, match="is a folder"):
        open_store(folder, create=True)
    file.write_bytes(b"my notes" * 400)
    for create in (False, True):
        with pytest.raises(StorageError, match="not a study: it is no SQLite database"):
            open_store(file, create=create)
    file.write_bytes(b"my notes")
    with pytest.raises(StorageError, match="no SQLite database, or cut short"):
        open_store(file)
    assert file.read_bytes() == b"my notes"
    file.unlink()
    with sqlite3.connect(file) as raw:
        raw.execute("CREATE TABLE mine (x)")
    raw.close()
    with pytest.raises(NoStudyError, match="is a database, but holds no study"):
        open_store(file)


def test_a_file_without_its_end_is_refused(file: Path) -> None:
    make(file, 4000).close()
    size = file.stat().st_size
    os.truncate(file, size - 4096)
    with pytest.raises(StorageError, match=r"cut short .*restore it from a copy"):
        open_store(file)
    assert file.stat().st_size == size - 4096


def test_a_damaged_page_is_named(file: Path) -> None:
    make(file, 4000).close()
    with file.open("r+b") as raw:
        raw.seek(100 * 4096)
        raw.write(b"\xff" * 4096)
    store = open_store(file)
    with pytest.raises(StorageError, match=r"damaged or cut short .*restore it from a copy"):
        last(store)
    store.close()


def test_text_that_is_none_is_damage(file: Path) -> None:
    store = make(file)
    with store.write() as session:
        session.run("DROP TRIGGER standout_events_kept")
        session.run("UPDATE standout_events SET body = CAST(x'ff' AS TEXT) WHERE number = 7")
    with pytest.raises(StorageError, match="damaged"):
        last(store)
    store.close()


# Locks ----------------------------------------------------------------------------


def test_a_busy_file_is_waited_for(file: Path) -> None:
    make(file).close()
    store = open_store(file, patience=0.05)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnavailableError, match=r"busy for 0\.05 s.*nothing was changed") as caught:
        add(store)
    assert caught.value.has_waited
    assert last(store) == 59  # Who reads has not to wait.
    holder.execute("ROLLBACK")
    add(store)
    holder.close()
    store.close()


def test_a_process_reads_while_it_waits(file: Path) -> None:
    store, other, seen = make(file), open_store(file), threading.Event()
    add(other)

    def read(session: Session) -> None:
        if session.head(1) == newest:
            seen.set()

    def wait() -> None:
        with store.write(meanwhile=read):
            assert seen.is_set()

    with other.write() as session:
        newest = session.head(1)
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert seen.wait(10)
        session.append(1, chain(1, first=61, before=chain(61)[-1].digest))
    waiting.join(10)
    assert not waiting.is_alive()
    assert last(store) == 61
    other.close()
    store.close()


@pytest.mark.parametrize("patience", [0.0, 1e-9, 1e300])
def test_any_patience(file: Path, patience: float) -> None:
    store = make(file, patience=patience)
    assert last(store) == 59
    store.close()


# Read-only ------------------------------------------------------------------------


@pytest.fixture
def frozen(folder: Path) -> Iterator[Path]:
    """Where the store goes, in a folder that is to become read-only."""
    folder.chmod(0o755)
    yield folder / "study.db"
    folder.chmod(0o755)


def freeze(file: Path) -> None:
    for path in file.parent.iterdir():
        path.chmod(0o444)
    file.parent.chmod(0o555)


def look_at(file: Path, number: int) -> None:
    store = open_store(file)
    assert store.is_read_only
    for _ in range(2):
        assert last(store) == number
        store.close()
    with pytest.raises(StorageError, match="read-only here: asking and telling need"):
        add(store)


def test_a_closed_store_is_read_where_nothing_can_be_written(frozen: Path) -> None:
    make(frozen).close()
    freeze(frozen)
    before = frozen.read_bytes()
    as_nobody(lambda: look_at(frozen, 59))
    assert frozen.read_bytes() == before
    assert [path.name for path in frozen.parent.iterdir()] == ["study.db"]


def test_one_in_use_is_read_where_nothing_can_be_written(frozen: Path) -> None:
    store = make(frozen)
    freeze(frozen)
    as_nobody(lambda: look_at(frozen, 59))
    frozen.parent.chmod(0o755)
    add(store)
    store.close()


def test_one_that_was_killed_is_read_with_its_log(frozen: Path) -> None:
    killed_after(lambda: make(frozen))
    freeze(frozen)
    as_nobody(lambda: look_at(frozen, 59))


def test_a_log_that_cannot_be_read_is_named(frozen: Path) -> None:
    killed_after(lambda: make(frozen))
    beside(frozen, "-shm").unlink()
    freeze(frozen)

    def look() -> None:
        with pytest.raises(StorageError, match=r"newest rewards are in study.db-wal.*Copy it"):
            open_store(frozen)

    as_nobody(look)


def test_a_change_under_a_reader_without_locks_is_noticed(frozen: Path) -> None:
    make(frozen).close()
    freeze(frozen)

    def look() -> None:
        with pytest.raises(StorageError, match="changed while it was read; try again"):
            look_slowly()

    def look_slowly() -> None:
        with open_store(frozen).read() as session:
            session.names()
            os.write(changed, b"x")
            assert os.read(done, 1)

    asked, changed = os.pipe()
    done, said = os.pipe()

    def change() -> None:
        os.read(asked, 1)
        os.utime(frozen, ns=(1, 1))
        os.write(said, b"x")

    thread = threading.Thread(target=change)
    thread.start()
    as_nobody(look)
    thread.join()
    for number in (asked, changed, done, said):
        os.close(number)
