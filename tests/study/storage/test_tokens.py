"""Tokens in a database."""

from __future__ import annotations

import pytest

from standout.errors import StudyError
from standout.study.storage import old_tokens as tokens
from standout.study.storage.database import Storage
from tests.study.test_conformance import make


def test_a_token_is_kept_as_a_hash(place: str) -> None:
    make(place).close()
    storage = Storage(place)
    token, text = tokens.create(storage, "rater", "main", "the café")
    other, other_text = tokens.create(storage, "owner", None)
    parts = tokens.split(text)
    assert parts is not None
    assert parts[0] == token.id
    with storage.read() as connection:
        kept = {found.token.id: found for found in tokens.read_all(connection)}
        rows = connection.execute("SELECT * FROM standout_tokens")
    assert parts[1] not in repr(rows)
    assert kept[token.id].token == token
    assert kept[token.id].is_of(parts[1])
    assert not kept[other.id].is_of(parts[1])
    assert text != other_text
    assert not kept[token.id].is_of(parts[1][:-1])


def test_revoking(place: str) -> None:
    storage = Storage(place, create=True)
    token, _ = tokens.create(storage, "viewer", None, by="ada")
    for who in ("ben", "too late"):
        assert tokens.revoke(storage, token.id, by=who)[0].id == token.id
    with storage.read() as connection:
        assert tokens.count_tokens(connection) == (0, 1)
        (kept,) = tokens.read_all(connection)
    assert kept.token.revoked is not None
    assert (kept.token.made_by, kept.token.revoked_by) == ("ada", "ben")
    with pytest.raises(StudyError, match="no token 'x'"):
        tokens.revoke(storage, "x")


def test_what_is_refused(place: str) -> None:
    storage = Storage(place, create=True)
    with pytest.raises(StudyError, match="no role 'boss'; there are owner"):
        tokens.create(storage, "boss", None)
    with pytest.raises(StudyError, match="no study 'main' here; there are none yet"):
        tokens.create(storage, "rater", "main")
    with pytest.raises(StudyError, match="at most 200"):
        tokens.create(storage, "rater", None, "x" * 201)
    for text in ("", "x", "standout_123456789012_" + "x" * 42, "standout_12345678901g_" + "x" * 43):
        assert tokens.split(text) is None
