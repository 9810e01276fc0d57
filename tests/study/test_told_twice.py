"""Every telling counts once: keys, files, and connections that break at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from standout.csv_files import fingerprint, read_results
from standout.errors import (
    KeyUsedError,
    StorageError,
    StudyError,
    UnavailableError,
    UncertainError,
)
from standout.study import Receipt, Study
from standout.study.storage.store import Store
from tests.study.cli import standout
from tests.study.conftest import Clock
from tests.study.cut import cutting
from tests.study.postgres import Server
from tests.study.test_conformance import ARMS, make


def test_the_same_key_counts_once(place: str, clock: Clock) -> None:
    study = make(place, clock=clock)
    pairs = [("ash", 0.5), ("ash", 0.5), ("elm", -0.0)]
    first = study.tell_many(pairs, key="plate 1")
    assert first == Receipt(counted=3)
    clock.now += 5
    again = study.tell_many([("ash", 0.5), ("ash", 0.5), ("elm", 0.0)], key="plate 1")
    assert again == Receipt(counted=3, again=True, time=1_000_000.0)
    with Study.open(place) as other:
        assert other.tell_many(pairs, key="plate 1").again
        for changed in (pairs[:2], [*pairs, ("fir", 1.0)], [("ash", 0.5), ("elm", 0.0)] * 2):
            with pytest.raises(KeyUsedError, match="nothing was changed"):
                other.tell_many(changed, key="plate 1")
    assert study.tell_many(pairs).counted == 3
    assert study.tell_many(pairs, key="plate 2") == Receipt(counted=3)
    assert study.status().pulls == 9
    assert study.verify().problems == ()


@pytest.mark.parametrize("key", ["", "x" * 201, "two\nlines", "nul \x00", 7, b"bytes"])
def test_keys_that_are_none(place: str, key: str) -> None:
    study = make(place)
    with pytest.raises(StudyError, match="a key must be a text"):
        study.tell(arm="ash", reward=1.0, key=key)
    assert study.status().pulls == 0


def test_two_at_once_with_one_key(place: str) -> None:
    make(place).close()
    receipts: list[Receipt] = []

    def tell() -> None:
        with Study.open(place) as study:
            receipts.append(study.tell_many([(arm, 0.5) for arm in ARMS], key="once"))

    threads = [threading.Thread(target=tell) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(receipt.again for receipt in receipts) == [False] + [True] * 5
    assert {receipt.counted for receipt in receipts} == {5}
    with Study.open(place) as study:
        assert study.status().pulls == 5
        assert study.verify().problems == ()


def test_a_ticket_needs_no_key(place: str) -> None:
    with make(place) as study:
        study.tell(study.ask(), 1.0)
        study.tell(arm="ash", reward=1.0)
        with study._store.read() as session:
            has_key = [event.key is not None for event in session.events(study._key)]
    assert has_key == [False, False, False, True]


def test_keys_belong_to_their_study(place: str) -> None:
    one, two = make(place, name="one"), make(place, name="two")
    one.tell(arm="ash", reward=1.0, key="k")
    assert not two.tell(arm="elm", reward=2.0, key="k").again


def test_a_file_is_told_once(place: str, folder: Path) -> None:
    make(place).close()
    path = folder / "results.csv"
    path.write_text("arm,reward\nash,0.5\nelm,1\nash,0.5\n")
    assert standout("study", "tell", place, path).out == "3 counted\n"
    refused = standout("study", "tell", place, path)
    assert refused.code == 2
    assert "3 rewards were recorded before on 20" in refused.err
    assert "--again" in refused.err
    # The same rows are the same, however they are written.
    path.write_text('reward,arm\n5e-1,ash\n\n0.50,"ash"\n1.0,elm\n')
    assert standout("study", "tell", place, path).code == 2
    assert standout("study", "status", place, "--json").json["pulls"] == 3
    assert standout("study", "tell", place, path, "--again").out == "3 counted\n"
    assert standout("study", "tell", place, path, "--again", "--json").json["counted"] == 3
    path.write_text("arm,reward\nash,0.5\nelm,1\n")
    assert standout("study", "tell", place, path).out == "2 counted\n"
    assert standout("study", "status", place, "--json").json["pulls"] == 11


def test_a_file_of_tickets_may_be_told_twice(place: str, folder: Path) -> None:
    with make(place) as study:
        study.ask(2)
    path = folder / "results.csv"
    path.write_text("ticket,reward\n1,0.5\n2,1\n")
    assert standout("study", "tell", place, path).out == "2 counted\n"
    assert standout("study", "tell", place, path).out == "0 counted, 2 recorded before\n"


def test_keys_on_the_command_line(place: str, folder: Path) -> None:
    make(place).close()
    words = ("study", "tell", place, "--arm", "ash", "--value", 1, "--key", "day 1")
    assert standout(*words).out == "1 counted\n"
    assert standout(*words).out == "recorded before with this key, not again, 1 counted\n"
    assert standout(*words, "--json").json["again"] is True
    other = standout("study", "tell", place, "--arm", "ash", "--value", 2, "--key", "day 1")
    assert (other.code, "to tell 1 other" in other.err) == (2, True)
    assert standout(*words, "--again").code == 2
    path = folder / "results.csv"
    path.write_text("arm,reward\nash,0.5\n")
    assert standout("study", "tell", place, path, "--key", "day 2").out == "1 counted\n"
    assert "not again" in standout("study", "tell", place, path, "--key", "day 2").out
    assert standout("study", "status", place, "--json").json["pulls"] == 2


def test_fingerprints() -> None:
    def print_of(text: str) -> str:
        return fingerprint(read_results(text, "x"))

    base = print_of("arm,reward\na,1\nb,2\n")
    assert print_of("reward,arm\n2.0,b\n1,a\n") == base
    for other in ("a,1\nb,3\n", "a,2\nb,1\n", "a,1\nb,2\nb,2\n", "a,1\n", "a,-1\nb,2\n"):
        assert print_of("arm,reward\n" + other) != base
    assert print_of("ticket,reward\n1,1\n") != print_of("arm,reward\n1,1\n")
    assert print_of("ticket,arm,reward\n1,a,1\n") == print_of("ticket,reward\n1,1\n")
    assert print_of("arm,reward\na,-0\n") == print_of("arm,reward\na,0\n")


# A PostgreSQL connection that breaks at COMMIT ---------------------------------------


def test_a_connection_that_breaks_after_the_commit(server: Server) -> None:
    """The backend is ended when it has committed, before anybody hears of it."""
    url = server.new_database("cut_after")
    make(url).close()
    with cutting(url) as way, Study.open(way.url) as study:
        for number in range(3):
            way.is_armed = True
            receipt = study.tell(arm="ash", reward=float(number))
            assert (receipt.counted, receipt.again, way.cuts) == (1, False, number + 1)
        way.is_armed = True
        receipt, tickets = study.tell_and_ask([("elm", 1.0)], 2)
        assert (receipt.counted, receipt.again, len(tickets)) == (1, False, 2)
        # Many rewards go another way to the database.
        way.is_armed = True
        assert study.tell_many([(arm, 0.5) for arm in ARMS * 40]).counted == 200
        assert way.cuts == 5
        status = study.status()
        assert (status.pulls, status.pending) == (204, 2)
        assert study.verify().problems == ()


def test_a_connection_that_breaks_before_the_commit(server: Server) -> None:
    url = server.new_database("cut_before")
    make(url).close()
    with cutting(url) as way, Study.open(way.url) as study:
        way.before = way.is_armed = True
        receipt = study.tell(arm="ash", reward=1.0)
        assert (receipt.counted, receipt.again, way.cuts) == (1, False, 1)
        assert study.status().pulls == 1


def test_what_cannot_be_known_is_said_with_the_key(server: Server) -> None:
    url = server.new_database("cut_for_good")
    make(url).close()
    with cutting(url) as way, Study.open(way.url) as study:
        way.is_armed = True
        way.refuses = True
        with pytest.raises(UncertainError, match=r"may have been done.*same key is safe") as caught:
            study.tell(arm="ash", reward=1.0)
        with pytest.raises(UnavailableError, match="nothing was changed"):
            study.tell(arm="ash", reward=2.0)
        way.refuses = False
        assert study.tell(arm="ash", reward=1.0, key=caught.value.key).again
        assert study.status().pulls == 1


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("third", [None, UnavailableError("recovering"), UncertainError("broken")])
def test_a_second_break_at_the_commit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, third: StorageError | None, is_done: bool
) -> None:
    """The first try finds no connection, the second loses its own at the end of its commit."""
    errors = iter([UnavailableError("gone"), UncertainError("broken; may have been done"), third])
    whole = Store.write

    @contextmanager
    def breaking(store: Store, **how: Any) -> Iterator[Any]:
        error = next(errors, None)
        if error is None or (is_done and isinstance(error, UncertainError)):
            with whole(store, **how) as session:
                yield session
        elif isinstance(error, UncertainError):
            with suppress(ZeroDivisionError), whole(store, **how) as session:
                yield session
                raise ZeroDivisionError
        if error is not None:
            raise error

    with make(str(folder / "x.db")) as study:
        study.status()
        monkeypatch.setattr(Store, "write", breaking)
        if third is None or is_done:
            assert study.tell(arm="ash", reward=1.0, key="plate 12") == Receipt(counted=1)
        else:
            with pytest.raises(UncertainError, match="may have been done") as caught:
                study.tell(arm="ash", reward=1.0, key="plate 12")
            assert caught.value.key == "plate 12"
        monkeypatch.undo()
        assert study.tell(arm="ash", reward=1.0, key="plate 12").counted == 1
        assert study.status().pulls == 1
        assert study.verify().problems == ()


def test_what_was_surely_not_done_says_so(server: Server) -> None:
    url = server.new_database("ended")
    with make(url) as study:
        study.ask(1)
        end = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'ended' AND pid <> pg_backend_pid()"
        )
        server.run(end)
        assert len(study.ask(1)) == 1  # A connection that was lost in between is replaced.
        server.run(end)
        assert study.tell(arm="ash", reward=1.0) == Receipt(counted=1)
        with pytest.raises(StorageError, match="nothing was changed"), study._store.write() as c:
            c.run("NONSENSE")
        assert study.verify().problems == ()
