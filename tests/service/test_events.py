"""Server-sent events."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from standout.study import Study
from standout.study.storage.store import open_store
from standout.study.storage.tokens import revoke, split
from tests.patience import HANGS, until
from tests.service.conftest import ARMS, new_token
from tests.service.live import serving
from tests.study.test_conformance import MEANS, finish, make


@contextmanager
def listen(
    url: str, token: str | None = None, name: str = "main"
) -> Iterator[http.client.HTTPResponse]:
    """A stream of events."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HANGS)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection.request("GET", f"/api/v1/studies/{name}/events", headers=headers)
        with connection.getresponse() as response:
            yield response
    finally:
        connection.close()


def changes(stream: http.client.HTTPResponse) -> Iterator[dict[str, object]]:
    """The events as they come."""
    is_change = False
    while line := stream.readline():
        if line.startswith(b"event:"):
            is_change = line == b"event: change\n"
        elif line.startswith(b"data:") and is_change:
            yield json.loads(line[5:])


def test_changes_are_heard_whoever_made_them(place: str) -> None:
    """The study is changed by this process, not by the server."""
    with (
        make(place) as study,
        serving(place, event_seconds=0.05) as url,
        listen(url) as first,
        listen(url) as second,
    ):
        assert first.headers["content-type"].startswith("text/event-stream")
        assert first.headers["cache-control"] == "no-store"
        streams = [changes(first), changes(second)]
        wanted = {"pulls": 0, "undecided": 5, "stopped": False}
        assert [next(s).items() >= wanted.items() for s in streams] == [True, True]
        study.tell_many([(arm, MEANS[arm]) for arm in ARMS])
        for stream in streams:
            event = next(stream)
            assert event["pulls"] == 5
            assert event["seq"] == study.pulse().seq
        finish(study)
        assert next(e for e in streams[0] if e["stopped"])["undecided"] == 0


def test_no_more_than_some_a_second(folder: Path) -> None:
    """While it never stops changing: one every 0.2 s, and they keep coming."""
    place = str(folder / "x.db")
    ended = threading.Event()

    def tell() -> None:
        with Study.open(place) as study:
            while not ended.wait(0.01):
                study.tell(arm="ash", reward=0.0)

    make(place).close()
    with serving(place, event_seconds=0.2) as url, listen(url) as response:
        stream = changes(response)
        next(stream)
        teller = threading.Thread(target=tell)
        begin = time.monotonic()
        teller.start()
        try:
            seen = [next(stream)["seq"] for _ in range(5)]
        finally:
            ended.set()
            teller.join()
        # A busy machine only makes it take longer.
        assert time.monotonic() - begin >= 4 * 0.2
        assert seen == sorted(set(seen))


def test_silence_is_broken_and_revoked_tokens_hear_no_more(folder: Path) -> None:
    place = str(folder / "x.db")
    make(place).close()
    token = new_token(place, "viewer")
    with serving(place, require_token=True, heartbeat_seconds=0.3) as url:
        with listen(url, token) as stream:
            lines = [stream.readline() for _ in range(8)]
            assert b": still here\n" in lines
            storage = open_store(place)
            parts = split(token)
            assert parts is not None
            revoke(storage, parts[0])
            storage.close()
            while stream.readline():  # Ends; if it never did, the socket's own time-out would.
                pass
        for wrong in (token, None):
            with listen(url, wrong) as refused:
                assert refused.status == 401


def test_one_poller_however_many_listen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(folder / "x.db")
    make(place).close()
    looks = 0
    pulse = Study.pulse

    def counted(study: Study) -> object:
        nonlocal looks
        looks += 1
        return pulse(study)

    monkeypatch.setattr(Study, "pulse", counted)
    with serving(place, event_seconds=0.1) as url:
        with ExitStack() as stack:
            for _ in range(10):
                next(changes(stack.enter_context(listen(url))))
            before, begin = looks, time.monotonic()
            time.sleep(1.0)
            assert looks - before <= (time.monotonic() - begin) / 0.1 + 2

        def is_quiet() -> bool:
            before = looks
            time.sleep(0.5)
            return looks == before

        until(is_quiet, "it looks although nobody listens any more")
        with listen(url, name="none") as missing:
            assert missing.status == 404


def test_one_token_does_not_take_all_streams(folder: Path) -> None:
    place = str(folder / "x.db")
    make(place).close()
    one, other = new_token(place, "viewer"), new_token(place, "viewer")
    with serving(place, streams_per_token=3) as url, ExitStack() as stack:
        for _ in range(3):
            next(changes(stack.enter_context(listen(url, one))))
        assert stack.enter_context(listen(url, one)).status == 429
        assert stack.enter_context(listen(url, other)).status == 200
