"""A database or a server that is away for a while: nothing is lost, doubled, or hangs."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from standout import Client, Problem
from standout.errors import StorageError, UnavailableError, UncertainError
from standout.retries import Patience
from standout.study import Study
from standout.study.storage.store import open_store
from tests.patience import HANGS, until
from tests.service.conftest import ARMS, Connect, begin
from tests.service.live import program, serving
from tests.service.proxy import Proxy, proxy
from tests.study.postgres import Server

T = TypeVar("T")

_numbers = itertools.count()


@pytest.fixture
def line(server: Server) -> Iterator[Proxy]:
    """What stands between a program and PostgreSQL."""
    with proxy(server.port) as made:
        yield made


@pytest.fixture
def away(server: Server, line: Proxy) -> str:
    """The address of a new database, as seen through the proxy."""
    url = server.new_database(f"outage_{os.getpid()}_{next(_numbers)}")
    return url.replace(f":{server.port}/", f":{line.port}/")


def get(port: int, path: str) -> tuple[int, dict[str, Any], dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), dict(answer.getheaders())
    finally:
        connection.close()


# Waiting --------------------------------------------------------------------------


class Flaky:
    """Fails so many times, then works."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times, self.error = times, error

    def __call__(self) -> str:
        self.times -= 1
        if self.times >= 0:
            raise self.error
        return "done"


def test_patience_says_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standout.retries.QUIET", 0.0)
    said: list[str] = []
    patience = Patience(30.0, said.append)
    assert patience.call(Flaky(6, UnavailableError("the sea is rough"))) == "done"
    assert [text[:7] for text in said] == ["waiting", "back af"]
    assert "the sea is rough" in said[0]
    assert patience.call(Flaky(1, UnavailableError("again"))) == "done"
    assert len(said) == 4


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnavailableError, match="rough"):
        Patience(0.2).call(Flaky(1000, UnavailableError("the sea is rough")))
    with pytest.raises(UnavailableError):
        Patience(5.0).call(Flaky(1, UnavailableError("come back in an hour", wait=3600)))
    with pytest.raises(StorageError):
        Patience(5.0).call(Flaky(1, StorageError("damaged")))
    once = Flaky(1, UnavailableError("lost"))
    with pytest.raises(UnavailableError):
        Patience(5.0).call(once, lambda error: False)
    assert once.times == 0


def test_a_short_blip_is_not_worth_a_word() -> None:
    said: list[str] = []
    assert Patience(30.0, said.append).call(Flaky(2, UnavailableError("blip"))) == "done"
    assert said == []


def test_a_minute_is_waited_for_unless_told_otherwise() -> None:
    """As a restart of a server or a database may take."""
    from standout.driver.worker import PATIENCE

    with Client("http://127.0.0.1:9") as client:
        assert client._transport._patience.seconds > 60
    assert PATIENCE > 60


# The database is away -------------------------------------------------------------


