"""Connections to PostgreSQL: those that nobody closes, and statements that are sent together."""

from __future__ import annotations

import gc
import itertools
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from standout import Problem
from standout.errors import UnavailableError, UncertainError
from standout.study import Study
from standout.study.storage.connection import Connection
from standout.study.storage.old_postgres import Watched, connect, writing
from standout.study.storage.statements import Statement, insert_into
from tests.patience import until
from tests.study.postgres import Server
from tests.study.test_conformance import ARMS


def test_a_forgotten_connection_ends_without_a_warning(server: Server) -> None:
    """Python may take it, of a cycle of garbage, before whoever would close it."""
    place = server.new_database("forgotten")
    cycle: list[object] = [Watched.connect(place)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    with psycopg.connect(place, autocommit=True) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        until(lambda: connection.execute(others).fetchone() == (1,), "the other has ended")


def test_the_system_gives_up_a_network_that_is_gone(server: Server) -> None:
    """Data that nobody acknowledges, and a connection on which nothing is sent."""
    place = server.new_database("gone")
    with (
        connect(psycopg.conninfo.conninfo_to_dict(place), 3.0) as raw,
        socket.socket(fileno=os.dup(raw.pgconn.socket)) as way,
    ):
        assert way.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 8000
        assert way.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        names = ("IDLE", "INTVL", "CNT")
        numbers = [getattr(socket, f"TCP_KEEP{name}") for name in names]
        idle, every, count = (way.getsockopt(socket.IPPROTO_TCP, number) for number in numbers)
        assert idle + every * count <= 30


CALLS: dict[str, tuple[Callable[[Study], object], tuple[int, int]]] = {
    "tell": (lambda study: study.tell(arm="ash", reward=1.0), (1, 0)),
    "tell many": (lambda study: study.tell_many([("ash", 1.0)] * 60), (60, 0)),
    "tell and ask": (lambda study: study.tell_and_ask([("elm", 1.0)], 2), (1, 2)),
    "ask": (lambda study: study.ask(2), (0, 2)),
}
"""Each with the pulls that it tells of and those that it takes."""


@pytest.mark.parametrize("name", CALLS)
def test_a_connection_that_breaks_at_any_exchange(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What is said then is true: done, maybe done, or not; and the next call works."""
    call, (told, taken) = CALLS[name]
    wait, left = Watched.wait, [0]

    def breaking(raw: Watched, gen: Any, *args: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            with socket.socket(fileno=os.dup(raw.pgconn.socket)) as way:
                way.shutdown(socket.SHUT_RDWR)
        return wait(raw, gen, *args, **options)

    monkeypatch.setattr(Watched, "wait", breaking)
    place = server.new_database(f"breaking_{len(name)}")
    problem = Problem(noise="gaussian:9", k=2)
    with Study.create(place, ARMS, problem, ordered=False) as study, Study.open(place) as other:

        def seen() -> tuple[int, int]:
            found = other.status()
            return found.pulls, found.pending

        for at in itertools.count(1):
            before = seen()
            after = (before[0] + told, before[1] + taken)
            left[0] = at
            try:
                call(study)
                expected = [after]
            except UncertainError:
                expected = [before, after]
            except UnavailableError:
                expected = [before]
            is_over, left[0] = left[0] > 0, 0
            assert seen() in expected, at
            with suppress(UnavailableError):  # It may have broken at the very end.
                study.status()
            if is_over:
                break
        assert at > 3
        assert expected == [after]
        assert other.verify().problems == ()


def test_rows_of_one_statement_are_sent_as_one(server: Server) -> None:
    """They come before what is said after them, and never before what was read."""
    place = server.new_database("grouped")
    raw = connect(psycopg.conninfo.conninfo_to_dict(place), 10.0)
    connection = Connection(raw, is_sqlite=False)
    connection.execute("CREATE TABLE t (id bigint PRIMARY KEY, value float8, note text)")
    raw.commit()
    add, read = insert_into("t", ("id", "value", "note")), Statement("SELECT id FROM t ORDER BY id")
    change = Statement("UPDATE t SET note = ? WHERE id = ?")
    sent: list[list[str]] = []
    exchange = raw.exchange
    raw.exchange = lambda calls, wanted: (  # type: ignore[method-assign]
        sent.append([text.split()[0] for text, _ in calls]) or exchange(calls, wanted)
    )
    with writing(connection, is_small=True) as commit:
        for number in (1, 2):
            add.run(connection, number, 0.5, None)
        assert read(connection) == [(1,), (2,)]
        add.many(connection, [(number, None, "x") for number in (3, 4)])
        change.run(connection, "changed", 4)
        add.run(connection, 5, 1.0, "y")
        commit()
    assert sent == [["BEGIN", "INSERT", "SELECT"], ["INSERT", "UPDATE", "COMMIT"]]
    found = raw.execute("SELECT * FROM t ORDER BY id").fetchall()
    raw.commit()
    assert found == [
        (1, 0.5, None), (2, 0.5, None), (3, None, "x"), (4, None, "changed"), (5, 1.0, "y"),
    ]  # fmt: skip
    many = 1000
    with writing(connection, is_small=True) as commit:
        add.many(connection, [(10 + number, 0.0, None) for number in range(many)])
        commit()
    assert raw.execute("SELECT count(*) FROM t").fetchone() == (5 + many,)
    raw.close()
