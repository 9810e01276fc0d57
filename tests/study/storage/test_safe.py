"""A call returns when the disk has what it did, and others need not wait for that."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import psycopg
import pytest

from standout import Problem
from standout.errors import StorageError, UnavailableError, UncertainError
from standout.study import Study
from tests.study.postgres import Server

ARMS = ["ash", "elm", "fir", "oak"]
PROBLEM = Problem(noise="bernoulli", k=2)


def test_others_may_write_while_one_waits_for_the_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(folder / "study.db", ARMS, PROBLEM)
    other = Study.open(folder / "study.db")
    seen: list[int] = []
    sync = os.fdatasync

    def slow(number: int) -> None:
        if not seen:
            seen.append(other.status().pulls)
            other.tell(arm="elm", reward=1.0)
            seen.append(other.status().pulls)
        sync(number)
        seen.append(-1)

    monkeypatch.setattr(os, "fdatasync", slow)
    study.tell(arm="ash", reward=1.0)
    # Committed before the disk was waited for, and waited for before the call returned.
    assert seen == [1, -1, 2, -1]
    assert study.verify().problems == ()


def test_every_change_waits_for_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(folder / "study.db", ARMS, PROBLEM)
    log = os.stat(folder / "study.db-wal").st_ino
    count = 0
    sync = os.fdatasync

    def counted(number: int) -> None:
        nonlocal count
        count += os.fstat(number).st_ino == log
        sync(number)

    monkeypatch.setattr(os, "fdatasync", counted)
    ticket, other = study.ask(2)
    study.tell(ticket, 1.0)
    study.fail(other, "spilt")
    study.tell_many([(arm, 1.0) for arm in ARMS * 100])
    study.pause("ash")
    study.status()
    assert count == 5


def test_a_disk_that_fails_is_not_believed_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system reports an error once; afterwards it would say that all is well."""
    study = Study.create(folder / "study.db", ARMS, PROBLEM)
    failures = 1

    def fail(_: int) -> None:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(UncertainError, match="may be lost") as caught:
            study.tell(arm="ash", reward=1.0, key="one")
        assert caught.value.key == "one"
        with pytest.raises(StorageError, match="the disk failed before"):
            study.tell(arm="ash", reward=1.0)
    with Study.open(folder / "study.db") as again:
        assert again.tell(arm="ash", reward=1.0, key="one").again
        assert again.status().pulls == 1


def test_a_busy_file_is_waited_for_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.create(folder / "study.db", ARMS, PROBLEM, patience=0.01)
    holder = sqlite3.connect(folder / "study.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    begun = 0
    begin = type(study._storage.file).begin_immediate

    def counted(self: object, raw: sqlite3.Connection) -> None:
        nonlocal begun
        begun += 1
        begin(self, raw)  # type: ignore[arg-type]

    monkeypatch.setattr(type(study._storage.file), "begin_immediate", counted)
    with pytest.raises(UnavailableError, match=r"busy for 0\.01 s") as caught:
        study.tell(arm="ash", reward=1.0)
    assert caught.value.has_waited
    assert begun == 1
    holder.execute("ROLLBACK")
    assert study.tell(arm="ash", reward=1.0).counted == 1
    holder.close()


def test_postgresql_has_written_its_log_when_a_tell_returns(server: Server) -> None:
    url = server.new_database("flushed")
    study = Study.create(url, ARMS, PROBLEM)
    with psycopg.connect(url, autocommit=True) as looker:
        for _ in range(10):
            before = looker.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            study.tell(arm="ash", reward=1.0)
            (written,) = looker.execute(
                "SELECT pg_current_wal_flush_lsn() - %s::pg_lsn", before
            ).fetchone() or (0,)
            assert written > 500


@pytest.mark.parametrize(
    "text",
    ["O'Brien", "back\\slash", "a'; DROP TABLE standout_runs; --", "%s %", "ö\u2028\n\t", '"'],
)
def test_what_people_write_is_text(place: str, text: str) -> None:
    """Statements are sent with their values in them: none may be taken for SQL."""
    study = Study.create(place, ARMS, PROBLEM, pause_after=1)
    ticket, other = study.ask(2, worker=text)
    study.tell(ticket, 1.0, worker=text, key=text if text.isprintable() else None)
    study.fail(other, text, worker=text)
    assert study.holder(ticket) == text
    assert study.failures()[0].reason == text
    assert text in study.status().paused[other.arm]
    assert study.history()["worker"].tolist() == [text]
    assert study.verify().problems == ()