def test_every_request_gets_503_and_when_to_come_back(
    connect: Connect, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the tokens are read first, before any route."""
    client = connect(file)
    path = begin(client)
    shelf = client.app.state.service.studies  # type: ignore[attr-defined]

    def gone(*_: object) -> Any:
        raise UnavailableError("the database is away")

    for name in ("keys", "writer", "reader", "ping"):
        monkeypatch.setattr(shelf, name, gone)
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    calls = (
        lambda: client.post(f"{path}/ask", json={"n": 1}),
        lambda: client.post(f"{path}/tell", json={"rewards": [{"arm": "ash", "reward": 1}]}),
        lambda: client.get(path),
        lambda: client.get("/api/v1/health"),
    )
    for call in calls:
        answer = call()
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) >= 1
    assert client.get("/api/v1/health").json()["database"] == "not answering"


def answer_until(stop: threading.Event, study: Any, done: Counter[int]) -> None:
    while not stop.is_set():
        tickets = study.ask(2)
        study.tell_many([(ticket, 0.5) for ticket in tickets])
        done.update(ticket.id for ticket in tickets)


def check_log(place: str, done: Counter[int]) -> None:
    with Study.open(place) as study:
        assert study.verify().problems == ()
        times = Counter(study.history()["ticket"].tolist())
    assert [ticket for ticket in done if times[ticket] != 1] == []
    assert max(times.values()) == 1


@pytest.mark.parametrize("kind", ["client", "study"])
def test_workers_outlast_an_outage(away: str, line: Proxy, kind: str) -> None:
    """Cut off in the middle of whatever it does, a worker waits, says so once, and goes on."""
    problem = Problem(noise="gaussian:30", k=2)
    Study.create(away, ARMS, problem).close()
    stop, done, said = threading.Event(), Counter[int](), list[str]()
    failed: list[BaseException] = []
    patience = Patience(2 * HANGS, said.append)

    def surely(call: Callable[[], T]) -> T:
        """Cut amid a commit: a ticket counts once, and one that nobody has comes back."""
        try:
            return call()
        except UncertainError as error:
            raise UnavailableError(str(error)) from None

    def work(url: str) -> None:
        try:
            if kind == "client":
                with Client(url, patience=2 * HANGS, say=said.append) as client:
                    answer_until(stop, client.study("main"), done)
                return
            with Study.open(away) as study:
                while not stop.is_set():
                    tickets = patience.call(lambda: surely(lambda: study.ask(2)))
                    pairs = [(ticket, 0.5) for ticket in tickets]
                    patience.call(lambda pairs=pairs: surely(lambda: study.tell_many(pairs)))  # type: ignore[misc]
                    done.update(ticket.id for ticket in tickets)
        except BaseException as error:
            failed.append(error)

    with serving(away) as url:
        thread = threading.Thread(target=work, args=(url,))
        thread.start()
        for number in range(2):
            enough = done.total() + 10
            until(lambda enough=enough: done.total() > enough or failed, "no answers")
            line.cut()
            until(lambda n=number: len(said) > 2 * n or failed, "nothing was said")
            line.join()
            until(lambda n=number: len(said) > 2 * n + 1 or failed, "it did not come back")
        stop.set()
        thread.join(HANGS)
    assert failed == []
    assert [text.split()[0].rstrip(",") for text in said] == ["waiting", "back"] * 2
    check_log(away, done)


class Run:
    """`standout run` as a program that measures with a slow one."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._said = folder / "said"
        assay = ["--measure", "sh -c 'sleep 0.05; echo 1 # {arm}'"]
        code = "from standout.cli.main import main; main()"
        with self._said.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, "run", *words, *assay],
                stdout=subprocess.PIPE,
                stderr=err,
            )

    def said(self) -> str:
        return self._said.read_text()

    def has(self, word: str) -> bool:
        """Whether it has said so, or is over."""
        return word in self.said() or self.process.poll() is not None

    def end(self) -> bytes:
        """What it printed; it has waited and gone on."""
        out, _ = self.process.communicate(timeout=2 * HANGS)
        assert self.process.returncode == 0, self.said()
        pattern = r"standout: waiting, for 300 s at most: .*\nstandout: back after"
        assert re.search(pattern, self.said())
        assert "Traceback" not in self.said()
        return out


def pulls_of(place: str) -> int:
    try:
        with Study.open(place) as study:
            return study.status().pulls
    except StorageError:
        return 0


def test_a_run_outlasts_an_outage(folder: Path, away: str, line: Proxy) -> None:
    (folder / "arms.csv").write_text("arm\n" + "\n".join(ARMS) + "\n")
    arms = ("--arms", str(folder / "arms.csv"), "--noise", "gaussian:1", "--budget", "120")
    running = Run(folder, away, *arms)
    until(lambda: pulls_of(away) > 5, "no pulls")
    line.cut()
    until(lambda: running.has("waiting"), running.said)
    line.join()
    assert b"120 of 120 pulls" in running.end()
    with Study.open(away) as study:
        assert study.verify().problems == ()


def test_a_run_outlasts_the_server_that_it_measures_for(folder: Path, file: str) -> None:
    """One that is killed, and started again after a while."""
    Study.create(file, ARMS, Problem(noise="gaussian:1"), budget=120).close()
    with program(folder, file) as server:
        running = Run(folder, "--server", server.url, "--study", "main")
        until(lambda: pulls_of(file) > 5 or running.has("error"), running.said)
        server.kill()
        until(lambda: running.has("waiting"), running.said)
        server.start()
        assert b"120 of 120 pulls" in running.end()
    with Study.open(file) as study:
        assert (study.status().pulls, study.verify().problems) == (120, ())


# Silence --------------------------------------------------------------------------


