"""What is refused before anything else, and what every answer carries."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from standout.service.security.guard import POLICY
from standout.service.security.limits import Buckets
from standout.service.settings import Settings
from tests.patience import until
from tests.service.conftest import API, BASE, Connect, bearer, begin, new_token


def code(answer: object) -> str:
    return str(answer.json()["error"]["code"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::2]", "a:b:c"])
def test_foreign_names_for_this_machine(client: TestClient, host: str) -> None:
    answer = client.get(f"{API}/studies", headers={"Host": host})
    assert (answer.status_code, code(answer)) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:80"])
def test_its_own_names(client: TestClient, host: str) -> None:
    assert client.get(f"{API}/studies", headers={"Host": host}).status_code == 200


def test_names_that_were_allowed(connect: Connect, file: str) -> None:
    client = connect(file, allow_hosts=("Study.example",))
    for host in ("study.example", "STUDY.example:443", "localhost"):
        assert client.get(f"{API}/studies", headers={"Host": host}).status_code == 200
    assert client.get(f"{API}/studies", headers={"Host": "other"}).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9"}, 403),
        ({"Origin": "http://127.0.0.1:x"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": BASE}, 200),
        ({"Origin": BASE, "Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_other_sites_change_nothing(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    url = begin(client)
    assert client.post(f"{url}/ask", json={}, headers=headers).status_code == status
    assert client.get(url).json()["pending"] == (status == 200)


def test_a_form_of_another_site_is_not_json(client: TestClient) -> None:
    url = begin(client)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.post(f"{url}/ask", content=b'{"n": 1}', headers={"Content-Type": kind})
        assert (answer.status_code, code(answer)) == (415, "unsupported_media_type")


def test_every_answer_has_the_headers(client: TestClient) -> None:
    url = begin(client)
    answers = [
        client.get(url),
        client.get(f"{API}/studies/none"),
        client.get("/nowhere"),
        client.put(url),
        client.post(f"{url}/ask", content=b"{", headers={"Content-Type": "application/json"}),
        client.get(url, headers={"Host": "evil.example"}),
        client.get(f"{url}/export"),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 404, 405, 422, 421, 200]
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert "frame-ancestors 'none'" in POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error"}
            assert set(answer.json()["error"]) <= {"code", "message", "detail"}
    assert answers[3].headers["allow"] == "GET"


def test_errors_of_our_own_say_nothing(
    connect: Connect, file: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect(file)
    url = begin(client)
    monkeypatch.setattr("standout.study.study.read_status", lambda *_: 1 / 0)
    answer = client.get(url)
    assert (answer.status_code, code(answer)) == (500, "internal")
    assert "division" not in answer.text
    assert "content-security-policy" in answer.headers
    assert "ZeroDivisionError" in caplog.text


def test_where_the_studies_are_is_not_told(client: TestClient, file: str) -> None:
    begin(client)
    Path(file).parent.joinpath("moved").mkdir()
    texts = [
        client.get(f"{API}/studies/none").text,
        client.post(
            f"{API}/studies", json={"name": "trees", "arms": ["a", "b", "c"], "noise": "bernoulli"}
        ).text,
    ]
    for text in texts:
        assert str(Path(file).parent) not in text


def test_requests_that_are_too_large(connect: Connect, file: str) -> None:
    client = connect(file, largest_request=5000, largest_rater_request=500)
    url = begin(client)
    rewards = [{"arm": "ash", "reward": 0.0}] * 20
    assert client.post(f"{url}/tell", json={"rewards": rewards}).status_code == 200
    answer = client.post(f"{url}/tell", json={"rewards": rewards * 10})
    assert (answer.status_code, code(answer)) == (413, "too_large")

    def chunks() -> object:
        yield b'{"rewards": ['
        for _ in range(300):
            yield b'{"arm": "ash", "reward": 0.0},'
        yield b"]}"

    sent = {"Content-Type": "application/json"}
    answer = client.post(f"{url}/tell", content=chunks(), headers=sent)  # type: ignore[arg-type]
    assert (answer.status_code, code(answer)) == (413, "too_large")
    assert client.get(url).json()["pulls"] == 20
    # Raters send little; of whoever has no token nothing is read but a login.
    rater = bearer(new_token(file, "rater"))
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    large = {"rewards": rewards}
    assert client.post(f"{url}/tell", json=large, headers=rater).status_code == 413
    assert client.post("/login", json=large).status_code == 413
    answer = client.post(f"{url}/tell", json=large)
    assert (answer.status_code, answer.headers["connection"]) == (401, "close")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"worker": "\xff"}', 400),
        (b"{", 422),
        (b"[]", 422),
        (b"", 422),
        (b'{"n": NaN}', 422),
        (b"[" * 9_000, 400),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_read(client: TestClient, content: bytes, status: int) -> None:
    url = begin(client)
    sent = {"Content-Type": "application/json"}
    answer = client.post(f"{url}/ask", content=content, headers=sent)
    assert answer.status_code == status
    assert code(answer)


def test_raters_that_are_too_quick(connect: Connect, file: str) -> None:
    client = connect(file, rater_rate=1.0, rater_burst=3)
    begin(client)
    token = new_token(file, "rater")
    other = new_token(file, "worker")
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    url = "/rate/trees/next"
    answers = [client.post(url, json={}, headers=bearer(token)) for _ in range(5)]
    assert [answer.status_code for answer in answers][:3] == [200, 200, 200]
    assert answers[-1].status_code == 429
    assert answers[-1].headers["retry-after"] == "1"
    assert code(answers[-1]) == "too_many_requests"
    for _ in range(6):
        assert client.post(url, json={}, headers=bearer(other)).status_code == 200


def test_buckets_fill_again() -> None:
    now = 0.0
    buckets = Buckets(2.0, 4, clock=lambda: now)
    assert [buckets.take("a") for _ in range(4)] == [0.0] * 4
    assert buckets.take("a") == 0.5
    assert buckets.take("b") == 0.0
    now = 0.5
    assert buckets.take("a") == 0.0
    now = 100.0
    assert [buckets.take("a") for _ in range(5)] == [0.0] * 4 + [0.5]


def test_logging_in_keeps_the_token_from_scripts(connect: Connect, file: str) -> None:
    client = connect(file, require_token=True)
    token = new_token(file, "viewer")
    assert client.post("/login", json={"token": token[:-1]}).status_code == 401
    assert (
        client.post(
            "/login", content=b"[", headers={"Content-Type": "application/json"}
        ).status_code
        == 400
    )
    for deep in (b"[" * 9_000, b'{"token":' * 2_000):
        sent = {"Content-Type": "application/json"}
        assert client.post("/login", content=deep, headers=sent).status_code == 400
    assert client.get(f"{API}/studies").status_code == 401
    answer = client.post("/login", json={"token": token})
    assert answer.json() == {"role": "viewer", "study": None}
    cookie = answer.headers["set-cookie"]
    for part in ("standout_session=", "HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert token not in cookie
    assert token.rpartition("_")[2] not in cookie
    assert client.get(f"{API}/studies").status_code == 200
    kept = dict(client.cookies)
    assert client.post("/logout", json={}).status_code == 200
    assert client.get(f"{API}/studies").status_code == 401
    # The login itself has ended, not only this browser's memory of it.
    client.cookies.update(kept)
    assert client.get(f"{API}/studies").status_code == 401
    client.cookies.clear()
    assert client.get(f"{API}/studies", headers=bearer(token)).status_code == 200
    form = {"token": token, "next": "//evil.example"}
    answer = client.post("/login", data=form, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    client.cookies.clear()
    codes = [client.post("/login", json={"token": "x"}).status_code for _ in range(30)]
    assert codes[-1] == 429


def test_a_login_by_https_is_for_this_host_alone(connect: Connect, file: str) -> None:
    client = connect(file, require_token=True, allow_hosts=("lab.example",))
    token = new_token(file, "viewer")
    client.base_url = "https://lab.example"  # type: ignore[assignment]
    cookie = client.post("/login", json={"token": token}).headers["set-cookie"]
    assert cookie.startswith("__Host-standout_session=login_")
    assert {"Secure", "HttpOnly", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Domain" not in cookie
    assert client.get(f"{API}/studies").status_code == 200


def test_a_login_ends_with_its_token(connect: Connect, file: str) -> None:
    client = connect(file, require_token=True)
    owner, viewer = new_token(file, "owner"), new_token(file, "viewer")
    assert client.post("/login", json={"token": viewer}).status_code == 200
    assert client.get(f"{API}/studies").status_code == 200
    number = viewer.split("_")[1]
    revoked = client.post(f"{API}/tokens/{number}/revoke", json={}, headers=bearer(owner))
    assert revoked.status_code == 200
    assert client.get(f"{API}/studies").status_code == 401


def test_a_token_with_an_end(connect: Connect, file: str) -> None:
    client = connect(file, require_token=True)
    owner = bearer(new_token(file, "owner"))
    made = client.post(f"{API}/tokens", json={"role": "viewer", "lasts": 0.2}, headers=owner).json()
    assert made["made"]["expires"] - made["made"]["created"] == pytest.approx(0.2)
    until(
        lambda: client.get(f"{API}/studies", headers=bearer(made["token"])).status_code == 401,
        "the token does not end",
    )
    for wrong in (0, -1, 1e12, "1"):
        body = {"role": "viewer", "lasts": wrong}
        assert client.post(f"{API}/tokens", json=body, headers=owner).status_code == 422


def test_open_only_here_and_only_without_tokens(connect: Connect, file: str) -> None:
    client = connect(file)
    url = f"{API}/studies"
    assert client.get(url).status_code == 200
    # What a proxy passes on comes from elsewhere.
    for header in ("X-Forwarded-For", "Forwarded"):
        assert client.get(url, headers={header: "for=192.0.2.7"}).status_code == 401
    new_token(file, "owner")
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    assert client.get(url).status_code == 401
    beyond = connect(str(Path(file).with_name("other.db")), host="0.0.0.0")
    assert beyond.get(url).status_code == 401


def test_which_addresses_are_this_machine() -> None:
    here = ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"]
    assert [Settings(host).is_loopback for host in here] == [True] * 5
    assert not any(
        Settings(host).is_loopback for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "")
    )
    assert not Settings(require_token=True).may_be_open


def test_no_secret_in_a_log(connect: Connect, file: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="standout")
    client = connect(file)
    token = new_token(file, "owner")
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]
    client.post("/login", json={"token": token})
    client.get(f"{API}/studies?token={token}", headers=bearer(token))
    client.get(f"{API}/studies", headers={"Authorization": f"Basic {token}"})
    client.get(f"{API}/studies/{'x' * 10}", headers=bearer(token + "x"))
    client.post(f"{API}/studies", json={"token": token}, headers=bearer(token))
    assert "/api/v1/studies 200" in caplog.text
    assert "POST /login 200" in caplog.text
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("httpx")]
    assert token not in "".join(ours)
    assert token.rpartition("_")[2] not in "".join(ours)
