"""The file of a study under its users: moved, replaced, copied by half, read-only."""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from standout import Problem
from standout.errors import MovedError, NoStudyError, StorageError
from standout.report.facts import gather
from standout.study import Study, backup, restore
from standout.study.storage import sqlite_file
from standout.study.transaction import Transaction
from tests.study.cli import standout
from tests.study.processes import as_nobody, in_child, killed_after

ARMS = ["a", "b", "c", "d"]
PROBLEM = Problem(noise="bernoulli")
LOG = "-wal"


def make(place: Path, rewards: int = 60) -> Study:
    study = Study.create(place, ARMS, PROBLEM)
    study.tell_many([(ARMS[i % 4], i % 2) for i in range(rewards)])
    return study


def beside(place: Path, ending: str) -> Path:
    return Path(f"{place}{ending}")


@pytest.fixture
def place(folder: Path) -> Path:
    return folder / "study.db"


# Moved, removed, replaced ---------------------------------------------------------


@pytest.mark.parametrize("how", ["renamed", "removed", "replaced", "log removed", "log replaced"])
def test_nothing_is_written_into_a_file_that_is_gone(folder: Path, place: Path, how: str) -> None:
    study = make(place)
    other = folder / "other.db"
    backup(place, other)
    if how == "renamed":
        place.rename(folder / "old.db")
    elif how == "removed":
        place.unlink()
    elif how == "replaced":
        os.replace(other, place)
    else:
        beside(place, LOG).unlink()
        if how == "log replaced":
            beside(place, LOG).write_bytes(b"")
    for call in (lambda: study.tell(arm="a", reward=1), study.ask, study.status):
        with pytest.raises(MovedError, match=r"moved, removed or replaced while in use; nothing"):
            call()
    study.close()
    with pytest.raises(StorageError):
        study.status()


def test_a_file_that_comes_back_is_used_again(folder: Path, place: Path) -> None:
    study = make(place)
    place.rename(folder / "away.db")
    with pytest.raises(MovedError, match="no longer there"):
        study.tell(arm="a", reward=1)
    (folder / "away.db").rename(place)
    assert study.tell(arm="a", reward=1).counted == 1
    assert study.verify().problems == ()


def test_moved_while_a_transaction_is_written(folder: Path, place: Path) -> None:
    """It is not acknowledged, though it was committed: into a file that nobody looks at."""
    study = make(place)

    def tell_while_it_moves() -> None:
        with study._writing() as (connection, now):
            one = Transaction(connection, study._stored, now)
            one.tell_many([("a", 1.0)])
            place.rename(folder / "away.db")

    with pytest.raises(MovedError, match="what was just written may be lost"):
        tell_while_it_moves()


def test_leaving_does_not_take_the_log_of_a_new_file(folder: Path, place: Path) -> None:
    """SQLite removes a log by its name; by then the name may belong to another study."""
    old = make(place)
    place.rename(folder / "old.db")
    for ending in (LOG, "-shm"):
        beside(place, ending).rename(folder / f"old.db{ending}")

    def begin_another() -> Study:
        return make(place, 8)

    killed_after(begin_another)
    log = beside(place, LOG).read_bytes()
    assert log
    old.close()
    del old
    assert beside(place, LOG).read_bytes() == log
    with Study.open(place) as study:
        assert study.status().pulls == 8
    with Study.open(folder / "old.db") as study:
        assert study.status().pulls == 60


# Copied without its log -----------------------------------------------------------


def copied_by_half(folder: Path, place: Path) -> Path:
    """What is left when only the file itself is copied after a crash."""
    killed_after(lambda: make(place))
    copy = folder / "half.db"
    shutil.copy(place, copy)
    return copy


def test_the_time_of_a_file_that_was_just_changed_is_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes in steps: within one, a change by others would look like none."""
    make(place).close()
    os.utime(place)
    file = sqlite_file.SqliteFile(place, create=False, patience=1.0)
    assert time.time_ns() - file._before[0] >= 1e9 * sqlite_file._TICK
    assert not file._was_left_amid
    # What changes meanwhile is in somebody's hands, and has lost nothing.
    os.utime(place)
    monkeypatch.setattr(time, "sleep", lambda _: os.utime(place, ns=(1, 1)))
    assert sqlite_file.SqliteFile(place, create=False, patience=1.0)._was_left_amid


def test_a_leaving_that_was_cut_short_is_no_loss(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header says that there is a log, and there is none: as a full disk leaves it."""
    make(place).close()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file.SqliteFile, "make_whole", lambda self, raw: False)
        patch.setattr(sqlite_file.SqliteFile, "_settle", lambda self: False)
        Study.open(place).close()
    assert not beside(place, LOG).exists()
    assert len(list(place.parent.glob("*-mode-*"))) == 1
    with Study.open(place) as study:
        assert study.verify().problems == ()
    assert list(place.parent.glob("*-mode-*")) == []


