"""What a server remembers does not grow with what it is asked."""

from __future__ import annotations

import asyncio
import json
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from standout.service import open_studies
from standout.service.open_studies import Recent
from standout.service.service import LOOKING, PIECE, Queues, to_json
from standout.study import Study, backup
from tests.patience import HANGS
from tests.service.conftest import API, begin


def entries(client: TestClient) -> dict[str, int]:
    """The sizes of everything that is kept by name."""
    service: Any = client.app.state.service  # type: ignore[attr-defined]
    kept = {
        "lines": service.queues._lines,
        "limits": service.queues._limits,
        "shared": service.queues._shared,
        "tasks": service.queues._tasks,
        "pairs": service.studies._pairs,
        "channels": service.hub._channels,
        "reports": service.cache.reports,
        "forecasts": service.cache.forecasts,
        "images": service.cache.images,
        "raters": service.cache.raters,
    }
    return {name: len(found) for name, found in kept.items()}


def test_invented_names_leave_nothing_behind(client: TestClient) -> None:
    begin(client)
    before = entries(client)
    bodies = {
        "ask": {"n": 1},
        "tell": {"rewards": [{"arm": "ash", "reward": 0.5}]},
        "fail": {"ticket": 1},
        "renew": {"tickets": [1]},
        "release": {"tickets": [1]},
        "pause": {"arm": "ash"},
        "resume": {"arm": "ash"},
    }
    looks = ("", "/view", "/view?since=3", "/events", "/report", "/forecast", "/export", "/pending")
    for number in range(20):
        path = f"{API}/studies/invented-{number}"
        for name, body in bodies.items():
            assert client.post(f"{path}/{name}", json=body).status_code == 404
        for name in looks:
            assert client.get(f"{path}{name}").status_code == 404
        client.get(f"/rate/invented-{number}")
        client.post(f"/rate/invented-{number}/next", json={})
    assert entries(client) == before


def test_reports_of_many_studies_are_not_all_kept(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standout.report.page.render_report", lambda study, **_: study.name)
    for number in range(2 * open_studies.MOST_REPORTS):
        path = begin(client, f"study {number}")
        for _ in range(2):
            assert client.get(f"{path}/report").text == f"study {number}"
            assert client.get(f"{path}/forecast").status_code == 200
    assert entries(client)["reports"] == open_studies.MOST_REPORTS


def test_a_restored_file_that_goes_on_otherwise_has_its_own_report(
    client: TestClient, file: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After as many changes as before, but not the same ones."""
    monkeypatch.setattr(
        "standout.report.page.render_report",
        lambda study, **_: str(study.history()["reward"].tolist()),
    )
    path = begin(client, "main")
    with Study.open(file) as study:
        study.tell_many([("ash", 0.25)])
    backup(file, folder / "copy.db")
    with Study.open(file) as study:
        study.tell_many([("ash", 0.5)])
        seq = study.pulse().seq
    assert client.get(f"{path}/report").text == "[0.25, 0.5]"
    for ending in ("-wal", "-shm"):
        Path(file + ending).unlink(missing_ok=True)
    os.replace(folder / "copy.db", file)
    with Study.open(file) as study:
        study.tell_many([("ash", 0.75)])
        assert study.pulse().seq == seq
    assert client.get(f"{path}/report").text == "[0.25, 0.75]"


def test_recent_in_threads() -> None:
    kept = Recent[int, int](most=10)

    def use(begin: int) -> None:
        for number in range(begin, begin + 2000):
            kept[number % 50] = number
            assert kept.get(number % 50, 0) is not None

    threads = [threading.Thread(target=use, args=(7 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == 10


def test_long_lists_are_the_same_json() -> None:
    for count in (0, 1, PIECE, PIECE + 1, 3 * PIECE + 7):
        content = {
            "a": list(range(count)),
            'b"': [f"n\u2028ame {i} \U0001f600" for i in range(count)],
            "c": None,
            "d": [[i, None] for i in range(count)],
            "reason": "half \ud800 pair",
        }
        plain = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        assert to_json(content) == plain.encode("utf-8", "replace")
    with pytest.raises(ValueError, match="Out of range"):
        to_json({"a": [math.nan] * 2 * PIECE})


def test_the_same_look_is_shared_only_before_it_begins() -> None:
    """Whoever asks while it is being made gets another: it may be too old for it."""
    made: list[str] = []
    gate = threading.Event()

    def make(text: str) -> bytes:
        made.append(text)
        gate.wait(HANGS)
        return text.encode()

    async def scene() -> None:
        threads = Queues()
        blocked = [
            asyncio.create_task(threads.share((f"other {n}", None), lambda: make("other")))
            for n in range(LOOKING)
        ]
        while len(made) < LOOKING:
            await asyncio.sleep(0.001)
        early = [
            asyncio.create_task(threads.share(("study", 1), lambda n=n: make(f"early {n}")))
            for n in range(8)
        ]
        await asyncio.sleep(0.01)
        early[0].cancel()  # Whoever leaves does not take the others' answer along.
        gate.set()
        answers = await asyncio.gather(*early, return_exceptions=True)
        assert answers[1:] == [b"early 0"] * 7
        await asyncio.gather(*blocked)
        assert await threads.share(("study", 1), lambda: make("late")) == b"late"
        assert threads._shared == {}

    # In a thread of its own: a browser's loop may be running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, scene()).result()
    assert made == ["other"] * LOOKING + ["early 0", "late"]


def test_measuring_does_not_wait_for_those_who_look(client: TestClient) -> None:
    """With every place for looking taken, tickets are still handed out and told."""
    path = begin(client)
    service: Any = client.app.state.service  # type: ignore[attr-defined]
    gate = threading.Event()
    begun = threading.Semaphore(0)

    def block() -> None:
        begun.release()
        if not gate.wait(HANGS):
            waited.append(1)
            gate.set()

    waited: list[int] = []
    loop = client.portal
    assert loop is not None
    looks = [loop.start_task_soon(service.queues.look, block) for _ in range(3 * LOOKING)]
    try:
        for _ in range(LOOKING):
            begun.acquire()
        service.gate.forget()
        ticket = client.post(f"{path}/ask", json={"n": 1, "items": True}).json()["tickets"][0]
        told = {"rewards": [{"ticket": ticket["ticket"], "reward": 0.5}], "ask": 1}
        assert client.post(f"{path}/tell", json=told).json()["counted"] == 1
        assert client.get(f"{API}/health").status_code == 200
        assert waited == []
    finally:
        gate.set()
        for one in looks:
            one.result()


def test_a_long_look_keeps_nobody_from_telling(client: TestClient) -> None:
    """Whoever looks has a handle of its own, and so a lock and a connection."""
    path = begin(client)
    service: Any = client.app.state.service  # type: ignore[attr-defined]
    gate, begun = threading.Event(), threading.Event()

    def look() -> bool:
        with service.studies.reader("trees").memory.reading():
            begun.set()
            return gate.wait(HANGS)

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        assert begun.wait(HANGS)
        told = client.post(f"{path}/tell", json={"rewards": [{"arm": "ash", "reward": 0.5}]})
        is_over = looking.done()
        gate.set()
    assert (told.json()["counted"], is_over) == (1, False)
