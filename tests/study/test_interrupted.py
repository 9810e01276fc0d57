"""A worker that is told to end, at whichever moment: what it has under way goes back at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

import pytest

from standout import Problem
from standout.driver.worker import EndedError, Worker
from standout.errors import NoStudyError
from standout.retries import Patience
from standout.study import Study
from tests.patience import HANGS
from tests.study.processes import in_child


class Ended(BaseException):
    """As raised by a signal's handler, between any two calls."""


def interrupted(call: Callable[[], object], at: int, times: int = 1) -> bool:
    """Run `call`, with a signal in its `at`-th call of a Python function; whether it got so far.

    Twice: the first is put off while a database is used, a second one is not.
    """
    count = 0

    def count_calls(frame: FrameType, event: str, value: Any) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if at <= count < at + times:
                signal.raise_signal(signal.SIGINT)

    def end(*_: Any) -> None:
        sys.setprofile(None)
        raise Ended

    before = signal.signal(signal.SIGINT, end)
    sys.setprofile(count_calls)
    try:
        call()
    except Ended:
        pass
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    return count >= at


def goes_back_at(folder: Path, what: str, at: int, times: int) -> bool:
    """Interrupt at that moment and look at what is left; whether it was still under way then."""
    place = folder / f"{what} {at} {times}.db"
    study = Study.create(place, list("abcde"), Problem(noise="gaussian:9"), budget=150)
    study.tell_many([(ticket, 1.0) for ticket in study.ask(5)])
    worker = Worker(study, float, float, None, 3)
    mine = study.ask(3, worker=worker.name, lease=60)
    calls = {
        "ask": lambda: study.ask(2, worker=worker.name, lease=60),
        "tell": lambda: study.tell_many([(mine[0], 1.0)], worker=worker.name),
    }
    was_interrupted = interrupted(calls[what], at, times)
    worker._give_back()
    study.close()
    with Study.open(place) as after:
        status = after.status()
        assert status.expired == status.pending, at
        assert after.verify().problems == (), at
    return was_interrupted


def try_all(folder: Path, what: str, times: int) -> None:
    """Every third moment until it is through."""
    moments = range(1, 1000, 3)
    last = next(at for at in moments if not goes_back_at(folder, what, at, times))
    assert last > 50, "it was interrupted too seldom to mean something"


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("what", ["ask", "tell"])
def test_what_it_has_goes_back(folder: Path, what: str, times: int) -> None:
    """A transaction that was left open made one of 300 keep its tickets.

    In a process of its own: what an interruption leaves locked there harms no other test.
    """
    in_child(lambda: try_all(folder, what, times))


def is_made_or_not(folder: Path, at: int) -> bool:
    """Interrupt the making of a study; whether it was still under way then."""
    place = folder / f"create {at}.db"

    def create() -> Study:
        return Study.create(place, list("abcde"), Problem(noise="gaussian:9"))

    was_interrupted = interrupted(create, at)
    try:
        study = Study.open(place)
    except NoStudyError:
        study = create()
    with study:
        assert study.verify().problems == (), at
    return was_interrupted


def try_creating(folder: Path) -> None:
    """Every seventh moment until it is through."""
    last = next(at for at in range(1, 10_000, 7) if not is_made_or_not(folder, at))
    assert last > 500, "it was interrupted too seldom to mean something"


def test_a_study_is_made_or_not(folder: Path) -> None:
    """Interrupted at whichever moment it says so, and not that a database is closed."""
    in_child(lambda: try_creating(folder))


def test_a_worker_that_is_told_to_end_gives_back(folder: Path) -> None:
    """At once, though what it measures takes for ever."""
    study = Study.create(folder / "x.db", list("abc"), Problem(noise="gaussian:9"), budget=150)
    under_way, may_end = Event(), Event()

    def measure(arm: str) -> float:
        under_way.set()
        may_end.wait()
        return 1.0

    with study, ThreadPoolExecutor(4) as executor:
        worker = Worker(study, float, measure, executor, 3, patience=Patience(60))
        run = executor.submit(worker.run)
        under_way.wait()
        worker.end()
        with pytest.raises(EndedError):
            run.result(HANGS)
        status = study.status()
        assert (status.pulls, status.pending) == (0, status.expired)
        may_end.set()
