"""Clients that open connections and send next to nothing, bounded in number, on 127.0.0.1."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit

import pytest

from tests.patience import HANGS, until
from tests.service.conftest import new_token
from tests.service.live import serving

HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
POST = (
    b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


def connect(url: str, sent: bytes) -> socket.socket:
    """A connection on which this much was sent."""
    parts = urlsplit(url)
    found = socket.create_connection((str(parts.hostname), parts.port or 80), HANGS)
    found.sendall(sent)
    return found


def health(url: str) -> int:
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=HANGS)) as made:
        made.request("GET", "/api/v1/health")
        with made.getresponse() as answer:
            return answer.status


def is_closed(one: socket.socket) -> bool:
    """Whether the other side has ended this connection."""
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_a_body_must_come_in_time(file: str) -> None:
    with (
        serving(file, body_seconds=0.3, slowest_body=1e12) as url,
        closing(connect(url, POST)) as slow,
    ):
        answer = http.client.HTTPResponse(slow)
        answer.begin()
        assert answer.status == 408
        assert json.loads(answer.read())["error"]["message"].startswith("the request did not")
        assert answer.headers["connection"] == "close"


def test_who_sends_too_much_hears_that(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also who listens only when all is sent: a connection that is reset then has no answer."""
    monkeypatch.setattr("standout.service.security.guard.DRAIN_SECONDS", HANGS)
    new_token(file, "owner")
    head = (
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 15000000\r\n\r\n"
    )
    with serving(file) as url, closing(connect(url, head + b" " * 15_000_000)) as made:
        answer = http.client.HTTPResponse(made)
        answer.begin()
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (413, "too_large")


def test_a_slow_answer_is_no_slow_client(file: str) -> None:
    """A stream of events outlives all time-outs: the client has sent what it had to."""
    from tests.service.test_events import listen
    from tests.study.test_conformance import make

    with (
        make(file) as study,
        serving(file, body_seconds=1.0, event_seconds=0.05) as url,
        listen(url) as stream,
    ):
        seen = 0
        while seen < 3:
            line = stream.readline()
            assert line
            if line == b"event: change\n":
                seen += 1
                time.sleep(0.6)
                study.tell(arm="ash", reward=0.1)


def test_more_connections_than_allowed_are_told_so(file: str) -> None:
    with serving(file, most_connections=20) as url:
        with ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(closing(connect(url, HEAD)))
            assert health(url) == 503
        until(lambda: health(url) == 200, "those who left still count")


def test_headers_have_an_end_where_strangers_come(file: str) -> None:
    """Beyond this machine and without a proxy; the parser in C has no such limit."""
    new_token(file, "owner")
    with (
        serving(file, host="0.0.0.0") as url,
        closing(connect(url, HEAD)) as endless,
        suppress(ConnectionError),
    ):
        for _ in range(10_000):
            endless.sendall(b"x" * 10_000)
        pytest.fail("100 MB of headers were taken")
