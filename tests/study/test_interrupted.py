"""A worker that is told to end, at whichever moment: what it has under way goes back at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from standout import Problem
from standout.study import Study
from standout.study.measuring.worker import Worker
from tests.study.processes import in_child


class Ended(BaseException):
    """As raised by a signal's handler, between any two calls."""


def interrupted(call: Callable[[], object], at: int) -> bool:
    """Run `call` and raise in its `at`-th call of a Python function; whether it got so far."""
    count = 0

    def count_calls(frame: FrameType, event: str, value: Any) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if count == at:
                sys.setprofile(None)
                raise Ended

    sys.setprofile(count_calls)
    try:
        call()
    except Ended:
        pass
    finally:
        sys.setprofile(None)
    return count >= at


def goes_back_at(folder: Path, what: str, at: int) -> bool:
    """Interrupt at that moment and look at what is left; whether it was still under way then."""
    place = folder / f"{what} {at}.db"
    study = Study.create(place, list("abcde"), Problem(noise="gaussian:9"), budget=150)
    study.tell_many([(ticket, 1.0) for ticket in study.ask(5)])
    worker = Worker(study, float, float, None, 3)
    mine = study.ask(3, worker=worker.name, lease=60)
    calls = {
        "ask": lambda: study.ask(2, worker=worker.name, lease=60),
        "tell": lambda: study.tell_many([(mine[0], 1.0)], worker=worker.name),
    }
    was_interrupted = interrupted(calls[what], at)
    worker._give_back()
    study.close()
    with Study.open(place) as after:
        status = after.status()
        assert status.expired == status.pending, at
        assert after.verify().problems == (), at
    return was_interrupted


def try_all(folder: Path, what: str) -> None:
    """Every third moment until it is through."""
    moments = range(1, 1000, 3)
    last = next(at for at in moments if not goes_back_at(folder, what, at))
    assert last > 50, "it was interrupted too seldom to mean something"


@pytest.mark.parametrize("what", ["ask", "tell"])
def test_what_it_has_goes_back(folder: Path, what: str) -> None:
    """A transaction that was left open made one of 300 keep its tickets.

    In a process of its own: what an interruption leaves locked there harms no other test.
    """
    in_child(lambda: try_all(folder, what))
