"""A call returns when the disk has what it did, and nobody sees it before."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from standout import Problem
from standout.errors import UnavailableError
from standout.study import Study
from tests.patience import HANGS, until
from tests.study.postgres import Server

ARMS = ["ash", "elm", "fir", "oak"]
PROBLEM = Problem(noise="bernoulli", k=2)


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands between SQLite and the disk."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("disk") / "disk.so"
    source = Path(__file__).with_name("disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source], check=True)
    return made


class Disk:
    """The disk under a log, for a program that is run with it: it counts, waits or fails."""

    def __init__(self, shim: Path, folder: Path) -> None:
        self.count, self.hold, self.fail = (folder / name for name in ("count", "hold", "fail"))
        self._environment = {
            **os.environ,
            "LD_PRELOAD": str(shim),
            "DISK_COUNT": str(self.count),
            "DISK_HOLD": str(self.hold),
            "DISK_FAIL": str(self.fail),
        }

    def begin(self, *lines: str) -> subprocess.Popen[str]:
        """Run lines of Python on `study`, the one in the folder."""
        place = self.count.with_name("study.db")
        head = ["from pathlib import Path", "from standout.study import Study"]
        text = "\n".join([*head, f"study = Study.open({str(place)!r})", *lines])
        return subprocess.Popen(
            [sys.executable, "-c", text],
            env=self._environment,
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *lines: str) -> str:
        """What they print."""
        said, _ = self.begin(*lines).communicate(timeout=HANGS)
        return said.strip()

    @property
    def times(self) -> int:
        """How often it was waited for."""
        return self.count.stat().st_size if self.count.exists() else 0


@pytest.fixture
def disk(shim: Path, folder: Path) -> Disk:
    Study.create(folder / "study.db", ARMS, PROBLEM).close()
    return Disk(shim, folder)


def test_nobody_sees_what_is_not_safe(disk: Disk, folder: Path) -> None:
    """A verdict that was shown must not be taken back by a power failure."""
    disk.hold.touch()
    telling = disk.begin("study.tell(arm='ash', reward=1.0)", "print('told')")
    until(lambda: disk.times, "the disk is not waited for")
    with Study.open(folder / "study.db") as other:
        assert other.status().pulls == 0
        assert telling.poll() is None
        disk.hold.unlink()
        assert telling.communicate(timeout=HANGS)[0] == "told\n"
        assert other.status().pulls == 1


def test_every_change_waits_for_the_disk(disk: Disk) -> None:
    said = disk.run(
        f"count = lambda: Path({str(disk.count)!r}).stat().st_size",
        "ticket, other = study.ask(2)",
        "before = count()",
        "study.tell(ticket, 1.0)",
        "study.fail(other, 'spilt')",
        "study.tell_many([(arm, 1.0) for arm in study.arms * 100])",
        "study.pause('ash')",
        "study.status()",
        "print(count() - before)",
    )
    assert said == "4"


def test_a_disk_that_fails(disk: Disk, folder: Path) -> None:
    """It may be there or not, and the key shows which; once told again it is there once."""
    lines = (
        "from standout.errors import UncertainError",
        "try:",
        "    print(study.tell(arm='ash', reward=1.0, key='one').counted)",
        "except UncertainError as error:",
        "    print(error.key)",
    )
    disk.fail.touch()
    assert disk.run(*lines) == "one"
    disk.fail.unlink()
    with Study.open(folder / "study.db") as again:
        again.tell(arm="ash", reward=1.0, key="one")
        assert again.status().pulls == 1
        assert again.verify().problems == ()


def test_postgresql_shows_nothing_that_is_not_safe(server: Server) -> None:
    """A server waits for the disk before it shows a transaction, unless it is told otherwise."""
    with Study.create(server.new_database("shown"), ARMS, PROBLEM) as study:
        study.tell(arm="ash", reward=1.0)
        for is_small in (True, False):
            with study._storage.write(is_small=is_small) as connection:
                ((found,),) = connection.execute("SHOW synchronous_commit")
                assert found == "on"


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
