"""What a process remembers: many who ask for the same at once make it work once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from standout import Problem, Study
from standout.service.open_studies import Kept, Recent, kept_or_new


def test_many_who_ask_at_once_wait_for_one(tmp_path: Path) -> None:
    kept = Recent[str, Kept[int]](4)
    are_waiting = threading.Event()
    calls: list[int] = []

    def find() -> int:
        are_waiting.wait(5)
        calls.append(1)
        return 7

    with Study.create(tmp_path / "s.db", list("abc"), Problem(noise="bernoulli")) as study:
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(kept_or_new, kept, "s", study, find) for _ in range(4)]
            are_waiting.set()
            assert [one.result() for one in asked] == [7] * 4
        assert len(calls) == 1
        study.tell(arm="a", reward=1.0)
        assert kept_or_new(kept, "s", study, lambda: 8) == 8
