"""`standout serve` as a program: killed, and what it prints."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from standout import Client
from standout.errors import StandoutError
from standout.service import server as server_module
from standout.service.server import open_socket
from standout.study import Study
from tests.patience import HANGS, until
from tests.service.conftest import ARMS, new_token
from tests.service.live import Program, program
from tests.study.cli import standout
from tests.study.postgres import PASSWORD, Server


def reward_of(ticket: int) -> float:
    return (ticket * 7919 % 1000) / 1000


def answer_until(stop: threading.Event, url: str, done: Counter[int], errors: list[str]) -> None:
    """Answer until told to stop; note what was acknowledged."""
    study = Client(url, patience=HANGS).study("trees")
    try:
        tickets = study.ask(1, lease=300.0)
        while not stop.is_set():
            pairs = [(ticket, reward_of(ticket.id)) for ticket in tickets]
            _, following = study.tell_and_ask(pairs, 1, lease=300.0)
            done.update(ticket.id for ticket in tickets)
            tickets = following
    except StandoutError as error:
        errors.append(repr(error))
    finally:
        study.close()


def check(place: str, done: Counter[int]) -> None:
    """Every acknowledged answer is there exactly once."""
    with Study.open(place, "trees") as study:
        assert study.verify().problems == ()
        history = study.history()
        times = Counter(history["ticket"].tolist())
    assert max(times.values()) == 1
    assert [ticket for ticket in done if times[ticket] != 1] == []
    assert max(done.values()) == 1
    for ticket, value in zip(history["ticket"].tolist(), history["reward"].tolist(), strict=True):
        assert value == reward_of(ticket)


def run_clients(running: Program, count: int, kills: int, answers: int) -> Counter[int]:
    """Clients that answer while the server is killed, each time after some more `answers`."""
    stop, errors = threading.Event(), list[str]()
    parts = [Counter[int]() for _ in range(count)]
    threads = [
        threading.Thread(target=answer_until, args=(stop, running.url, part, errors))
        for part in parts
    ]
    for thread in threads:
        thread.start()

    def wait_for_more() -> None:
        enough = sum(map(len, parts)) + answers
        until(lambda: errors or sum(map(len, parts)) >= enough, "the clients do not go on")

    rng = random.Random(5)
    for _ in range(kills):
        wait_for_more()
        time.sleep(rng.uniform(0.0, 0.1))
        running.kill()
        running.start()
    wait_for_more()
    stop.set()
    for thread in threads:
        thread.join(HANGS)
    assert errors == []
    return sum(parts, Counter[int]())


def begin(url: str) -> None:
    with Client(url) as client:
        client.create("trees", ARMS, "gaussian:30", k=2.0)


def test_a_killed_server_loses_nothing_that_it_acknowledged(folder: Path) -> None:
    place = str(folder / "study.db")
    with program(folder, place) as running:
        begin(running.url)
        done = run_clients(running, 4, kills=1, answers=40)
        assert f"dashboard: {running.url}/" in running.output
        assert "open to every user of this machine" in running.output
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(HANGS) == 0
    check(place, done)
    assert done.total() > 50


def test_no_token_and_no_password_is_shown(folder: Path, server: Server) -> None:
    """Neither in what is printed, nor in the list of processes."""
    name = f"guarded_{os.getpid()}"
    server.new_database(name)
    server.run(f"CREATE USER guarded PASSWORD '{PASSWORD}'" if not has_user(server) else "SELECT 1")
    server.run(f'GRANT ALL ON DATABASE "{name}" TO guarded')
    server.run("GRANT ALL ON SCHEMA public TO guarded", name)
    secret = PASSWORD.replace("/", "%2F").replace("@", "%40")
    address = server.url(name, "guarded", secret)
    token = new_token(address, "owner")
    with program(folder, "env:PLACE", PLACE=address) as running:
        with Client(running.url, token) as client:
            client.create("trees", ARMS, "bernoulli").ask(1)
            assert [row.name for row in client.studies()] == ["trees"]
        with (
            Client(running.url, token[:-1] + "-") as stranger,
            pytest.raises(StandoutError, match="not valid here"),
        ):
            stranger.studies()
        assert "guarded" not in Path(f"/proc/{running.process.pid}/cmdline").read_text()
        running.stop()
        said = running.output
    assert "POST /api/v1/studies 201" in said
    assert "postgresql://guarded:***@" in said
    for hidden in (PASSWORD, secret, token, token[-20:]):
        assert hidden not in said


def has_user(server: Server) -> bool:
    import psycopg

    with psycopg.connect(server.url()) as connection:
        rows = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'guarded'").fetchall()
    return bool(rows)


def test_an_address_that_is_just_let_go_of_is_waited_for() -> None:
    """A server that was killed may be there a moment longer than its service manager thinks."""
    first = open_socket("127.0.0.1", 0)
    port = first.getsockname()[1]
    leaving = threading.Timer(0.2, first.close)
    leaving.start()
    with open_socket("127.0.0.1", port) as second:
        assert second.getsockname()[1] == port
    leaving.join()


def test_what_serve_refuses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "x.db"
    missing = standout("serve", place)
    assert (missing.code, "does not exist" in missing.err) == (2, True)
    assert not Path(place).exists()
    beyond = standout("serve", place, "--new", "--host", "0.0.0.0")
    assert (beyond.code, "standout token create PATH --role owner" in beyond.err) == (2, True)
    assert standout("serve").code == 2
    assert "no log level" in standout("serve", place, "--log-level", "loud").err
    assert "contains a password" in standout("serve", "postgresql://u:p@localhost/x").err
    monkeypatch.setattr(server_module, "RELEASE", 0.0)
    with open_socket("127.0.0.1", 0) as listener:
        taken = standout("serve", place, "--new", "--port", listener.getsockname()[1])
        assert (taken.code, "cannot listen at 127.0.0.1" in taken.err) == (2, True)


def test_tokens_on_the_command_line(place: str) -> None:
    assert (
        "no study 'trees'"
        in standout("token", "create", place, "--role", "rater", "--study", "trees").err
    )
    made = standout("token", "create", place, "--role", "owner", "--label", "me")
    token = made.out.strip()
    assert token.startswith("standout_")
    assert "not shown again" in made.err
    other = standout("token", "create", place, "--role", "viewer", "--json").json
    assert (other["role"], other["study"], other["token"] != token) == ("viewer", None, True)
    listed = standout("token", "list", place)
    assert token not in listed.out
    assert len(listed.out.splitlines()) == 2
    assert "me" in listed.out.splitlines()[0]
    assert standout("token", "revoke", place, other["id"]).code == 0
    rows = standout("token", "list", place, "--json").json["tokens"]
    assert [row["revoked"] is None for row in rows] == [True, False]
    when = {"created", "expires", "made_by", "revoked", "revoked_by"}
    assert set(rows[0]) == {"id", "role", "study", "label"} | when
    assert "revoked" in standout("token", "list", place).out.splitlines()[1]
    assert standout("token", "revoke", place, "nothing").code == 2
    assert standout("token", "create", place, "--role", "king").code == 2


def test_help_loads_no_server() -> None:
    code = (
        "import sys; from standout.cli.main import app\n"
        "try: app(['serve', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('fastapi', 'uvicorn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
