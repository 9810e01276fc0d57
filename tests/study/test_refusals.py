"""What a study refuses, clearly and without damage; and that a password is never shown."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from standout.study.storage.database import Storage
from standout.study.storage.migrations import STEPS, migrate, stored_version
from standout.study.storage.schema import TABLES

from standout import Problem
from standout.errors import NoStudyError, ProblemError, StandoutError, StorageError, StudyError
from standout.study import Study
from standout.study.storage.location import file_system, has_password, locate
from tests.study.cli import standout
from tests.study.postgres import PASSWORD, Server

ARMS = ["a", "b", "c", "d"]
PROBLEM = Problem(noise="bernoulli")
GOLDEN = Path(__file__).parent / "storage" / "golden"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def path(folder: Path) -> Path:
    """A closed study of some hundred rewards."""
    made = folder / "study.db"
    with Study.create(made, ARMS, PROBLEM) as study:
        study.tell_many([(ARMS[i % 4], i % 2) for i in range(400)])
        study.ask(3)
    return made


def test_missing_empty_and_foreign_files(folder: Path) -> None:
    with pytest.raises(NoStudyError, match="no study at"):
        Study.open(folder / "none.db")
    assert not (folder / "none.db").exists()
    with pytest.raises(StorageError, match="folder"):
        Study.open(folder)
    with pytest.raises(StorageError, match="no folder"):
        Study.create(folder / "no" / "x.db", ARMS, PROBLEM)
    empty = folder / "empty.db"
    empty.touch()
    with pytest.raises(NoStudyError, match="holds no study"):
        Study.open(empty)
    text = folder / "notes.txt"
    text.write_text("just some notes, longer than a header" * 10)
    for call in (lambda: Study.open(text), lambda: Study.create(text, ARMS, PROBLEM)):
        with pytest.raises(StorageError, match="no SQLite database"):
            call()
    assert text.read_text().startswith("just some notes")
    other = folder / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE birds (name)")
    with pytest.raises(NoStudyError, match="holds no study"):
        Study.open(other)


def test_truncated_files_are_refused_and_left_alone(path: Path) -> None:
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    cuts = {50, 99, 100, 1000, 4096, len(whole) - 1, *rng.integers(1, len(whole), 25).tolist()}
    for cut in sorted(cuts):
        path.write_bytes(whole[:cut])
        before = digest(path)
        for call in (lambda: Study.open(path), lambda: Study.create(path, ARMS, PROBLEM)):
            with pytest.raises(StorageError):
                call()
        assert digest(path) == before
    path.write_bytes(whole)
    assert Study.open(path).verify()


def test_overwritten_pages_are_an_error_of_ours(path: Path) -> None:
    """Whatever is in the file: an error of ours, or an answer that `verify` can judge."""
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(30):
        damaged = bytearray(whole)
        start = int(rng.integers(0, len(whole) - 600))
        damaged[start : start + 600] = rng.bytes(600)
        path.write_bytes(bytes(damaged))
        for name in ("-wal", "-shm"):
            Path(f"{path}{name}").unlink(missing_ok=True)
        try:
            with Study.open(path) as study:
                study.status()
                study.verify()
        except StandoutError:
            pass


def test_newer_version_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE standout_schema SET version = 99")
    connection.close()
    before = digest(path)
    for call in (lambda: Study.open(path), lambda: Study.create(path, ARMS, PROBLEM, name="x")):
        with pytest.raises(StorageError, match=r"newer standout \(schema 99"):
            call()
    assert digest(path) == before
    assert standout("study", "status", path).code == 2


def test_newer_version_on_postgresql(server: Server) -> None:
    url = server.new_database("newer")
    Study.create(url, ARMS, PROBLEM).close()
    server.run("UPDATE standout_schema SET version = 99", "newer")
    with pytest.raises(StorageError, match="newer standout"):
        Study.open(url)


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.db")), ids=lambda path: path.stem)
def test_golden_databases_open(folder: Path, golden: Path) -> None:
    """Every version that was ever released opens, goes on and verifies."""
    path = folder / golden.name
    shutil.copy(golden, path)
    with Study.open(path) as study:
        status = study.status()
        assert (status.pulls, status.pending) == (60, 4)
        assert status.failures == {"d": 1}
        assert study.history()["reward"][:3].tolist() == [0.0, 1.0, 0.0]
        study.tell(study.pending()[0].ticket, 1.0)
        for _ in range(20):
            study.tell_many([(t, 0.0) for t in study.ask(5)])
        assert study.verify().problems == ()
        kept = int(golden.stem[1:]) >= 2
        assert study.items() == ({"a": {"text": "the first"}} if kept else {})
        assert study.page == ({"question": "Is it?"} if kept else None)
        assert len(study.trace()) > 0
    with Study.create(path, ARMS, PROBLEM, name="x", page={"question": "And this?"}) as other:
        assert other.page == {"question": "And this?"}


TAKE_BACK = {
    7: (
        "DROP INDEX standout_rewards_rater",
        "CREATE INDEX standout_rewards_worker ON standout_rewards (study, worker, seq)",
    ),
    6: ("ALTER TABLE standout_tokens DROP COLUMN made_by, DROP COLUMN revoked_by",),
    5: (
        "DROP TABLE standout_deleted",
        "ALTER TABLE standout_runs DROP COLUMN changed",
    ),
    4: (
        "DROP INDEX standout_tickets_open, standout_tickets_due, standout_tickets_holder, "
        "standout_rewards_worker, standout_failures_worker",
        "CREATE INDEX standout_tickets_expires ON standout_tickets (study, status, expires)",
        "CREATE INDEX standout_tickets_arm ON standout_tickets (study, arm)",
    ),
    3: (
        "DROP TABLE standout_steps",
        "DROP TABLE standout_bases",
        "DROP TABLE standout_base_arms",
        "DROP FUNCTION standout_steps_keep, standout_bases_keep, standout_base_arms_keep",
        "ALTER TABLE standout_runs DROP COLUMN steps, DROP COLUMN head",
        "ALTER TABLE standout_arms DROP COLUMN held",
        "ALTER TABLE standout_tickets DROP COLUMN logged",
    ),
    2: (
        "DROP TABLE standout_items",
        "DROP TABLE standout_trace",
        "DROP TABLE standout_tokens",
        "ALTER TABLE standout_studies DROP COLUMN page",
    ),
}


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_an_older_database_on_postgresql(server: Server, version: int) -> None:
    """What an older version lacked is added; its study goes on."""
    name = f"version_{version}"
    url = server.new_database(name)
    with Study.create(url, ARMS, PROBLEM) as study:
        early, *late = study.ask(3 * len(ARMS))
        # The reward of an arm's second pull waits for that of its first.
        study.tell_many([(ticket, 1.0) for ticket in late])
        waiting = int(study._state.held.sum())
        assert waiting == 2
    for newer in range(len(STEPS), version, -1):
        for statement in TAKE_BACK[newer]:
            server.run(statement, name)
    server.run(f"UPDATE standout_schema SET version = {version}", name)
    with Study.open(url) as study:
        assert (study.page, study.items(), study.status().pulls) == (None, {}, 11)
        assert study._state.held.sum() == waiting
        study.tell(early, 1.0)
        assert study._state.held.sum() == 0
        study.tell_many([(ticket, 1.0) for ticket in study.ask(5)])
        assert study.verify().problems == ()


def test_the_steps_make_the_tables_that_are_copied(place: str) -> None:
    Study.create(place, ARMS, PROBLEM).close()
    storage = Storage(place)
    with storage.read() as connection:
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            if connection.is_sqlite
            else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )
        assert {name for (name,) in found} == {"standout_schema", *TABLES}
    storage.close()


def test_every_version_has_a_golden_database() -> None:
    assert [path.stem for path in sorted(GOLDEN.glob("*.db"))] == [
        f"v{number}" for number in range(1, len(STEPS) + 1)
    ]


def test_migrations_run_once_each_and_in_order(place: str) -> None:
    Study.create(place, ARMS, PROBLEM).close()
    storage = Storage(place)
    seen: list[int] = []
    steps = (*STEPS, lambda _: seen.append(2), lambda _: seen.append(3))
    for _ in range(2):
        with storage.write() as connection:
            migrate(connection, "here", steps)
            assert stored_version(connection) == len(STEPS) + 2
    assert seen == [2, 3]
    broken = (*steps, lambda connection: connection.execute("CREATE NONSENSE"))
    with pytest.raises(StorageError), storage.write() as connection:
        migrate(connection, "here", broken)
    with storage.read() as connection:
        assert stored_version(connection) == len(STEPS) + 2
    storage.close()
    with pytest.raises(StorageError, match="newer"):
        Study.open(place)


def test_network_file_systems_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = folder / "mounts"
    share = folder / "my share"
    share.mkdir()
    escaped = str(share).replace(" ", "\\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nhost:/x {escaped} nfs4 rw 0 0\n")
    assert file_system(share, str(mounts)) == "nfs4"
    assert file_system(folder, str(mounts)) == "ext4"
    assert file_system(folder, str(folder / "none")) == ""
    monkeypatch.setattr("standout.study.storage.location.file_system", lambda _: "nfs4")
    with pytest.raises(StorageError, match="network file system"):
        Study.create(share / "x.db", ARMS, PROBLEM)
    assert list(share.iterdir()) == []


@pytest.mark.parametrize("name", ["", "a\x00b", "half \ud800 pair", "\udcff"])
def test_names_that_cannot_be_stored(place: str, name: str) -> None:
    with pytest.raises(ProblemError):
        Study.create(place, ["a", "b", name], PROBLEM)
    with pytest.raises(ProblemError):
        Study.create(place, ARMS, PROBLEM, name=name)


def test_a_locked_database_says_so(path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    study = Study.open(path, patience=0.2)
    with pytest.raises(StorageError, match=r"was busy for 0.2 s"):
        study.tell(arm="a", reward=1)
    assert study.status().pulls == 400  # Reading goes on beside it.
    holder.execute("ROLLBACK")
    holder.close()
    assert study.tell(arm="a", reward=1).counted == 1


def test_places() -> None:
    assert str(locate("sqlite:////tmp/x.db")) == "/tmp/x.db"
    assert str(locate("postgres://me@host/db")) == "postgresql://me@host/db"
    for bad in ("mysql://host/db", "postgresql://host:port/db", ""):
        with pytest.raises(StorageError):
            locate(bad)
    assert has_password("postgresql://me:word@host/db")
    assert has_password("postgresql://me@host/db?password=word")
    assert not has_password("postgresql://me@host/db")
    assert not has_password("/some:odd@file")


def secrets_in(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error)) + repr(error)
    return text


def test_password_is_never_shown(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.run(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
    server.run("CREATE DATABASE guarded OWNER guarded")
    good = server.url("guarded", "guarded", quote(PASSWORD, safe=""))
    study = Study.create(good, ARMS, PROBLEM)
    study.tell(arm="a", reward=1)
    shown_texts = [repr(study), str(study), study._storage.shown, repr(study._storage.address)]
    for bad in (
        server.url("nowhere", "guarded", quote(PASSWORD, safe="")),
        server.url("guarded", "guarded", quote(PASSWORD + "x", safe="")),
        f"postgresql://guarded:{quote(PASSWORD, safe='')}@127.0.0.1:1/guarded",
        f"postgresql://guarded:{PASSWORD}@127.0.0.1:notaport/guarded",
        f"postgresql://guarded@127.0.0.1:1/guarded?password={quote(PASSWORD, safe='')}",
        f"mysql://guarded:{quote(PASSWORD, safe='')}@host/db",
    ):
        with pytest.raises(StorageError) as caught:
            Study.open(bad)
        shown_texts.append(secrets_in(caught.value))
    outcome = standout("study", "status", good)
    assert "PGPASSWORD" in outcome.err
    shown_texts += [outcome.out, outcome.err, caplog.text]
    for text in shown_texts:
        assert PASSWORD not in text
        assert quote(PASSWORD, safe="") not in text
    assert "***" in shown_texts[0]


def test_address_from_the_environment(server: Server) -> None:
    url = server.new_database("secret")
    Study.create(url, ARMS, PROBLEM).close()
    program = [sys.executable, "-c", "from standout.cli.main import main; main()"]
    words = [*program, "study", "status", "env:MY_STUDY", "--json"]
    environment = {**os.environ, "MY_STUDY": url}
    told = subprocess.run(words, env=environment, capture_output=True, check=False)
    assert b'"pulls": 0' in told.stdout, told.stderr
    assert "not set" in standout("study", "status", "env:NO_SUCH_NAME").err


def test_a_study_is_not_sent_to_another_process(path: Path) -> None:
    import pickle

    with Study.open(path) as study, pytest.raises(StudyError, match="open it there"):
        pickle.dumps(study)
