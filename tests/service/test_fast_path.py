"""The short way for asking and telling says and does exactly what the described way does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from fastapi.testclient import TestClient

from standout.errors import StorageError
from standout.service import fast_path
from standout.service.queues import Queues
from standout.service.security.auth import Gate
from standout.service.service import start
from standout.service.settings import Settings
from tests.patience import HANGS
from tests.service.conftest import API, Connect, bearer, begin, new_token

T = TypeVar("T")

GOOD = {"rewards": [{"ticket": 1, "reward": 0.5}], "ask": 1, "key": "k", "worker": "w"}
BODIES: list[Any] = [
    GOOD,
    GOOD,  # With the same key: the first answer again.
    {**GOOD, "rewards": [{"ticket": 1, "reward": 0.25}]},
    {"rewards": [{"ticket": 1, "reward": 0.25}]},
    {"rewards": [{"ticket": 99, "reward": 0.5}]},
    {"rewards": [{"arm": "ash", "reward": 0.5}, {"arm": "none", "reward": 0.5}]},
    {"rewards": [{"arm": "ash", "reward": True}]},
    {"rewards": [{"arm": "ash", "reward": "1"}]},
    {"rewards": [{"arm": "ash", "reward": 1e999}]},
    {"rewards": [{"reward": 1.0}]},
    {"rewards": [{"arm": "ash", "reward": 0.5}] * 1_001},
    {"rewards": [{"arm": "ash", "reward": "x"}] * 1_001},
    {"rewards": []},
    {"n": 2, "worker": "w", "items": True},
    {"n": 0},
    {"n": 1.0},
    {"n": 10**30},
    {"n": 1, "lease": -1},
    {"n": 1, "unknown": 1},
    {},
    [],
    None,
    "text",
    b"",
    b"{",
    b'{"n": NaN}',
    b'{"n": 1, "n": 2}',
    b'{"n": 1, "worker": "\\ud800"}',
    b"\xff\xfe",
    '{"n": 1}'.encode("utf-16"),
    b"[" * 50_000,
    b'{"n": 1}' + b" " * 200_000,
]


@pytest.fixture
def pair(folder: Path, connect: Connect) -> list[TestClient]:
    """Two services on equal studies; the second knows only the described way."""
    clients = []
    for number in range(2):
        client = connect(str(folder / f"{number}.db"))
        begin(client)
        clients.append(client)
    return clients


def apart(scene: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: a browser's loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, scene).result()


def send(client: TestClient, what: str, body: Any, is_short: bool, **headers: str) -> Any:
    """Status, headers and text of an answer, without what depends on the time."""
    routes, data = dict(fast_path.ROUTES), body if isinstance(body, bytes) else json.dumps(body)
    if not is_short:
        fast_path.ROUTES.clear()
    try:
        found = client.post(
            f"{API}/studies/{what}",
            content=data,
            headers={"Content-Type": "application/json", **headers},
        )
    finally:
        fast_path.ROUTES.update(routes)
    said = {key: value for key, value in found.headers.items() if key != "content-length"}
    return found.status_code, said, re.sub(r'("expires"|"time"):[\d.]+', "", found.text)


def test_both_ways_agree(pair: list[TestClient]) -> None:
    short, described = pair
    for client in pair:
        assert client.post(f"{API}/studies/trees/ask", json={"n": 3}).status_code == 200
    for body in BODIES:
        for what in ("trees/tell", "trees/ask", "none/tell", "tr%65es/ask", "trees%2Fask/ask"):
            found = send(short, what, body, is_short=True)
            assert found == send(described, what, body, is_short=False), (what, str(body)[:80])
    logs = []
    for client in pair:
        rows = client.get(f"{API}/studies/trees/export?form=json").json()
        logs.append(re.sub(r'"(time|asked)": ?[\d.]+', "", json.dumps(rows)))
    assert logs[0] == logs[1]


def test_well_formed_requests_take_the_short_way(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = begin(client)
    seen: list[Any] = []
    original = fast_path.FastPath.__call__

    async def call(self: Any, scope: Any, receive: Any, send: Any) -> None:
        inner = self.app

        async def app(*given: Any) -> None:
            seen.append(scope["path"])
            await inner(*given)

        self.app = app
        try:
            await original(self, scope, receive, send)
        finally:
            self.app = inner

    monkeypatch.setattr(fast_path.FastPath, "__call__", call)
    ticket = client.post(f"{url}/ask", json={"n": 1}).json()["tickets"][0]["ticket"]
    told = client.post(f"{url}/tell", json={"rewards": [{"ticket": ticket, "reward": 0.5}]})
    assert told.json()["counted"] == 1
    assert seen == []
    assert client.post(f"{url}/ask", json={"n": 0}).status_code == 422
    assert seen == [f"{url}/ask"]


@pytest.mark.parametrize("role", ["owner", "worker", "viewer", "rater"])
def test_roles_hold_on_both_ways(connect: Connect, file: str, role: str) -> None:
    begin(connect(file))
    tokens = ["standout_no_token", new_token(file, role), new_token(file, role, "trees")]
    client = connect(file)
    for headers in ({}, *map(bearer, tokens)):
        for what in ("trees/ask", "none/ask", "trees/tell"):
            short, described = (
                send(client, what, {"n": 1}, is_short, **headers) for is_short in (True, False)
            )
            assert short[0] == described[0], (role, what)
            if short[0] != 200:
                assert short == described


def test_raters_are_held_back_on_both_ways(connect: Connect, file: str) -> None:
    begin(connect(file))
    token = bearer(new_token(file, "rater"))
    client = connect(file, rater_rate=1e-6, rater_burst=2)
    found = [send(client, "trees/ask", {"n": 1}, short, **token)[0] for short in (True, False)]
    assert found == [200, 200]
    short, described = (send(client, "trees/ask", {"n": 1}, way, **token) for way in (True, False))
    assert short[0] == described[0] == 429
    assert short[1]["retry-after"]


def test_tokens_are_read_once_for_all_who_wait(file: str) -> None:
    new_token(file, "owner")
    service = start(file, Settings())
    gate: Gate = service.gate
    reads: list[int] = []
    tokens = service.studies.tokens

    def counted() -> Any:
        reads.append(1)
        return tokens()

    service.studies.tokens = counted  # type: ignore[method-assign]

    async def run() -> None:
        found = await asyncio.gather(*[gate.identify({}) for _ in range(20)])
        assert found == [None] * 20
        assert len(reads) == 1
        gate.forget()
        leaver = asyncio.ensure_future(gate.identify({}))
        await asyncio.sleep(0)
        gate.forget()  # Asked before: whoever comes now must not be given that answer.
        stayer = asyncio.ensure_future(gate.identify({}))
        await asyncio.sleep(0)
        leaver.cancel()
        assert await stayer is None
        # Nobody waits for the first of the two: its thread may come last.
        async with asyncio.timeout(HANGS):
            while len(reads) < 3:
                await asyncio.sleep(0.001)

    try:
        apart(run())
    finally:
        service.studies.close()


def test_an_outage_of_the_tokens_is_said_to_all_who_wait(
    connect: Connect, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect(file)
    url = begin(client)
    gate = client.app.state.service.gate  # type: ignore[attr-defined]

    def broken() -> Any:
        raise StorageError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(client.app.state.service.studies, "tokens", broken)  # type: ignore[attr-defined]
        gate.forget()
        for _ in range(2):
            found = client.post(f"{url}/ask", json={"n": 1})
            assert (found.status_code, found.json()["error"]["code"]) == (503, "storage")
    assert client.post(f"{url}/ask", json={"n": 1}).status_code == 200


def test_requests_that_are_here_already_go_together() -> None:
    """Those that the loop comes to while a transaction is about to begin do not wait for it."""
    groups: list[int] = []

    class Counting:
        def in_one_transaction(
            self, requests: list[Any], size: int, tickets: list[int]
        ) -> list[int]:
            groups.append(len(requests))
            return [request(None) for request in requests]

    async def run() -> list[int]:
        threads = Queues()

        async def change(number: int) -> int:
            for _ in range(number % 3):
                await asyncio.sleep(0)
            found = await threads.change("s", Counting, lambda _study, _turn: number)  # type: ignore[arg-type]
            return found[1]

        return list(await asyncio.gather(*map(change, range(9))))

    assert apart(run()) == list(range(9))
    assert groups == [9]
