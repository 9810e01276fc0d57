"""Where locks and sockets are: a folder of this user alone, or none."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from standout.errors import StudyError
from standout.study import Study
from standout.study.inbox import lock
from standout.study.inbox import private_folder as folders
from standout.study.inbox.lock import Inbox
from standout.study.inbox.private_folder import is_private, private_folder
from tests.study.inbox.leader import ARMS, PROBLEM, make, want
from tests.study.postgres import Server
from tests.study.processes import as_nobody


def test_it_is_made_for_its_user_alone(runtime: Path) -> None:
    before = os.umask(0)
    try:
        assert private_folder() == runtime
    finally:
        os.umask(before)
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700


@pytest.fixture
def elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The second place that is tried."""
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder / f"standout-{os.geteuid()}"


def test_what_others_may_enter_is_not_used(runtime: Path, elsewhere: Path) -> None:
    runtime.mkdir(mode=0o700)
    for mode in (0o755, 0o770, 0o701):
        runtime.chmod(mode)
        assert private_folder() == elsewhere
    elsewhere.chmod(0o777)
    assert private_folder() is None
    assert Inbox.of("some study") is None


def test_what_another_user_made_is_not_used(
    runtime: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.mkdir(mode=0o700)
    assert is_private(runtime)
    if os.geteuid() == 0:
        os.chown(runtime, 12345, 12345)
    else:
        monkeypatch.setattr(folders.os, "geteuid", lambda: 12345)
    assert not is_private(runtime)
    assert private_folder() != runtime


def test_what_is_no_folder_is_not_used(runtime: Path, elsewhere: Path) -> None:
    target = runtime.with_name("target")
    target.mkdir(mode=0o700)
    runtime.symlink_to(target)
    elsewhere.write_text("a file")
    assert private_folder() is None


def test_a_folder_that_cannot_be_written_to(runtime: Path, elsewhere: Path, folder: Path) -> None:
    """Then everybody takes the database's lock."""
    folder.chmod(0o755)

    def look() -> None:
        os.environ["XDG_RUNTIME_DIR"] = str(folder / "not there")
        assert private_folder() is None

    as_nobody(look)


def test_a_study_without_an_inbox(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "private_folder", lambda: None)
    with make(place) as study:
        assert study._find_inbox() is None
        assert study.verify().problems == ()


def test_a_full_disk_where_the_lock_should_be(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Inbox) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Inbox, "_open", refuse)
    with make(place) as study:
        assert study.status().pulls == 4 * len(ARMS)


def test_a_socket_that_cannot_be_made(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(place) as study:
        want(study)
        monkeypatch.setattr(lock.Turn, "_listen", lambda *_: (_ for _ in ()).throw(OSError(24)))
        assert study.tell(arm="ash", reward=1.0).counted == 1


def test_names_are_short_and_tell_nothing(runtime: Path) -> None:
    long = Inbox.of("x" * 5000)
    assert long is not None
    assert len(long._lock.name) < 40
    assert long._lock.name != Inbox(runtime, "x" * 4999)._lock.name


def test_an_address_that_is_too_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = folder / ("d" * 80)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    assert Inbox.of("a study") is None


def test_nothing_is_left_behind(place: str, runtime: Path) -> None:
    study = make(place)
    assert [path.suffix for path in runtime.iterdir()] == [".lock"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in runtime.iterdir())
    study.close()
    assert list(runtime.iterdir()) == []
    with study:
        study.ask()
    assert list(runtime.iterdir()) == []


def test_a_dead_one_leaves_a_socket_behind(place: str) -> None:
    study = make(place)
    inbox = study._find_inbox()
    assert inbox is not None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(inbox._place))
    want(study)
    assert study.tell(arm="ash", reward=1.0).counted == 1
    assert not inbox._place.exists()
    study.close()


def test_a_fork_has_a_lock_of_its_own(place: str) -> None:
    """A lock belongs to the open file, which a fork shares."""
    study = make(place)
    inbox = study._find_inbox()
    assert inbox is not None
    turn = inbox.take_turn()
    assert turn is not None
    with closing(turn):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = 0 if inbox.take_turn() is None else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    study.close()


def test_studies_have_inboxes_of_their_own(place: str, folder: Path) -> None:
    first = make(place)
    second = Study.create(place, ARMS, PROBLEM, name="second")
    third = Study.create(folder / "third.db", ARMS, PROBLEM)
    again = Study.open(place, "main")
    inboxes = [study._find_inbox() for study in (first, second, third, again)]
    names = [inbox._lock.name for inbox in inboxes if inbox is not None]
    assert len(names) == 4
    assert len(set(names)) == 3
    assert names[0] == names[3]
    for study in (first, second, third, again):
        study.close()


def test_roles_of_a_database_have_inboxes_of_their_own(server: Server) -> None:
    """One may be allowed what the other is not."""
    url = server.new_database("roles")
    server.run("CREATE ROLE somebody LOGIN SUPERUSER")
    with (
        make(url) as study,
        Study.open(url) as again,
        Study.open(url.replace("postgres@", "somebody@")) as other,
    ):
        names = [one._storage.identity(1) for one in (study, again, other)]
        assert names[0] == names[1] != names[2]
        assert other.tell(arm="ash", reward=1.0).counted == 1


def test_who_may_only_read_or_has_a_clock_of_its_own_goes_alone(folder: Path) -> None:
    with Study.create(folder / "study.db", ARMS, PROBLEM, clock=lambda: 1e6) as study:
        assert study._find_inbox() is None
        study.ask()
    (folder / "study.db").chmod(0o444)
    folder.chmod(0o755)

    def look() -> None:
        with Study.open(folder / "study.db") as frozen:
            assert frozen._find_inbox() is None
            with pytest.raises(StudyError, match="read-only"):
                frozen.ask()

    as_nobody(look)
