"""PostgreSQL connections that break, freeze, fall silent, or are never closed."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from standout.errors import StorageError, UnavailableError, UncertainError
from standout.study.storage import postgres
from standout.study.storage.postgres import Bounded
from standout.study.storage.store import Store, open_store
from tests.patience import until
from tests.service.proxy import Proxy, proxy
from tests.study.postgres import PASSWORD, Server
from tests.study.storage.stores import add, chain, last, make

_numbers = itertools.count(1)


@pytest.fixture
def url(server: Server) -> str:
    return server.new_database(f"storage_{os.getpid()}_{next(_numbers)}")


@pytest.fixture
def way(server: Server) -> Iterator[Proxy]:
    with proxy(server.port) as made:
        yield made


def test_a_forgotten_connection_ends_without_a_warning(url: str) -> None:
    """Python may take it, of a cycle of garbage, before whoever would close it."""
    cycle: list[object] = [Bounded.connect(url)]
    cycle.append(cycle)
    make(url).ping()
    del cycle
    gc.collect()
    with psycopg.connect(url, autocommit=True) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        until(lambda: connection.execute(others).fetchone() == (1,), "the others have ended")


def test_the_system_gives_up_a_network_that_is_gone(url: str) -> None:
    """Data that nobody acknowledges, and a connection on which nothing is sent."""
    store = make(url, patience=3.0)
    assert store._raw is not None
    with socket.socket(fileno=os.dup(store._raw.pgconn.socket)) as way:
        assert way.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 8000
        assert way.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        numbers = [getattr(socket, f"TCP_KEEP{name}") for name in ("IDLE", "INTVL", "CNT")]
        idle, every, count = (way.getsockopt(socket.IPPROTO_TCP, number) for number in numbers)
        assert idle + every * count <= 30
    store.close()


def test_what_the_server_is_told(url: str) -> None:
    store = make(url, patience=7.0)
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    with store.write() as session:
        found = [session.run(f"SHOW {name}")[0][0] for name in (*names, "synchronous_commit")]
    assert found == ["7s", "8s", "20s", "on"]
    with store.write(is_long=True) as session:
        found = [session.run(f"SHOW {name}")[0][0] for name in names]
    assert found == ["7s", "1h", "1h"]
    store.close()


def test_a_log_is_written_when_a_transaction_ends(url: str) -> None:
    store = make(url)
    with psycopg.connect(url, autocommit=True) as looker:
        for _ in range(5):
            before = looker.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            add(store)
            (written,) = looker.execute(
                "SELECT pg_current_wal_flush_lsn() - %s::pg_lsn", before
            ).fetchone() or (0,)
            assert written > 200
    store.close()


# Breaking -------------------------------------------------------------------------


def test_a_connection_that_breaks_at_any_exchange(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said then is true: done, maybe done, or not; and the next call works."""
    store, other = make(url), open_store(url)
    wait, left = Bounded.wait, [0]

    def breaking(raw: Bounded, gen: Any, *args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            with socket.socket(fileno=os.dup(raw.pgconn.socket)) as way:
                way.shutdown(socket.SHUT_RDWR)
        return wait(raw, gen, *args, **options)

    monkeypatch.setattr(Bounded, "wait", breaking)
    said = set()
    for at in itertools.count(1):
        before = last(other)
        left[0] = at
        try:
            add(store)
            expected = {before + 1}
        except UncertainError:
            expected = {before, before + 1}
        except UnavailableError:
            expected = {before}
        is_over, left[0] = left[0] > 0, 0
        said.add(len(expected))
        assert last(other) in expected, at
        if is_over:
            break
    assert at > 4
    assert expected == {before + 1}
    assert said == {1, 2}
    store.close()
    other.close()


def end_all(url: str) -> None:
    """As an administrator ends the sessions of all others, or a restart does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_session_that_the_server_ends(url: str) -> None:
    store = make(url)

    def end_amid() -> None:
        with store.write() as session:
            session.append(1, chain(1, first=60))
            end_all(url)

    with pytest.raises(UncertainError, match="may have been done or not"):
        end_amid()
    assert last(store) == 59
    end_all(url)  # Between transactions there is nothing to say.
    assert add(store) == 60
    store.close()


# Silence --------------------------------------------------------------------------


def test_a_server_that_falls_silent(way: Proxy, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "MARGIN", 0.2)
    far = url.rpartition("@")[0] + f"@127.0.0.1:{way.port}/" + url.rpartition("/")[2]
    store = make(far, patience=0.3)
    way.hush()
    with pytest.raises(UnavailableError, match=r"has not answered for 0\.5 s") as caught:
        last(store)
    assert caught.value.has_waited
    way.speak()
    assert last(store) == 59

    def commit_in_silence() -> None:
        with store.write() as session:
            session.append(1, chain(61)[60:])
            way.hush()

    with pytest.raises(UncertainError, match="has not answered"):
        commit_in_silence()
    way.speak()
    assert last(store) in (59, 60)
    store.close()


FROZEN = """
import sys, time
from standout.study.storage import postgres
from standout.study.storage.store import open_store

postgres.IDLE = 1.0
store = open_store(sys.argv[1])
try:
    with store.write() as session:
        session.lock(1)
        print("locked", flush=True)
        sys.stdin.readline()
except Exception as error:
    print(type(error).__name__, error)
store.ping()
"""


def test_a_frozen_program_keeps_a_study_locked_for_a_short_while(url: str) -> None:
    """It is told what happened when it goes on, and then works again."""
    store = make(url, patience=60.0)
    frozen = subprocess.Popen(
        [sys.executable, "-c", FROZEN, url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert frozen.stdout is not None
    assert frozen.stdout.readline() == "locked\n"
    frozen.send_signal(signal.SIGSTOP)
    add(store)
    assert last(store) == 60
    frozen.send_signal(signal.SIGCONT)
    said, _ = frozen.communicate("\n")
    assert said.startswith("UnavailableError")
    assert "nothing was changed" in said
    assert frozen.returncode == 0
    store.close()


def test_times_go_up_with_numbers(url: str) -> None:
    """Whoever waited for a lock has the time at which it came."""
    store, other = make(url), open_store(url)
    with other.write() as session:
        begun = session.now
        with store.write() as elsewhere:
            elsewhere.lock(1)
            time.sleep(0.01)
            later = elsewhere.now
        session.lock(1)
        assert begun < later < session.now
    store.close()
    other.close()


# Addresses ------------------------------------------------------------------------


def test_a_password_is_never_shown(server: Server) -> None:
    server.run(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
    url = server.new_database("guarded_place")
    escaped = PASSWORD.replace("/", "%2F").replace("@", "%40")
    right = url.replace("postgres@", f"guarded:{escaped}@")
    store = make(right)
    assert last(store) == 59
    assert PASSWORD not in store.shown
    assert escaped not in store.shown
    assert "***" in store.shown
    store.close()
    wrong = right.replace(escaped, "wr0ng-" + escaped)
    with pytest.raises(StorageError) as caught:
        open_store(wrong)
    assert "wr0ng" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_server(server: Server) -> None:
    with pytest.raises(UnavailableError):
        open_store("postgresql://postgres@127.0.0.1:1/x", patience=2.0)
    with pytest.raises(StorageError, match="does not exist"):
        open_store(server.url("no_such_database"), create=True)


def test_two_create_at_once(url: str) -> None:
    found: list[Store] = []

    def create() -> None:
        found.append(open_store(url, create=True))

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({store.identity for store in found}) == 1
    for store in found:
        store.close()
