"""The first digest of a study: its settings, its arms, and how it stood when steps began.

The statements are of version 3 of the schema and stay as they are: whoever
verifies works out the same digest again from the same columns.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from standout.core.state import State
from standout.study.log.chain import COVERED, Kind, Step
from standout.study.storage.connection import Connection
from standout.study.storage.statements import Statement, insert_into

_SETTINGS = (
    "SELECT name, created, problem, method, budget, lease, pause_after, ordered, page "
    "FROM standout_studies WHERE id = {key}"
)
_PARTS = (
    "SELECT position, name FROM standout_arms WHERE study = {key} ORDER BY position",
    "SELECT position, content FROM standout_items WHERE study = {key} ORDER BY position",
    "SELECT fields, scalars, pulls, surplus, log, failed, reason, stopped "
    "FROM standout_bases WHERE study = {key}",
    "SELECT position, pulls, total, verdict, failures, streak, paused, memory "
    "FROM standout_base_arms WHERE study = {key} ORDER BY position",
    "SELECT seq, time, arm, ticket, worker, reason FROM standout_failures WHERE study = {key} "
    "AND seq <= (SELECT failed FROM standout_bases WHERE study = {key}) ORDER BY seq",
)
_LOG = (
    "SELECT seq, time, arm, value, ticket, asked, worker, counted FROM standout_rewards "
    "WHERE study = {key} AND seq > {after} "
    "AND seq <= (SELECT log FROM standout_bases WHERE study = {key}) ORDER BY seq LIMIT 20000"
)
_BASES = Statement("SELECT study, log FROM standout_bases ORDER BY study")
_SET_HEAD = Statement("UPDATE standout_runs SET steps = 1, head = ? WHERE study = ?")
DRAWN = ("stage", "costs")
"""What a state has from its beginning and keeps: drawn at random, or given."""


def settings_digest(connection: Connection, key: int, drawn: bytes) -> bytes:
    """Covers everything that a study begins with; `drawn` is that of `drawn_bytes`."""
    found = hashlib.sha256(b"standout study 3\n" + drawn + b"\n")
    (row,) = Statement(_SETTINGS.format(key=int(key)))(connection)
    settings = list(row)
    settings[7] = bool(settings[7])
    found.update(json.dumps(settings).encode() + b"\n")
    for statement in _PARTS:
        for row in Statement(statement.format(key=int(key)))(connection):
            found.update(json.dumps(list(row)).encode() + b"\n")
        found.update(b"\n")
    for row in _old_log(connection, int(key)):
        found.update(json.dumps([*row[:7], bool(row[7])]).encode() + b"\n")
    return found.digest()


def _old_log(connection: Connection, key: int) -> Iterator[Any]:
    after = 0
    while rows := Statement(_LOG.format(key=key, after=after))(connection):
        yield from rows
        after = rows[-1][0]


def drawn_bytes(state: State) -> bytes:
    """The parts of a state that never change."""
    return b"".join(np.asarray(getattr(state, name), dtype="<f8").tobytes() for name in DRAWN)


def begin(connection: Connection, key: int, now: float, drawn: bytes, log: int) -> bytes:
    """Write a study's step 0; its digest."""
    row = Step(Kind.BEGIN, now, first=log + 1).row(settings_digest(connection, key, drawn), 0)
    insert_into("standout_steps", ("study", *COVERED, "digest")).run(connection, key, *row)
    digest: bytes = row[-1]
    _SET_HEAD.run(connection, digest, key)
    return digest


def begin_all(connection: Connection) -> None:
    """Begin the steps of the studies that have none: those of an older version."""
    for key, log in _BASES(connection):
        begin(connection, key, time.time(), b"", log)
