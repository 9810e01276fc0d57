"""What a study refuses, clearly and without damage; and that a password is never shown."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from standout import Problem
from standout.errors import NoStudyError, ProblemError, StandoutError, StorageError, StudyError
from standout.study import Study
from standout.study.storage.location import file_system, has_password, locate
from tests.study.cli import standout
from tests.study.postgres import PASSWORD, Server

ARMS = ["a", "b", "c", "d"]
PROBLEM = Problem(noise="bernoulli")


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
    server.run(f"CREATE ROLE guarded_here LOGIN PASSWORD '{PASSWORD}'")
    server.run("CREATE DATABASE guarded_here OWNER guarded_here")
    good = server.url("guarded_here", "guarded_here", quote(PASSWORD, safe=""))
    study = Study.create(good, ARMS, PROBLEM)
    study.tell(arm="a", reward=1)
    shown_texts = [repr(study), str(study), study._store.shown, repr(study._store)]
    for bad in (
        server.url("nowhere", "guarded_here", quote(PASSWORD, safe="")),
        server.url("guarded_here", "guarded_here", quote(PASSWORD + "x", safe="")),
        f"postgresql://guarded_here:{quote(PASSWORD, safe='')}@127.0.0.1:1/guarded_here",
        f"postgresql://guarded_here:{PASSWORD}@127.0.0.1:notaport/guarded_here",
        f"postgresql://guarded_here@127.0.0.1:1/guarded_here?password={quote(PASSWORD, safe='')}",
        f"mysql://guarded_here:{quote(PASSWORD, safe='')}@host/db",
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
