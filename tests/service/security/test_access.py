"""Who is let in: after the last token was revoked, by a header, from an evil folder."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

import standout as standout_package
from standout.service.security.auth import FRESH
from standout.study.storage.store import open_store
from standout.study.storage.tokens import revoke, split
from tests.patience import HANGS
from tests.service.conftest import API, Connect, bearer, new_token
from tests.service.live import serving
from tests.service.test_events import listen
from tests.study.cli import standout
from tests.study.test_conformance import make


def end(place: str, token: str) -> None:
    """Revoke a token, given its text."""
    parts = split(token)
    assert parts is not None
    storage = open_store(place)
    revoke(storage, parts[0])
    storage.close()


def forget(client: TestClient) -> None:
    """Let the service read the tokens anew."""
    client.app.state.service.gate.forget()  # type: ignore[attr-defined]


def test_revoking_the_last_token_lets_nobody_in(connect: Connect, place: str) -> None:
    client = connect(place)
    assert client.get("/session").json()["role"] == "owner"
    tokens = [new_token(place, role) for role in ("owner", "viewer")]
    forget(client)
    assert client.get("/session").json()["role"] is None
    for token in tokens:
        end(place, token)
        forget(client)
        assert client.get("/session").json()["role"] is None
        assert client.get(f"{API}/studies").status_code == 401
    # A server that starts afterwards knows no better times.
    assert connect(place).get("/session").json()["role"] is None
    new = bearer(new_token(place, "owner"))
    forget(client)
    assert client.get("/session", headers=new).json()["role"] == "owner"


def test_the_command_line_says_how_to_get_in_again(file: str) -> None:
    owner, viewer = new_token(file, "owner"), new_token(file, "viewer")
    first = standout("token", "revoke", file, owner.split("_")[1])
    assert "no owner's token for every study is left" in first.err
    assert "standout token create PATH --role owner" in first.err
    last = standout("token", "revoke", file, viewer.split("_")[1])
    assert "that was the last token" in last.err
    assert "standout token create PATH --role owner" in last.err
    refused = standout("serve", file, "--new", "--host", "0.0.0.0")
    assert (refused.code, "there is no token" in refused.err) == (2, True)


TRAPPED = """
import standout.simulation.workers as workers
workers._WORTH_A_POOL = 0.0
from standout.cli.main import main
if __name__ == "__main__":
    main()
"""


def test_a_pool_imports_nothing_from_the_current_folder(folder: Path) -> None:
    trap, sprung, script = folder / "trap", folder / "sprung", folder / "script.py"
    trap.mkdir()
    for evil in ("multiprocessing", "signal", "concurrent"):
        (trap / f"{evil}.py").write_text(f"open({str(sprung)!r}, 'w').close()\n")
    script.write_text(TRAPPED)
    words = ["simulate", "fig1:gap=1", "--runs", "8", "--jobs", "2", "--json"]
    done = subprocess.run(
        [sys.executable, str(script), *words],
        cwd=trap, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(standout_package.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not sprung.exists()


def test_a_stream_ends_with_its_token(place: str) -> None:
    """Without any news, and long before a heartbeat."""
    viewer = new_token(place, "viewer")
    with (
        make(place),
        serving(place, require_token=True, heartbeat_seconds=3600.0) as url,
        listen(url, viewer) as stream,
    ):
        while stream.readline() != b"event: change\n":
            pass
        end(place, viewer)
        # The connection's own time-out of 10 s fails the test if the stream goes on in silence.
        while stream.readline():
            pass
    assert 2 * FRESH <= 1.0


def login_until_refused(url: str, most: int, header: str | None) -> int:
    """How many wrong logins are looked at before one is sent away."""
    for count in range(most):
        address = f"10.0.{count // 250}.{count % 250}"
        status, _ = login(url, "x", {} if header is None else {header: address})
        if status == 429:
            return count
        assert status == 401
    return most


def login(url: str, token: str, headers: dict[str, str]) -> tuple[int, str]:
    """Log in over a connection of its own; the status, and the cookie that is set."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=HANGS)) as connection:
        sent = {"Content-Type": "application/json", **headers}
        connection.request("POST", "/login", body=json.dumps({"token": token}), headers=sent)
        with connection.getresponse() as answer:
            return answer.status, answer.headers["set-cookie"] or ""


@pytest.mark.parametrize("header", [None, "X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_a_header_does_not_dodge_the_limit_of_logins(file: str, header: str | None) -> None:
    # The bucket holds 20 and gains one in two seconds: 300 at once would take 9 minutes.
    with serving(file) as url:
        assert login_until_refused(url, 300, header) < 300


def test_a_proxy_that_is_named_is_believed(file: str) -> None:
    with serving(file, proxies=("127.0.0.1",)) as url:
        assert login_until_refused(url, 60, "X-Forwarded-For") == 60
    with serving(file, proxies=("10.9.9.9",)) as url:
        assert login_until_refused(url, 300, "X-Forwarded-For") < 300


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",)])
def test_a_secure_cookie_is_for_a_proxy_to_ask(file: str, proxies: tuple[str, ...]) -> None:
    token = new_token(file, "owner")
    with serving(file, proxies=proxies) as url:
        status, cookie = login(url, token, {"X-Forwarded-Proto": "https"})
    assert status == 200
    assert ("secure" in cookie.lower()) == bool(proxies)


def test_a_proxy_must_be_an_address(file: str) -> None:
    refused = standout("serve", file, "--proxy", "lab.example")
    assert (refused.code, "is not an IP address" in refused.err) == (2, True)
