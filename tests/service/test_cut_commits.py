"""A connection to PostgreSQL that breaks at the end of what a request does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from standout import Client
from standout.client import RemoteStudy
from standout.errors import UnavailableError, UncertainError
from standout.study import Study
from tests.patience import HANGS
from tests.service.conftest import API, ARMS, Connect, begin
from tests.service.live import serving
from tests.study.cut import Cut, cutting
from tests.study.postgres import Server
from tests.study.test_conformance import make

REWARD = {"rewards": [{"arm": "ash", "reward": 0.5}], "key": "k"}


@pytest.fixture
def way(server: Server) -> Iterator[Cut]:
    """The way to a database with a study, that can be cut."""
    url = server.new_database(f"cut_{os.getpid()}_{next(_numbers)}")
    make(url).close()
    with cutting(url) as made:
        yield made


_numbers = iter(range(10**6))


CHANGES: dict[str, tuple[Callable[[RemoteStudy], object], dict[str, Any]]] = {
    "tell": (lambda study: study.tell(arm="ash", reward=0.5), {"more": {"pulls": 1}}),
    "tell and ask": (
        lambda study: study.tell_and_ask([("ash", 0.5)], 2),
        {"more": {"pulls": 1, "pending": 2}},
    ),
    "many": (lambda study: study.tell_many([("ash", 0.5)] * 200), {"more": {"pulls": 200}}),
    "fail": (
        lambda study: study.fail(1, "spilt"),
        {"more": {"pending": -1}, "failures": {"elm": 1}},
    ),
    "pause": (lambda study: study.pause("elm", "none left"), {"paused": {"elm": "none left"}}),
    "void": (lambda study: study.void(1, reason="misread"), {"more": {"pulls": -1}}),
    "set": (lambda study: study.set(budget=700, reason="more"), {"budget": 700}),
    "stop": (lambda study: study.stop("enough"), {"stopped": True}),
}
"""Each change, and what is other then."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients come back as soon as they may."""
    monkeypatch.setattr("standout.client.transport._seconds", lambda text: 0.0)


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_a_change_is_made_once(way: Cut, before: bool) -> None:
    """Whether the commit was carried out or not, and nobody heard of it."""
    way.before = before
    with serving(way.url) as url, Client(url, patience=HANGS) as client:
        study = client.study("main")
        study.tell(arm="ash", reward=0.25)
        study.ask(1)
        expected = replace(study.status(), paused={}, failures={})
        for number, (name, (change, then)) in enumerate(CHANGES.items(), start=1):
            way.is_armed = True
            change(study)
            assert way.cuts == number, name
            expected = replace(
                expected,
                **{
                    key: getattr(expected, key) + more for key, more in then.get("more", {}).items()
                },
                **{key: value for key, value in then.items() if key != "more"},
            )
            found = study.status()
            for key in ("pulls", "pending", "budget", "stopped", "paused", "failures"):
                assert getattr(found, key) == getattr(expected, key), (name, key)
        assert [one.kind for one in study.changes()] == ["pause", "void", "set", "set"]
    with Study.open(way.url) as here:
        assert here.verify().problems == ()


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_what_cannot_be_known_is_not_said_to_be_undone(way: Cut, before: bool) -> None:
    """A study that may have been made, or removed: it is said so, and not sent again."""
    with serving(way.url) as url, Client(url, patience=HANGS) as client:
        way.before, way.is_armed = before, True
        with pytest.raises(UncertainError, match="may have been"):
            client.create("new", ARMS, "bernoulli")
        assert ("new" in [row.name for row in client.studies()]) is not before
        way.is_armed = True
        with pytest.raises(UncertainError, match="may have been"):
            client.study("main").delete("main")
        assert ("main" in [row.name for row in client.studies()]) is before
        assert way.cuts == 2


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_the_server_finds_out_whether_it_was_done(way: Cut, connect: Connect, before: bool) -> None:
    client = connect(way.url)
    assert client.post(f"{API}/studies/main/tell", json={**REWARD, "key": "a"}).status_code == 200
    way.before, way.is_armed = before, True
    answer = client.post(f"{API}/studies/main/tell", json=REWARD)
    assert (way.cuts, answer.status_code) == (1, 200)
    assert (answer.json()["counted"], answer.json()["again"]) == (1, False)
    while (answer := client.post(f"{API}/studies/main/tell", json=REWARD)).status_code != 200:
        assert answer.json()["error"]["code"] == "unavailable"  # Other connections are cut, too.
    assert (answer.json()["counted"], answer.json()["again"]) == (1, True)


# What is read behind the commit ---------------------------------------------------


def gone(*_: object, **__: object) -> Any:
    raise UnavailableError("the database is away; nothing was changed")


def test_a_study_of_which_the_status_cannot_be_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"name": "trees", "arms": ARMS, "noise": "bernoulli"}
    with monkeypatch.context() as patch:
        patch.setattr(Study, "status", gone)
        answer = client.post(f"{API}/studies", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "uncertain")
    assert "nothing was changed" not in answer.text
    assert client.post(f"{API}/studies", json=body).status_code == 409


@pytest.mark.parametrize("what", ["ask", "tell"])
def test_tickets_of_which_the_items_cannot_be_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Sent again, the same tickets come."""
    path = begin(client, items={arm: {"text": f"An {arm}"} for arm in ARMS})
    more = {"n": 2, "known": []} if what == "ask" else {**REWARD, "ask": 2}
    body = {"worker": "w", "items": True, **more}
    with monkeypatch.context() as patch:
        patch.setattr(Study, "items", gone)
        answer = client.post(f"{path}/{what}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "uncertain")
    assert "nothing was changed" not in answer.text
    given = client.post(f"{path}/{what}", json=body).json()["tickets"]
    assert [ticket["item"]["text"] for ticket in given] == ["An ash", "An elm"]
    status = client.get(path).json()
    assert (status["pending"], status["pulls"]) == (2, int(what == "tell"))


def test_a_change_of_which_the_outcome_cannot_be_read(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begin(client)
    body = {"budget": 900, "key": "k"}
    with monkeypatch.context() as patch:
        patch.setattr(Study, "status", gone)
        answer = client.patch(path, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "uncertain")
    assert client.patch(path, json=body).json()["budget"] == 900
    assert len(client.get(f"{path}/changes").json()["changes"]) == 1
