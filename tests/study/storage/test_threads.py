"""Threads that use a database when the program ends, forks, or is sent a signal."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from standout import Problem, Study
from standout.errors import StorageError
from standout.service.open_studies import OpenStudies
from standout.study.storage import database
from standout.study.storage.database import Storage
from tests.patience import HANGS
from tests.study.processes import in_child

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


@contextmanager
def in_use(study: Study) -> Iterator[None]:
    """A thread is amid a transaction, and stays there until the block ends."""
    is_in_use, is_over = threading.Event(), threading.Event()

    def use() -> None:
        with study._reading() as (connection, _):
            is_in_use.set()
            is_over.wait(HANGS)
            assert connection.execute("SELECT 1") == [(1,)]

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    assert is_in_use.wait(HANGS)
    try:
        yield
    finally:
        is_over.set()
        thread.join(HANGS)


def create(place: str | Path, patience: float = 60.0) -> Study:
    return Study.create(place, ["ash", "elm", "fir"], Problem(noise="bernoulli"), patience=patience)


def test_what_is_in_use_for_long_is_left_open(place: str) -> None:
    study = create(place)
    with in_use(study):
        study._storage.close_within(0.01)
        assert study._storage._connection is not None
    study._storage.close_within(0.01)
    assert study._storage._connection is None
    study.close()


def test_threads_may_open_others_at_the_end(folder: Path) -> None:
    """A set of what is open changed while it was gone through, and nothing was closed."""
    place, is_over = folder / "study.db", threading.Event()
    create(place).close()
    pause = sys.getswitchinterval()

    def work() -> None:
        while not is_over.is_set():
            Storage(place)  # Gone at once.

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    try:
        sys.setswitchinterval(1e-6)
        for thread in threads:
            thread.start()
        for _ in range(500):
            database._opened()
    finally:
        is_over.set()
        sys.setswitchinterval(pause)
        for thread in threads:
            thread.join(HANGS)
    database._close_all()


def test_whoever_closes_or_forgets_a_study_takes_it_from_nobody(place: str) -> None:
    """Handles are shared, closed, dropped and collected while threads are inside of them."""
    create(place).close()
    shared, opened = Study.open(place), OpenStudies(place)
    told, is_over = [0] * 4, threading.Event()

    def work(number: int) -> None:
        for _ in range(30):
            study = shared if number % 2 else opened.writer("main")
            study.tell(arm="ash", reward=1.0)
            told[number] += 1
            opened.reader("main").status()

    def disturb() -> None:
        while not is_over.is_set():
            shared.close()
            opened.forget("main")
            gc.collect(0)  # All of it would stop the others for a second, again and again.
            is_over.wait(0.001)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    other = threading.Thread(target=disturb, daemon=True)
    for thread in (*threads, other):
        thread.start()
    for thread in threads:
        thread.join(HANGS)
    is_over.set()
    other.join(HANGS)
    opened.close()
    assert told == [30] * 4
    assert (shared.status().pulls, shared.verify().problems) == (120, ())
    shared.close()


# Forks ----------------------------------------------------------------------------


@pytest.mark.parametrize("is_inherited", [True, False])
def test_a_parent_leaves_a_file_to_its_children(place: str, is_inherited: bool) -> None:
    """SQLite held the parent's locks for the child's, and let the parent take the log away."""
    study = create(place)
    study.tell(arm="ash", reward=1.0)
    begun, gone = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(gone[1])
            mine = study if is_inherited else Study.open(place)
            mine.tell(arm="elm", reward=1.0)
            os.write(begun[1], b"!")
            os.read(gone[0], 1)
            for _ in range(3):
                mine.tell(arm="fir", reward=1.0)
            assert mine._inbox is None or mine._inbox[1].shunned_until == 0.0  # Nobody was missed.
            mine.close()
            code = 0
        finally:
            os._exit(code)
    os.close(begun[1])
    assert os.read(begun[0], 1) == b"!"
    study.close()
    os.close(gone[1])
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for number in (begun[0], gone[0]):
        os.close(number)
    with Study.open(place) as after:
        assert (after.status().pulls, after.verify().problems) == (5, ())
    assert not Path(place).exists() or not Path(f"{place}-wal").exists()


def test_a_fork_amid_a_transaction_of_another_thread(place: str) -> None:
    """The thread's lock, its connection and what it had half read were there for ever."""
    study = create(place, patience=0.01)
    with in_use(study):

        def use() -> None:
            assert study._lock.acquire(blocking=False)
            study._lock.release()
            if study._storage.is_sqlite:
                for attempt in (study.status, lambda: Study.open(place)):
                    with pytest.raises(StorageError, match="when this process was forked"):
                        attempt()
            else:
                study.tell(arm="ash", reward=1.0)

        in_child(use)
    assert study.verify().problems == ()
    study.close()


def test_a_fork_waits_for_threads(folder: Path) -> None:
    """Whatever moment of the others it falls on, the child can go on, and so can they."""
    study, is_over, told = create(folder / "study.db"), threading.Event(), [0, 0]

    def work(number: int) -> None:
        while not is_over.is_set():
            study.tell(arm="ash", reward=1.0)
            told[number] += 1

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(2)]
    for thread in threads:
        thread.start()

    def tell_in_child() -> None:
        study.tell(arm="elm", reward=1.0)
        study.close()

    try:
        for _ in range(10):
            in_child(tell_in_child)
    finally:
        is_over.set()
        for thread in threads:
            thread.join(HANGS)
    assert (study.status().pulls, study.verify().problems) == (sum(told) + 10, ())
    study.close()


# Signals --------------------------------------------------------------------------


class Struck(Exception):
    """As raised by a signal's handler that is not put off, between any two steps."""


def strike(call: Callable[[], object], at: int) -> bool:
    """Raise when for the `at`-th time a function begins or C code returns; whether it got so far.

    That is where Python heeds signals.
    """
    count = 0

    def hear(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event in ("call", "c_return")
        if count == at:
            sys.setprofile(None)
            raise Struck

    sys.setprofile(hear)
    try:
        call()
    except Struck:
        return True
    finally:
        sys.setprofile(None)
    return count >= at


def is_free(study: Study) -> bool:
    """Whether another thread could have its turn."""
    turn = study._storage.turn
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: turn.acquire(blocking=False) and not turn.release()).result()


def strike_everywhere(place: Path) -> None:
    study = create(place)

    def tell() -> None:
        study.tell_many([("ash", 1.0), ("elm", 0.0)])

    for _ in range(50):  # The kernels are loaded by then, which nothing may interrupt.
        tell()
        study._stored.forget()
    at = 1
    while strike(tell, at):
        assert is_free(study), at
        tell()
        at += 1
    assert at > 300, "it was struck too seldom to mean something"
    assert study.verify().problems == ()
    study.close()


def test_no_signal_keeps_a_turn(folder: Path) -> None:
    """One that struck when a thread had just got its turn kept all others out.

    And one that struck when a transaction had just begun left it open.
    """
    in_child(lambda: strike_everywhere(folder / "study.db"))
