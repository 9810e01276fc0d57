"""Connections to PostgreSQL that nobody closes."""

from __future__ import annotations

import gc

import psycopg

from standout.study.storage.postgres import Watched
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
