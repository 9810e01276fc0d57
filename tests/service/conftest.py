"""A service on a new place, and clients of every role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from standout.service.app import create_app
from standout.service.settings import Settings
from standout.study.storage.store import open_store
from standout.study.storage.tokens import create
from tests.study.conftest import Clock, clock, folder, place, server

__all__ = ["Clock", "clock", "folder", "place", "server"]

BASE = "http://127.0.0.1"
API = "/api/v1"
ARMS = ["ash", "elm", "fir", "oak", "yew"]

Connect = Callable[..., TestClient]


@pytest.fixture
def file(folder: Path) -> str:
    """A file that is not there yet."""
    return str(folder / "study.db")


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Start a service on a place; gives a client of it."""
    clients: list[TestClient] = []

    def make(place: str, **settings: Any) -> TestClient:
        client = TestClient(create_app(place, Settings(**settings)), base_url=BASE)
        client.__enter__()
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(connect: Connect, file: str) -> TestClient:
    """A client of an open service on an empty file."""
    return connect(file)


def new_token(place: str, role: str, study: str | None = None, lasts: float | None = None) -> str:
    """A token's text."""
    with closing(open_store(place, create=True)) as store:
        return create(store, role, study, lasts=lasts)[1]


def bearer(token: str) -> dict[str, str]:
    """The header that carries it."""
    return {"Authorization": f"Bearer {token}"}


def begin(client: TestClient, name: str = "trees", **options: Any) -> str:
    """Begin a study over HTTP; its address."""
    body = {"name": name, "arms": ARMS, "noise": "gaussian:0.03", "k": 2, **options}
    answer = client.post(f"{API}/studies", json=body)
    assert answer.status_code == 201, answer.text
    return f"{API}/studies/{name}"
