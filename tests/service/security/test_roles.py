"""What each role may do, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from standout.study.storage.store import open_store
from standout.study.storage.tokens import revoke, split
from tests.service.conftest import API, Connect, bearer, begin, new_token
from tests.service.security.access_table import CALLERS, DOCS, refreshed, routes_of

# Address, body (None for GET) and the roles that may; everybody else gets 403.
NEW = {"name": "another", "arms": ["a", "b", "c"], "noise": "bernoulli"}
LOOK = {"owner", "viewer"}
READ = {"owner", "viewer", "worker"}
MEASURE = {"owner", "worker"}
ALL = {"owner", "viewer", "worker", "rater"}
ADDRESSES: list[tuple[str, Any, set[str]]] = [
    ("", None, LOOK),
    ("", NEW, {"owner"}),
    ("/trees", None, READ),
    ("/trees/identification", None, READ),
    ("/trees/pending", None, READ),
    ("/trees/page", None, READ),
    ("/trees/view", None, LOOK),
    ("/trees/arms", None, LOOK),
    ("/trees/trace", None, LOOK),
    ("/trees/next", None, LOOK),
    ("/trees/forecast", None, LOOK),
    ("/trees/failures", None, LOOK),
    ("/trees/export", None, LOOK),
    ("/trees/ask", {}, MEASURE),
    ("/trees/tell", {"rewards": [{"arm": "ash", "reward": 0.5}]}, MEASURE),
    ("/trees/fail", {"ticket": 1}, MEASURE),
    ("/trees/renew", {"tickets": [1]}, MEASURE),
    ("/trees/release", {"tickets": [1]}, MEASURE),
    ("/trees/pause", {"arm": "ash"}, MEASURE),
    ("/trees/resume", {"arm": "ash"}, MEASURE),
]
ROLES = sorted(ALL)


@pytest.fixture
def client(connect: Connect, file: str) -> TestClient:
    """A service that asks for tokens, with two studies and one ticket that is out."""
    client = connect(file, require_token=True)
    client.headers.update(bearer(new_token(file, "owner")))
    for name in ("trees", "bushes"):
        begin(client, name)
    client.post(f"{API}/studies/trees/ask", json={"worker": "somebody"})
    del client.headers["Authorization"]
    return client


def call(client: TestClient, path: str, body: Any, token: str | None) -> int:
    headers = {} if token is None else bearer(token)
    url = f"{API}/studies{path}"
    if body is None:
        return client.get(url, headers=headers).status_code
    return client.post(url, json=body, headers=headers).status_code


@pytest.mark.parametrize("role", ROLES)
def test_every_address(client: TestClient, file: str, role: str) -> None:
    token = new_token(file, role)
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    for path, body, roles in ADDRESSES:
        found = call(client, path, body, token)
        wanted = {200, 201} if role in roles else {403}
        assert found in wanted, f"{role} at {path or '/'}: {found}"


def test_nobody_without_a_token(client: TestClient) -> None:
    for path, body, _ in ADDRESSES:
        assert call(client, path, body, None) == 401
        assert call(client, path, body, "standout_0123456789ab_" + "x" * 43) == 401
    assert client.get(f"{API}/studies").headers["www-authenticate"].startswith("Bearer")
    assert client.get(f"{API}/health").status_code == 200


@pytest.mark.parametrize("role", ROLES)
def test_a_token_for_one_study(client: TestClient, file: str, role: str) -> None:
    token = new_token(file, role, "trees")
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    for path, body, roles in ADDRESSES:
        other = path.replace("/trees", "/bushes")
        if path and role in roles:
            assert call(client, path, body, token) == 200
        if path:
            assert call(client, other, body, token) == 403
            assert call(client, path.replace("/trees", "/none"), body, token) == 403
    if role in LOOK:
        listed = client.get(f"{API}/studies", headers=bearer(token)).json()["studies"]
        assert [row["name"] for row in listed] == ["trees"]
    assert call(client, "", NEW, token) == 403


def test_raters_have_the_rating_page_only(client: TestClient, file: str) -> None:
    """Nothing but its items, its question and its own answers: no name, no code, no 1e9."""
    mine = bearer(new_token(file, "rater", "trees"))
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    for path, body, _ in ADDRESSES:
        method = "GET" if body is None else "POST"
        refused = client.request(method, f"{API}/studies{path}", json=body, headers=mine)
        assert refused.status_code == 403, path
        assert not any(arm in refused.text for arm in ("ash", "elm", "yew"))
    given = client.post("/rate/trees/next", json={}, headers=mine).json()
    body = {"rewards": [{"ticket": given["ticket"], "reward": 1e9}]}
    assert client.post(f"{API}/studies/trees/tell", json=body, headers=mine).status_code == 403


@pytest.mark.parametrize("name", ["owner:local", "OWNER : 1", " rater:4f0c2a91be77:x", "viewer:"])
def test_a_worker_signs_by_its_own_name(client: TestClient, file: str, name: str) -> None:
    worker = bearer(new_token(file, "worker"))
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    url = f"{API}/studies/trees"
    for path, body in (
        ("ask", {}),
        ("tell", {"rewards": [{"arm": "ash", "reward": 0.5}]}),
        ("fail", {"ticket": 1}),
        ("pause", {"arm": "ash"}),
        ("resume", {"arm": "ash"}),
    ):
        refused = client.post(f"{url}/{path}", json={**body, "worker": name}, headers=worker)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden"), path
    free = client.post(f"{url}/ask", json={"worker": "bench 3: ownership"}, headers=worker)
    assert free.status_code == 200


def test_a_revoked_token_ends(client: TestClient, file: str) -> None:
    token = new_token(file, "viewer")
    gate = client.app.state.service.gate  # type: ignore[attr-defined]
    gate.forget()
    assert call(client, "/trees/view", None, token) == 200
    storage = open_store(file)
    parts = split(token)
    assert parts is not None
    revoke(storage, parts[0])
    storage.close()
    gate.forget()
    assert call(client, "/trees/view", None, token) == 401


def test_the_table_of_addresses_and_roles_is_current() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert refreshed(page) == page, "run: python tools/make_access_docs.py"
    for path, body, roles in ADDRESSES:
        method, address = "GET" if body is None else "POST", path.replace("trees", "NAME")
        (line,) = [
            one for one in page.splitlines() if f"| `{method} {API}/studies{address}` |" in one
        ]
        cells = dict(zip(CALLERS, (cell.strip() for cell in line.split("|")[2:-1]), strict=True))
        assert cells["no token"] == "–"
        allowed = {who for who, cell in cells.items() if cell != "–"}
        assert allowed == roles, line


def test_the_table_misses_no_address(client: TestClient) -> None:
    found = {path for _, path in routes_of(client.app)}  # type: ignore[arg-type]
    assert {"/login", "/session", "/rate/{name}/answer", f"{API}/studies/{{name}}/events"} <= found
    assert len(found) >= 33
    assert {f"{API}{path}" for path in ("/health", "/openapi.json")} <= found
