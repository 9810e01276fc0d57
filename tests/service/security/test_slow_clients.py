"""Clients that open connections and send next to nothing, bounded in number, on 127.0.0.1."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from standout.service.security.connections import Room, most_connections
from standout.service.server import AT_ONCE, EVERY, Sparing
from tests.patience import HANGS
from tests.service.conftest import new_token
from tests.service.live import program, serving

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


@pytest.mark.parametrize("sent", [b"", b"G", HEAD, POST])
def test_the_longest_to_wait_makes_room(file: str, sent: bytes) -> None:
    """No time-out helps here: they are hours away."""
    with (
        ExitStack() as stack,
        serving(file, most_connections=20, header_seconds=1e4, body_seconds=1e4) as url,
    ):
        slow = [stack.enter_context(closing(connect(url, sent))) for _ in range(70)]
        assert health(url) == 200
        deadline = time.monotonic() + HANGS
        while sum(map(is_closed, slow)) < 50 and time.monotonic() < deadline:
            time.sleep(0.05)
        gone = [is_closed(one) for one in slow]
        # The oldest are gone, the newest are there: refused are those who dawdle longest.
        assert gone[:50] == [True] * 50
        assert sum(gone[50:]) <= 2
        assert health(url) == 200


def test_headers_must_come_in_time(file: str) -> None:
    with serving(file, header_seconds=1.0) as url:
        for sent in (b"", HEAD):
            # Returns when the server hangs up; the socket's own time-out fails the test.
            with closing(connect(url, sent)) as slow, suppress(ConnectionResetError):
                assert slow.recv(100) == b""
        # A second request on a connection has no more time than the first.
        whole = HEAD + b"\r\n\r\n"
        with closing(connect(url, whole)) as slow:
            assert b"200 OK" in slow.recv(20_000)
            slow.sendall(HEAD)
            with suppress(ConnectionResetError):
                while slow.recv(20_000):
                    pass
        assert health(url) == 200


@pytest.mark.parametrize(
    "begin",
    [HEAD, b"GET /" + b"x" * 10, POST[: POST.index(b"Content-Length")] + b"X: "],
    ids=["header", "address", "of a post"],
)
def test_headers_have_an_end(file: str, begin: bytes) -> None:
    """By their length: no time-out helps here."""
    with serving(file, header_seconds=1e4) as url:
        with closing(connect(url, begin)) as endless, suppress(ConnectionError):
            for _ in range(10_000):
                endless.sendall(b"x" * 10_000)
            pytest.fail("100 MB of headers were taken")
        assert health(url) == 200


@pytest.mark.parametrize("part", [b"x" * 10_000, b"x: y\r\n" * 2_000], ids=["one", "many"])
def test_what_follows_a_body_has_an_end_and_is_no_header(file: str, part: bytes) -> None:
    chunked = (
        b"POST /api/v1/studies/none/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        b'8\r\n{"n": 1}\r\n0\r\n'
    )
    with serving(file, header_seconds=1e4, body_seconds=1e4) as url:
        with closing(connect(url, chunked + b"Host: elsewhere\r\n\r\n")) as made:
            answer = http.client.HTTPResponse(made)
            answer.begin()
            assert answer.status == 404  # Not 421: its name is that of its headers.
        with closing(connect(url, chunked + b"x: ")) as endless, suppress(ConnectionError):
            for _ in range(10_000):
                endless.sendall(part)
            pytest.fail("100 MB of trailers were taken")
        assert health(url) == 200


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
        serving(file, header_seconds=1.0, body_seconds=1.0, event_seconds=0.05) as url,
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


@pytest.mark.parametrize("sent", [HEAD, POST])
def test_with_few_files_others_get_in_and_the_log_stays_small(
    folder: Path, file: str, sent: bytes
) -> None:
    """300 connections without a token to a server that may open 400 files."""
    new_token(file, "owner")
    with program(folder, file, files=400) as running, ExitStack() as stack:
        assert health(running.url) == 200
        for _ in range(300):
            stack.enter_context(closing(connect(running.url, sent)))
        assert health(running.url) == 200
        stack.close()
        assert health(running.url) == 200
        said = running.output
    assert "out of system resource" not in said
    assert "Traceback" not in said
    assert len(said) < 300_000


def test_a_message_is_not_repeated_for_ever() -> None:
    now = 0.0
    sparing = Sparing(lambda: now)

    def told(name: str, text: str, *values: object) -> str | None:
        record = logging.LogRecord(name, logging.WARNING, "x", 1, text, values, None)
        return record.getMessage() if sparing.filter(record) else None

    found = [told("uvicorn.error", "bad request %d", k) for k in range(1000)]
    assert found == [f"bad request {k}" if k < AT_ONCE else None for k in range(1000)]
    assert told("uvicorn.error", "another") == "another"
    assert all(told("standout.access", "GET") for _ in range(1000))
    now = EVERY
    again = told("uvicorn.error", "bad request %d", 7)
    assert again == f"bad request 7 ({1000 - AT_ONCE} more like this were left out)"
    for k in range(10_000):
        told("x", f"kind {k}")
    assert len(sparing._kinds) <= 500


def test_what_a_client_does_again_and_again_is_logged_some_times(folder: Path, file: str) -> None:
    with program(folder, file) as running:
        for _ in range(300):
            with closing(connect(running.url, b"no request\r\n\r\n")) as made:
                while made.recv(10_000):
                    pass
        count = running.output.count("Invalid HTTP request")
    # Ten a minute, and that does not take ten minutes.
    assert 0 < count <= 10 * AT_ONCE


def test_no_more_connections_than_files() -> None:
    assert most_connections(50) == 50
    assert most_connections(10**9) < 10**9


def test_room_is_made_by_those_who_wait() -> None:
    class One:
        def __init__(self) -> None:
            self.transport = self
            self.is_gone = False

        def abort(self) -> None:
            self.is_gone = True

    room, ones = Room(2, 1.0), [One() for _ in range(4)]
    room.waiting = dict.fromkeys(ones[:2])
    assert room.make(ones[2], 2)
    assert not any(one.is_gone for one in ones)
    assert room.make(ones[2], 3)
    assert [one.is_gone for one in ones] == [True, False, False, False]
    room.waiting = {ones[3]: None}
    assert not room.make(ones[3], 3)
