"""Threads that still use a database when the program ends, or forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from standout.study.storage.database import Storage
from tests.study.conftest import folder

__all__ = ["folder"]

CLOSE_AGAIN_AND_AGAIN = """
import sys, threading
from standout import Problem, Study
from standout.study.storage import database

place = sys.argv[1]
Study.create(place, ["ash", "elm", "fir"], Problem(noise="bernoulli")).close()
studies = [Study.open(place) for _ in range(3)]
told = []

def work(study):
    while True:
        study.status()
        told.append(study.tell(arm="ash", reward=1.0))

for study in studies:
    threading.Thread(target=work, args=(study,), daemon=True).start()
for turn in range(400):
    threading.Event().wait(0.002)
    database._close_all()
print(len(told) > 0)
"""


def test_the_end_of_a_program_closes_nothing_that_is_in_use(folder: Path) -> None:
    """SQLite crashes when a connection is closed under a statement of another thread."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CLOSE_AGAIN_AND_AGAIN, folder / "study.db"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_what_is_in_use_for_long_is_left_open(folder: Path) -> None:
    storage = Storage(folder / "study.db", create=True)
    is_in_use, is_over = threading.Event(), threading.Event()

    def use() -> None:
        with storage.read() as connection:
            is_in_use.set()
            is_over.wait()
            assert connection.execute("SELECT 1") == [(1,)]

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    is_in_use.wait()
    storage.close_within(0.01)
    assert storage._connection is not None
    pid = os.fork()
    if pid == 0:
        # The thread is not here, and its turn is over.
        found = storage._turn.acquire(blocking=False)
        os._exit(0 if found else 1)
    assert os.waitpid(pid, 0)[1] == 0
    is_over.set()
    thread.join()
    storage.close_within(0.01)
    assert storage._connection is None
