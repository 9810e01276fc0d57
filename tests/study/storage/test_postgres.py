"""Connections to PostgreSQL: those that nobody closes, and statements that are sent together."""

from __future__ import annotations

import gc
import os
import socket

import psycopg

from standout.study.storage.connection import Connection
from standout.study.storage.postgres import Watched, connect, writing
from standout.study.storage.statements import Statement, insert_into
from tests.patience import until
from tests.study.postgres import Server


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
