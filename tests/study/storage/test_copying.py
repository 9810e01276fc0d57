"""Backup and restore: nothing acknowledged is missing, nothing in place is spoilt."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from standout import Problem
from standout.errors import NoStudyError, StorageError
from standout.study import Study, backup, restore
from standout.study.storage import copying
from standout.study.storage.database import Storage
from standout.study.storage.old_tokens import create as create_token
from standout.study.storage.old_tokens import read_all
from tests.study.cli import standout
from tests.study.postgres import Server
from tests.study.processes import killed_after

ARMS = ["a", "b", "c", "d"]
PROBLEM = Problem(noise="bernoulli")


def make(place: str | Path, rewards: int = 60, name: str = "main") -> Study:
    study = Study.create(place, ARMS, PROBLEM, name=name, items={"a": {"text": "the first"}})
    study.tell_many([(ARMS[i % 4], i // 4 % 2) for i in range(rewards)])
    for ticket in study.ask(3)[:1]:  # None if it is decided.
        study.fail(ticket, "dropped")
    return study


def rows(place: str | Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything in a database, for comparison."""
    from standout.study.storage.schema import TABLES

    storage = Storage(place)
    found = {}
    with storage.read() as connection:
        for table in ("standout_schema", *TABLES):
            rows = connection.execute(f"SELECT * FROM {table}")
            # SQLite has 0 and 1 for False and True.
            plain = [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in rows]
            found[table] = sorted(plain, key=repr)
    storage.close()
    return found


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_backup_while_in_use_and_back(place: str, folder: Path) -> None:
    """Every row of every table comes along, from either database into either."""
    copy = folder / "copy.db"
    with make(place) as study:
        make(place, 20, "other").close()
        storage = Storage(place)
        create_token(storage, "owner", None, "me")
        done = backup(place, copy)
        assert [(s.name, s.pulls, s.rewards) for s in done.studies] == [
            ("main", 60, 60), ("other", 20, 20),
        ]  # fmt: skip
        assert done.size == copy.stat().st_size
        assert study.tell(arm="a", reward=1).counted == 1  # The original goes on.
        storage.close()
    with Study.open(copy, "main") as study:
        assert (study.status().pulls, study.status().failures) == (60, {"a": 1})
        assert study.items() == {"a": {"text": "the first"}}
        assert study.verify().problems == ()
    again = folder / "again.db"
    assert restore(copy, again).studies == done.studies
    assert rows(again) == rows(copy)
    storage = Storage(again)
    with storage.read() as connection:
        assert [kept.token.label for kept in read_all(connection)] == ["me"]
    storage.close()
    assert not [name for name in files(folder) if name.endswith((".part", "-wal", "-shm"))]


def test_restore_into_postgresql(server: Server, folder: Path) -> None:
    make(folder / "here.db").close()
    url = server.new_database(f"restored_{os.getpid()}")
    restore(folder / "here.db", url)
    assert rows(url) == rows(folder / "here.db")
    with Study.open(url) as study:
        study.tell_many([(ticket, 1.0) for ticket in study.ask(5)])
        assert study.verify().problems == ()
        with pytest.raises(StorageError, match="in use"):
            restore(folder / "here.db", url, force=True)
    with pytest.raises(StorageError, match=r"holds studies or tokens already; --force"):
        restore(folder / "here.db", url)
    assert rows(url) != rows(folder / "here.db")
    restore(folder / "here.db", url, force=True)
    assert rows(url) == rows(folder / "here.db")


def test_a_killed_writer_loses_nothing(folder: Path) -> None:
    """The log of a process that was killed is part of the study, and of its backup."""
    place = folder / "study.db"
    make(place, 4).close()

    def tell() -> Study:
        study = Study.open(place)
        for i in range(60):
            study.tell(arm=ARMS[i % 4], reward=1)
        return study

    killed_after(tell)
    assert Path(f"{place}-wal").stat().st_size > 0
    assert backup(place, folder / "copy.db").studies[0].rewards == 64


def test_a_backup_amid_writing_is_one_moment(folder: Path) -> None:
    place = folder / "study.db"
    study = make(place, 4000)
    stop = threading.Event()

    def write() -> None:
        with Study.open(place) as other:
            while not stop.is_set():
                other.tell_many([("a", 1.0), ("b", 0.0)])

    thread = threading.Thread(target=write)
    thread.start()
    try:
        seen = []
        for number in range(4):
            done = backup(place, folder / f"{number}.db", progress=lambda d, t: seen.append((d, t)))
            assert done.studies[0].rewards % 2 == 0
    finally:
        stop.set()
        thread.join()
    assert seen[-1][0] == seen[-1][1] > 0
    study.close()


