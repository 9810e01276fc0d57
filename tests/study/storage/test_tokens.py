"""Tokens and logins in a store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from standout.errors import StudyError
from standout.study.storage import logins, tokens
from standout.study.storage.session import Deleted
from standout.study.storage.store import Store, open_store
from tests.study.conftest import Clock


@pytest.fixture
def store(place: str, clock: Clock) -> Iterator[Store]:
    made = open_store(place, create=True, clock=clock)
    with made.write() as session:
        session.create_study("main")
    yield made
    made.close()


def kept(store: Store) -> list[tokens.KeptToken]:
    with store.read() as session:
        return tokens.read_all(session)


def test_a_token_is_kept_as_a_hash(store: Store) -> None:
    token, text = tokens.create(store, "rater", "main", "the café")
    other, other_text = tokens.create(store, "owner", None)
    parts = tokens.split(text)
    assert parts is not None
    assert parts[0] == token.id
    found = {each.token.id: each for each in kept(store)}
    with store.read() as session:
        assert parts[1] not in repr(session.run("SELECT * FROM standout_tokens"))
    assert found[token.id].token == token
    assert found[token.id].is_of(parts[1])
    assert not found[other.id].is_of(parts[1])
    assert text != other_text
    assert not found[token.id].is_of(parts[1][:-1])


def test_revoking(store: Store, clock: Clock) -> None:
    token, _ = tokens.create(store, "viewer", None, by="ada")
    clock.now += 1
    left, _ = tokens.create(store, "owner", None)
    for who in ("ben", "too late"):
        found, others = tokens.revoke(store, token.id, by=who)
        assert (found.id, others) == (token.id, [left])
    (ended, _) = kept(store)
    assert ended.token.revoked is not None
    assert (ended.token.made_by, ended.token.revoked_by) == ("ada", "ben")
    with store.read() as session:
        assert tokens.count_tokens(session) == (1, 2)
    with pytest.raises(StudyError, match="no token 'x'"):
        tokens.revoke(store, "x")


def test_a_token_expires(store: Store, clock: Clock) -> None:
    token, _ = tokens.create(store, "viewer", None, lasts=60.0)
    assert token.expires == clock.now + 60
    clock.now += 1
    other, _ = tokens.create(store, "owner", None)
    assert [each.token for each in kept(store)] == [token, other]
    for later, usable in ((59.9, 2), (60.0, 1)):
        clock.now = token.created + later
        assert token.is_usable(clock.now) is (usable == 2)
        with store.read() as session:
            assert tokens.count_tokens(session) == (usable, 2)
    assert tokens.revoke(store, other.id)[1] == []


@pytest.mark.parametrize("lasts", [0.0, -1.0, float("inf"), float("nan")])
def test_how_long_a_token_lasts_is_checked(store: Store, lasts: float) -> None:
    with pytest.raises(StudyError, match="positive number of seconds"):
        tokens.create(store, "viewer", None, lasts=lasts)


def test_what_is_refused(store: Store) -> None:
    with pytest.raises(StudyError, match="no role 'boss'; choose from owner"):
        tokens.create(store, "boss", None)
    with pytest.raises(StudyError, match="no study 'other' here; choose from 'main'"):
        tokens.create(store, "rater", "other")
    with pytest.raises(StudyError, match="at most 200"):
        tokens.create(store, "rater", None, "x" * 201)
    for text in ("", "x", "standout_123456789012_" + "x" * 42, "standout_12345678901g_" + "x" * 43):
        assert tokens.split(text) is None


def test_deleting_a_study_revokes_its_tokens_and_their_logins(store: Store, clock: Clock) -> None:
    token, _ = tokens.create(store, "rater", "main")
    clock.now += 1
    other, _ = tokens.create(store, "owner", None)
    logins.begin_login(store, token.id, 60.0)
    login, _ = logins.begin_login(store, other.id, 60.0)
    with store.write() as session:
        session.delete_study(Deleted(1, "main", 5.0, "eva", "", 0, 0, ""))
    assert [each.token.revoked for each in kept(store)] == [5.0, None]
    with store.read() as session:
        assert logins.read_logins(session) == {login.id: login}


def test_a_login_is_known_by_its_text_alone(store: Store, clock: Clock) -> None:
    token, secret = tokens.create(store, "owner", None)
    login, text = logins.begin_login(store, token.id, 60.0)
    assert secret not in text
    assert logins.login_id(text) == login.id
    for wrong in ("", secret, login.id, text[:-1], text + "x"):
        assert logins.login_id(wrong) is None
    with store.read() as session:
        assert logins.read_logins(session) == {login.id: login}
        assert text not in repr(session.run("SELECT * FROM standout_sessions"))
    clock.now += 60
    with store.read() as session:
        assert logins.read_logins(session) == {}
    logins.begin_login(store, token.id, 60.0)
    with store.read() as session:  # The old one is forgotten.
        assert session.count("standout_sessions") == 1


def test_a_login_ends_alone_or_with_its_token(store: Store) -> None:
    token, _ = tokens.create(store, "owner", None)
    (one, text), (two, _) = (logins.begin_login(store, token.id, 60.0) for _ in range(2))
    assert one.id != two.id
    for _ in range(2):
        logins.end_login(store, text)
    logins.end_login(store, "nonsense")
    with store.read() as session:
        assert list(logins.read_logins(session)) == [two.id]
    tokens.revoke(store, token.id)
    with store.read() as session:
        assert logins.read_logins(session) == {}
