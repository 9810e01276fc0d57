"""Numbers that nobody means, over HTTP: never a 500."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from standout.service.app import create_app
from standout.service.settings import Settings
from tests.service.conftest import API, BASE

NUMBERS = (
    "1e308", "-1e308", "1e-308", "5e-324", "-0.0", "0", "-1", "1e400", "NaN", "Infinity",
    "-Infinity", "1" + "0" * 400, "1" + "0" * 5000, "9223372036854775807", "9223372036854775808",
    "1e18", "1.5", "true", "null", '"1"', "[]", "{}", "2147483648",
)  # fmt: skip


@pytest.fixture
def client(file: str) -> Iterator[TestClient]:
    app = create_app(file, Settings())
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as client:
        yield client


def send(client: TestClient, path: str, body: str) -> int:
    """A body as it stands; gives the status, after a look at the answer."""
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, (path, body[:120], answer.text)
    if answer.status_code >= 400:
        message = answer.json()["error"]["message"]
        assert "\n" not in message
        assert len(message) < 700
    return answer.status_code


def look(client: TestClient, name: str) -> None:
    """Every view of a study that was taken."""
    study = f"{API}/studies/{name}"
    for reward in (0, 1):
        rewards = [{"arm": arm, "reward": reward} for arm in "abc"]
        send(client, f"{study}/tell", json.dumps({"rewards": rewards, "ask": 3}))
    for part in ("", "/view", "/identification", "/trace", "/next", "/pending"):
        answer = client.get(f"{study}{part}")
        assert answer.status_code == 200, (part, answer.text)
        json.loads(answer.text, parse_constant=pytest.fail)


SETTINGS = (
    "k", "k_low", "delta", "tolerance", "mad_scale", "budget", "seed", "lease", "pause_after",
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_beginning(client: TestClient, setting: str) -> None:
    for place, number in enumerate(NUMBERS):
        body = (
            f'{{"name": "x{place}", "arms": ["a", "b", "c"], "noise": "bernoulli", '
            f'"side": "both", "{setting}": {number}}}'
        )
        if send(client, f"{API}/studies", body) == 201:
            look(client, f"x{place}")


@pytest.mark.parametrize(
    "noise",
    [
        "gaussian:1e308", "gaussian:1e-320", "gaussian:nan", "gaussian:inf", "heavy:1e200",
        "bounded:-1e308,1e308", "bounded:0,5e-324", "bounded:nan,1", "bounded:-0.0,0.0",
        "gaussian:" + "9" * 150, "heavy:1e100", "gaussian", "bounded:0,1e99",
    ],
)  # fmt: skip
def test_noise_and_rewards(client: TestClient, noise: str) -> None:
    body = {"name": "x", "arms": ["a", "b", "c"], "noise": noise}
    if send(client, f"{API}/studies", json.dumps(body)) == 201:
        for number in NUMBERS:
            rewards = f'{{"rewards": [{{"arm": "a", "reward": {number}}}]}}'
            send(client, f"{API}/studies/x/tell", rewards)
        look(client, "x")


@pytest.mark.parametrize(
    "method",
    [
        "random:batch=9223372036854775807", "random:batch=9223372036854775808",
        "roai-lucb:batch=1e308", "random:batch=inf", "random:batch=-0", "focus:growth=nan",
        "focus:growth=1e308", "roai-lucb:lambda=1e308,epsilon=0.4",
        "roai-lucb:lambda=inf,epsilon=0.4", "roai-lucb:lambda=2,epsilon=nan",
    ],
)  # fmt: skip
def test_methods(client: TestClient, method: str) -> None:
    body = {"name": "x", "arms": ["a", "b", "c"], "noise": "gaussian:1", "method": method}
    if send(client, f"{API}/studies", json.dumps(body)) == 201:
        look(client, "x")


BODIES = {
    "ask": ('{"n": @}', '{"lease": @}', '{"known": [@]}'),
    "tell": (
        '{"rewards": [{"ticket": @, "reward": 1}]}',
        '{"rewards": [{"arm": "a", "reward": 1}], "ask": @}',
        '{"rewards": [{"arm": "a", "reward": 1}], "ask": 1, "lease": @}',
        '{"rewards": [{"arm": "a", "reward": 1}], "key": @}',
    ),
    "fail": ('{"ticket": @}',),
    "renew": ('{"tickets": [@]}', '{"tickets": [1], "lease": @}'),
    "release": ('{"tickets": [@]}',),
}


@pytest.mark.parametrize("path", list(BODIES))
def test_asking_and_telling(client: TestClient, path: str) -> None:
    body = {"name": "x", "arms": ["a", "b", "c"], "noise": "gaussian:1"}
    assert send(client, f"{API}/studies", json.dumps(body)) == 201
    for template in BODIES[path]:
        for number in NUMBERS:
            if (path, number) != ("ask", "1e18"):
                send(client, f"{API}/studies/x/{path}", template.replace("@", number))
    look(client, "x")


@pytest.mark.parametrize(
    "query", ["?limit=@", "/x/view?since=@", "/x/arms?limit=@", "/x/arms?after=@",
              "/x/failures?limit=@", "/x/failures?after=@"],
)  # fmt: skip
def test_queries(client: TestClient, query: str) -> None:
    body = {"name": "x", "arms": ["a", "b", "c"], "noise": "gaussian:1"}
    assert send(client, f"{API}/studies", json.dumps(body)) == 201
    for number in (*NUMBERS, "1_0", "٣", ""):
        answer = client.get(f"{API}/studies{query.replace('@', number)}")
        assert answer.status_code < 500, answer.text


@pytest.mark.parametrize("part", ["min", "max", "step", "value"])
def test_pages(client: TestClient, part: str) -> None:
    for place, number in enumerate(NUMBERS):
        scale = {"min": "0", "max": "1", part: number}
        page = "{" + ", ".join(f'"{key}": {value}' for key, value in scale.items()) + "}"
        asked = f'{{"scale": {page}}}'
        if part == "value":
            asked = f'{{"buttons": [{{"label": "x", "value": {number}}}]}}'
        body = (
            f'{{"name": "x{place}", "arms": ["a", "b", "c"], "noise": "heavy:1", "page": {asked}}}'
        )
        if send(client, f"{API}/studies", body) != 201:
            continue
        headers = {"Content-Type": "application/json", "Origin": BASE}
        shown = client.post(f"/rate/x{place}/next", content="{}", headers=headers)
        assert shown.status_code == 200, shown.text
        for value in NUMBERS:
            answer = f'{{"ticket": {shown.json()["ticket"]}, "value": {value}}}'
            done = client.post(f"/rate/x{place}/answer", content=answer, headers=headers)
            assert done.status_code < 500, done.text