def test_what_is_there_is_kept(folder: Path) -> None:
    place, copy = folder / "study.db", folder / "copy.db"
    make(place).close()
    copy.write_text("my notes")
    for call in (lambda: backup(place, copy), lambda: restore(place, copy)):
        with pytest.raises(StorageError, match="exists already; --force"):
            call()
    assert copy.read_text() == "my notes"
    backup(place, copy, force=True)
    assert Study.open(copy).verify()
    with pytest.raises(StorageError, match="is the study itself"):
        backup(place, place, force=True)
    os.link(place, folder / "same.db")
    with pytest.raises(StorageError, match="is the study itself"):
        backup(place, folder / "same.db", force=True)
    with pytest.raises(StorageError, match="no folder"):
        backup(place, folder / "none" / "x.db")
    with pytest.raises(NoStudyError):
        backup(folder / "none.db", folder / "x.db")
    with pytest.raises(StorageError, match="pg_dump"):
        backup(place, "postgresql://someone@127.0.0.1/x")
    Storage(folder / "empty.db", create=True).close()
    with pytest.raises(NoStudyError, match="nothing to copy"):
        backup(folder / "empty.db", folder / "x.db")
    assert not (folder / "x.db").exists()


def test_restore_refuses_a_study_in_use(folder: Path) -> None:
    place, copy = folder / "study.db", folder / "copy.db"
    with make(place) as study:
        backup(place, copy)
        study.tell(arm="a", reward=1)
        for force in (False, True):
            with pytest.raises(StorageError, match="in use" if force else "--force"):
                restore(copy, place, force=force)
        assert study.tell(arm="a", reward=1).counted == 1
    restore(copy, place, force=True)
    with Study.open(place) as study:
        assert study.status().pulls == 60


def test_leftovers_of_another_file_do_no_harm(folder: Path) -> None:
    """A log that stayed behind would be worked into the restored file, and spoil it."""
    place, copy = folder / "study.db", folder / "copy.db"
    make(place).close()
    backup(place, copy)

    def write_more() -> Study:
        study = Study.open(place)
        study.tell_many([(ARMS[i % 4], 1) for i in range(500)])
        return study

    killed_after(write_more)
    log = Path(f"{place}-wal").read_bytes()
    place.unlink()
    done = restore(copy, place)
    assert "study.db-wal of an earlier file was there" in done.remarks[0]
    with Study.open(place) as study:
        assert study.status().pulls == 60
        assert study.verify().problems == ()
    (kept,) = folder.glob("study.db-wal.leftover-*")
    assert kept.read_bytes() == log
    # With the file still there its log is worked in first, and both are replaced.
    killed_after(write_more)
    assert restore(copy, place, force=True).remarks == ()
    assert Study.open(place).status().pulls == 60


def test_an_unsound_copy_is_not_kept(folder: Path) -> None:
    place, copy = folder / "study.db", folder / "copy.db"
    make(place).close()
    with sqlite3.connect(place) as raw:
        raw.execute("UPDATE standout_arms SET total = total + 1")
    raw.close()
    with pytest.raises(StorageError, match=r"not sound and was not kept: arm 'a'"):
        backup(place, copy)
    assert files(folder) == ["study.db"]


def test_interrupted_in_the_middle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, copy = folder / "study.db", folder / "copy.db"
    make(place).close()
    backup(place, copy)
    before = copy.read_bytes()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup(place, copy, force=True, progress=stop)

    def no_space(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copying, "_sync", no_space)
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        backup(place, copy, force=True)
    assert copy.read_bytes() == before
    assert files(folder) == ["copy.db", "study.db"]


@pytest.mark.parametrize("golden", sorted((Path(__file__).parent / "golden").glob("*.db")))
def test_databases_of_past_versions(folder: Path, golden: Path) -> None:
    shutil.copy(golden, folder / "old.db")
    done = restore(folder / "old.db", folder / "new.db")
    (study,) = done.studies
    # Since version 5 one of them is void, and another is told in its place.
    assert (study.pulls, study.rewards) == (60, 60 if golden.stem < "v5" else 61)
    assert done.remarks == ()


def test_on_the_command_line(folder: Path) -> None:
    place, copy = folder / "study.db", folder / "copy.db"
    make(place).close()
    said = standout("study", "backup", place, copy)
    assert said.code == 0
    assert "main: 60 pulls, 60 rewards" in said.out
    again = standout("study", "backup", place, copy)
    assert (again.code, "--force" in again.err) == (2, True)
    data = standout("study", "backup", place, copy, "--force", "--json").json
    assert data["studies"] == [{"name": "main", "pulls": 60, "rewards": 60}]
    assert set(data) == {"source", "target", "size", "studies", "remarks"}
    data = standout("study", "restore", copy, folder / "new.db", "--json").json
    assert (data["target"], data["remarks"]) == (str(folder / "new.db"), [])