def test_a_silent_database_is_given_up(away: str, line: Proxy) -> None:
    """Nothing is refused and nothing comes: the system itself would wait for ever."""
    Study.create(away, ARMS, Problem(noise="bernoulli")).close()
    with Study.open(away, patience=1.0) as study:
        study.ask(1)
        line.hush()
        late = threading.Timer(HANGS, line.speak)  # Else it would hang for ever, if it did.
        late.start()
        for call in (study.ask, study.status):
            with pytest.raises(UnavailableError, match=r"not answered for 6 s|timeout"):
                call()
        late.cancel()
        line.speak()
        assert study.tell(arm=ARMS[0], reward=1).counted == 1


def test_long_reading_is_not_given_up(away: str) -> None:
    with closing(open_store(away, create=True, patience=0.1)) as store:
        with store.read(is_long=True) as session:
            session.run("SELECT pg_sleep(1.5)")
        with pytest.raises(UnavailableError, match="timeout"), store.read() as session:
            session.run("SELECT pg_sleep(1.5)")


def ask(port: int, path: str) -> Future[tuple[int, bytes]]:
    """A request, and what will be answered."""

    def send() -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS)
        headers = {"Content-Type": "application/json"}
        try:
            connection.request("POST", path, json.dumps({"n": 1}), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, repr(error).encode()
        finally:
            connection.close()

    answered: Future[tuple[int, bytes]] = Future()
    threading.Thread(target=lambda: answered.set_result(send()), daemon=True).start()
    return answered


ENDLESS = "import standout.service.open_studies as o; o.PATIENCE = o.PING_PATIENCE = 1e5"
"""Lets the server wait for a database for longer than a test takes: what ends, ends by itself."""


def test_health_and_the_end_behind_a_silent_database(folder: Path, away: str, line: Proxy) -> None:
    Study.create(away, ARMS, Problem(noise="bernoulli")).close()
    with program(folder, away, before=ENDLESS) as running:
        assert get(running.port, "/api/v1/health")[1]["database"] == "ok"
        line.hush()
        for _ in range(12):  # More than there are threads for looking.
            ask(running.port, "/api/v1/studies/main/ask")
        for _ in range(3):
            status, said, headers = get(running.port, "/api/v1/health")
            assert (status, said["database"]) == (503, "not answering")
            assert headers["retry-after"] == "2"
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(HANGS) in (143, 0)


def test_the_end_behind_a_lock(folder: Path) -> None:
    place = str(folder / "study.db")
    Study.create(place, ARMS, Problem(noise="bernoulli")).close()
    with program(folder, place, before=ENDLESS) as running:
        holder = sqlite3.connect(place, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        waiting = ask(running.port, "/api/v1/studies/main/ask")
        until(lambda: get(running.port, "/api/v1/health")[0] == 200, "no health")
        time.sleep(0.5)
        running.process.send_signal(signal.SIGTERM)
        # It was 500, on which a worker ends; this one comes back for.
        status, content = waiting.result(HANGS)
        assert (status, json.loads(content)["error"]["code"]) == (503, "uncertain")
        assert running.process.wait(HANGS) in (143, 0)
        holder.close()


# The file is moved ----------------------------------------------------------------


def test_a_server_of_which_the_file_is_moved(client: Any, file: str, folder: Path) -> None:
    path = begin(client)
    reward = {"rewards": [{"arm": "ash", "reward": 0.5}]}
    assert client.post(f"{path}/tell", json=reward).status_code == 200
    os.rename(file, folder / "away.db")
    for _ in range(2):
        assert client.post(f"{path}/tell", json=reward).status_code == 503
        client.app.state.service.gate.forget()  # As after a while: tokens are read again.
    assert client.get(path).status_code == 503
    assert not os.path.exists(file)  # It does not begin another.
    os.rename(folder / "away.db", file)
    assert client.post(f"{path}/tell", json=reward).json()["counted"] == 1
    assert client.get(path).json()["pulls"] == 2


def test_a_server_goes_on_with_the_file_that_was_put_in_place(
    client: Any, file: str, folder: Path
) -> None:
    from standout.study import backup

    path = begin(client)
    backup(file, folder / "copy.db")
    reward = {"rewards": [{"arm": "ash", "reward": 0.5}]}
    assert client.post(f"{path}/tell", json=reward).status_code == 200
    for ending in ("-wal", "-shm"):
        os.unlink(f"{file}{ending}")
    os.replace(folder / "copy.db", file)
    for _ in range(3):
        if client.get(path).status_code == 200:
            break
    assert client.get(path).json()["pulls"] == 0
    assert client.post(f"{path}/tell", json=reward).json()["counted"] == 1
    assert client.get(path).json()["pulls"] == 1