def test_a_copy_without_its_log_is_noticed(folder: Path, place: Path) -> None:
    make(place, 4).close()

    def tell() -> Study:
        study = Study.open(place)
        study.tell_many([("a", 1.0)] * 60)
        return study

    killed_after(tell)
    copy = folder / "half.db"
    shutil.copy(place, copy)
    for _ in range(2):  # And stays noticed.
        said = standout("study", "verify", copy)
        assert said.code == 1
        assert "rewards may be missing" in said.err
        assert standout("study", "verify", copy, "--json").json["ok"] is False
    assert "warning: " in standout("study", "status", copy).err
    done = restore(copy, folder / "accepted.db")
    assert "rewards may be missing" in done.remarks[0]
    assert standout("study", "verify", folder / "accepted.db").code == 0
    # The original has all of it.
    assert standout("study", "verify", place).out.startswith("all well: 64 rewards, 0 tickets, ")


def test_a_copy_from_under_a_running_study_is_noticed(folder: Path, place: Path) -> None:
    with make(place) as study:
        shutil.copy(place, folder / "half.db")
        assert study.remark is None
    try:
        with Study.open(folder / "half.db") as half:
            assert half.remark is not None
    except NoStudyError:
        pass  # Not even the tables were in there.


def test_whole_files_raise_no_alarm(folder: Path, place: Path) -> None:
    """Closed, left open, killed, or copied with the log: nothing is missing."""
    make(place).close()
    assert not beside(place, LOG).exists()
    shutil.copy(place, folder / "closed.db")
    script = (
        "import sys; from standout.study import Study\n"
        "kept = Study.open(sys.argv[1]); kept.tell(arm='a', reward=1)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(place)], check=True)
    shutil.copy(place, folder / "left open.db")

    def open_and_die() -> Study:
        study = Study.open(place)
        study.tell(arm="a", reward=1)
        return study

    killed_after(open_and_die)
    shutil.copy(place, folder / "killed.db")
    shutil.copy(beside(place, LOG), folder / "killed.db-wal")
    for name, pulls in (("closed", 60), ("left open", 61), ("killed", 62), ("study", 62)):
        with Study.open(folder / f"{name}.db") as study:
            assert (study.remark, study.status().pulls) == (None, pulls), name


def test_many_that_come_and_go_raise_no_alarm(place: Path) -> None:
    make(place).close()
    code = (
        "import sys; from standout.study.storage.database import Storage\n"
        "for _ in range(40):\n"
        "    s = Storage(sys.argv[1])\n"
        "    assert s.remark is None, s.remark\n"
        "    s.close()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(place)]) for _ in range(4)]
    assert [one.wait() for one in running] == [0, 0, 0, 0]
    with Study.open(place) as study:
        assert study.remark is None
    assert not beside(place, LOG).exists()


def test_a_foreign_lock_delays_only_the_log(place: Path) -> None:
    """While another tool holds a lock, a study is opened and read all the same."""
    make(place).close()
    holder = sqlite3.connect(place, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    study = Study.open(place, patience=0.2)
    assert study.status().pulls == 60
    holder.execute("ROLLBACK")
    holder.close()
    assert study.tell(arm="a", reward=1).counted == 1
    assert beside(place, LOG).exists()


def test_an_old_file_that_is_in_use_is_opened(place: Path) -> None:
    """One without a mark gets it when it can; meanwhile it is used without."""
    make(place).close()
    holder = sqlite3.connect(place, isolation_level=None)
    holder.execute("PRAGMA application_id=0")
    holder.execute("PRAGMA journal_mode=WAL")
    holder.execute("BEGIN IMMEDIATE")
    with Study.open(place, patience=0.2) as study:
        assert (study.status().pulls, study.remark) == (60, None)
    holder.execute("ROLLBACK")
    holder.close()
    Study.open(place).close()
    with sqlite3.connect(place) as raw:
        assert raw.execute("PRAGMA application_id").fetchone()[0] == sqlite_file.APPLICATION
    raw.close()


# Read-only ------------------------------------------------------------------------


@pytest.fixture
def frozen(folder: Path) -> Iterator[Path]:
    """A folder that is to become read-only; where the study goes."""
    with make(folder / "warm.db") as study:
        # The compiled code is kept where nobody may not read: it is loaded here.
        standout("study", "status", folder / "warm.db")
        gather(study)
    (folder / "warm.db").unlink()
    folder.chmod(0o755)
    place = folder / "study.db"
    yield place
    folder.chmod(0o755)


def freeze(place: Path) -> None:
    for path in place.parent.iterdir():
        path.chmod(0o444)
    place.parent.chmod(0o555)


def look_at(place: Path, pulls: int) -> None:
    """Everything that only looks."""
    assert standout("study", "status", place, "--json").json["pulls"] == pulls
    assert f"{pulls} pulls" in standout("study", "status", place).out
    assert standout("study", "verify", place).code == 0
    assert len(standout("study", "export", place).out.splitlines()) == pulls + 1
    assert "main" in standout("study", "list", place).out
    with Study.open(place) as study:
        assert gather(study).to_dict()["answer"]
        file = io.StringIO()
        assert study.export(file) == pulls
        for call in (study.ask, lambda: study.tell(arm="a", reward=1)):
            with pytest.raises(StorageError, match="read-only here: asking and telling need"):
                call()


def test_a_closed_study_is_read_where_nothing_can_be_written(frozen: Path) -> None:
    make(frozen).close()
    freeze(frozen)
    before = frozen.read_bytes()
    as_nobody(lambda: look_at(frozen, 60))
    assert frozen.read_bytes() == before
    assert [path.name for path in frozen.parent.iterdir()] == ["study.db"]


def test_one_in_use_is_read_where_nothing_can_be_written(frozen: Path) -> None:
    with make(frozen) as study:
        freeze(frozen)
        as_nobody(lambda: look_at(frozen, 60))
        frozen.parent.chmod(0o755)
        assert study.tell(arm="a", reward=1).counted == 1


def test_one_that_was_killed_is_read_with_its_log(frozen: Path) -> None:
    killed_after(lambda: make(frozen))
    freeze(frozen)
    as_nobody(lambda: look_at(frozen, 60))


def test_a_log_that_cannot_be_read_is_named(frozen: Path) -> None:
    make(frozen, 4).close()

    def tell() -> Study:
        study = Study.open(frozen)
        study.tell_many([("a", 1.0)] * 60)
        return study

    killed_after(tell)
    beside(frozen, "-shm").unlink()
    freeze(frozen)

    def look() -> None:
        with pytest.raises(StorageError, match=r"newest rewards are in study.db-wal .*Copy it"):
            Study.open(frozen)

    as_nobody(look)
    frozen.parent.chmod(0o755)
    beside(frozen, LOG).unlink()
    frozen.parent.chmod(0o555)

    def look_without() -> None:
        with Study.open(frozen) as study:
            assert study.status().pulls == 4
            assert not study.verify()
            assert "rewards may be missing" in str(study.remark)

    as_nobody(look_without)


def test_an_older_schema_is_not_brought_up_to_date_there(frozen: Path) -> None:
    golden = Path(__file__).parent / "golden" / "v1.db"
    shutil.copy(golden, frozen)
    freeze(frozen)

    def look() -> None:
        with pytest.raises(StorageError, match="older standout and is read-only here"):
            Study.open(frozen)

    as_nobody(look)


def test_a_file_of_the_version_before_that_was_closed_by_it(frozen: Path) -> None:
    """Past versions left the header as it is in use; that is no loss."""
    make(frozen).close()
    with sqlite3.connect(frozen, isolation_level=None) as raw:
        raw.execute("PRAGMA application_id=0")
        raw.execute("PRAGMA journal_mode=WAL")
    raw.close()
    freeze(frozen)

    def look() -> None:
        look_at(frozen, 60)
        with Study.open(frozen) as study:
            assert study.remark is None

    as_nobody(look)
    frozen.parent.chmod(0o755)
    in_child(lambda: Study.open(frozen).close())


def test_the_announcement_of_a_living_process_stays(tmp_path: Path) -> None:
    """One that is about to close the file may be its last; who was killed will not come back."""
    place = tmp_path / "study.db"
    make(place).close()
    dead = tmp_path / "study.db-mode-dead"
    dead.touch()
    leaving = sqlite_file.SqliteFile(place, create=False, patience=1.0)
    with leaving._announced():
        (alive,) = set(tmp_path.glob("study.db-mode-*")) - {dead}
        Study.open(place).close()
        assert alive.exists()
        assert not dead.exists()
    assert not alive.exists()


def test_an_announcement_is_there_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is locked it looks like that of a dead process, and others may remove it."""
    place = tmp_path / "study.db"
    make(place).close()
    take, removed = sqlite_file._take, []

    def take_late(number: int) -> None:
        if len(removed) < 2:
            (found,) = tmp_path.glob("study.db-mode-*")
            removed.append(found)
            if len(removed) == 1:
                found.unlink()
            else:  # Somebody else is looking whether it may be removed.
                found.unlink()
                raise BlockingIOError
        take(number)

    leaving = sqlite_file.SqliteFile(place, create=False, patience=1.0)
    monkeypatch.setattr(sqlite_file, "_take", take_late)
    with leaving._announced():
        (left,) = tmp_path.glob("study.db-mode-*")
        assert left not in removed
    assert list(tmp_path.glob("study.db-mode-*")) == []
    assert place.exists()


def test_an_announcement_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "study.db"
    make(place).close()
    leaving = sqlite_file.SqliteFile(place, create=False, patience=1.0)

    def refuse(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file.os, "open", refuse)
        with leaving._announced():
            pass
    assert place.exists()
