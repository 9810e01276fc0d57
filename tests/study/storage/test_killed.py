"""A process that is killed at any statement: what it was doing is done as a whole or not at all."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from standout import Problem
from standout.errors import NoStudyError
from standout.study import Study
from tests.study.test_conformance import ARMS

PROBLEM = Problem(noise="gaussian:9", k=2)
CHANGES: dict[str, Callable[[Study], object]] = {
    "ask": lambda study: study.ask(2, worker="me", known=[]),
    "tell and ask": lambda study: study.tell_and_ask([(21, 1.0)], 2, worker="me", key="k"),
    "tell many": lambda study: study.tell_many([("ash", 1.0)] * 60, key="k"),
    "tell and close": lambda study: (study.tell(22, 1.0, key="k"), study.close()),
    "fail": lambda study: study.fail(21, "spilt"),
    "void": lambda study: study.void(3, value=2.0, key="k"),
    "set": lambda study: study.set(budget=500, key="k"),
    "pause": lambda study: study.pause("ash", "none left"),
    "delete": lambda study: study.delete("main"),
    "create": lambda study: Study.create(
        study._storage.address.file or "", ARMS, PROBLEM, name="other"
    ),
}
REPEATABLE = ("tell and ask", "tell many", "tell and close", "void", "set")
"""With the same key, the same again."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study past its first rewards, with three pulls out."""
    place = tmp_path_factory.mktemp("begun") / "study.db"
    with Study.create(place, ARMS, PROBLEM) as study:
        for number in range(20):
            for ticket in study.ask(1):
                study.tell(ticket, float(number % 7))
        study.ask(3, worker="me")
    return place


def seen(place: Path) -> Any:
    """How a study stands, with nothing wrong about it."""
    try:
        study = Study.open(place, "main")
    except NoStudyError:
        return None
    with study:
        assert (study.verify().problems, study.remark) == ((), None)
        one = study.status()
        return (
            one.pulls, one.pending, one.budget, one.stopped, one.paused, one.failures,
            [change.words for change in study.changes()], len(study.history()),
        )  # fmt: skip


def killed_at(place: Path, change: Callable[[Study], object], at: int) -> bool:
    """Let a fork make a change, and kill it before its `at`-th statement; whether it got there."""
    pid = os.fork()
    if pid == 0:
        try:
            statements = itertools.count(1)

            def count(_: str) -> None:
                if next(statements) == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            connect = sqlite3.connect
            with Study.open(place) as study:
                study.status()
                study._storage._raw().set_trace_callback(count)

                def traced(*args: Any, **options: Any) -> sqlite3.Connection:
                    made = connect(*args, **options)
                    made.set_trace_callback(count)
                    return made

                sqlite3.connect = traced  # type: ignore[assignment]
                change(study)
                os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.parametrize("name", CHANGES)
def test_it_is_done_as_a_whole_or_not_at_all(begun: Path, folder: Path, name: str) -> None:
    change, place = CHANGES[name], folder / "study.db"
    before = seen(begun)
    shutil.copy(begun, place)
    with Study.open(place) as study:
        change(study)
    after = seen(place)
    found = []
    for at in itertools.count(1, 9 if name == "tell many" else 1):
        shutil.copy(begun, place)
        is_over = not killed_at(place, change, at)
        found.append(seen(place))
        assert found[-1] in (before, after), at
        if name in REPEATABLE:
            with Study.open(place) as study:
                change(study)
            assert seen(place) == after, at
        if is_over:
            break
    assert len(found) > 5
    assert name == "create" or found[0] == before
    assert found[-1] == after
