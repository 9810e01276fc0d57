"""A transaction that fails leaves nothing behind, neither in the database nor in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.core.state import ROUNDS, TOUCHED
from standout.errors import StorageError
from standout.study import Study
from standout.study.storage.stored_study import StoredStudy
from tests.study.test_conformance import ARMS

TELLINGS = 4 * len(ARMS)


class Broken:
    """Every write fails as it ends, when all of it has been worked out (and `is_written`)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_written: bool = True) -> None:
        self._patch, self._flush, self._is_written = monkeypatch, StoredStudy.flush, is_written

    def __enter__(self) -> None:
        def flush(stored: StoredStudy, connection: Any) -> None:
            if self._is_written:
                self._flush(stored, connection)
            raise StorageError("the disk is full")

        self._patch.setattr(StoredStudy, "flush", flush)

    def __exit__(self, *_: object) -> None:
        self._patch.setattr(StoredStudy, "flush", self._flush)


def check_sorted(study: Study) -> None:
    """A value that is taken out of its order where it is not would be written beside the array."""
    study.status()
    state = study._stored.progress.state
    assert (np.sort(state.lower, axis=1) == state.sorted_lower).all()
    assert (np.sort(state.upper, axis=1) == state.sorted_upper).all()
    assert state.counters[TOUCHED] == state.is_touched.sum()


@pytest.mark.parametrize("method", ["focus", "roai-lucb:range=exact"])
def test_a_telling_that_fails_at_its_end(
    place: str, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Also the first that ends a round: what it had sorted is not what is stored."""
    broken, ended = Broken(monkeypatch), 0
    with Study.create(place, ARMS, Problem(noise="gaussian:30", k=2), method) as study:
        for number in range(TELLINGS):
            arm, reward = ARMS[number % len(ARMS)], float(number % 7)
            before = study._stored.progress.state.counters[ROUNDS]
            with broken, pytest.raises(StorageError):
                study.tell(arm=arm, reward=reward + 100)
            ended += before == 0 and study._stored.progress.state.counters[ROUNDS] == 1
            check_sorted(study)
            study.tell(arm=arm, reward=reward)
            check_sorted(study)
        assert ended == 1
        assert study.verify().problems == ()
        assert study.status().pulls == TELLINGS


@pytest.mark.parametrize("is_written", [True, False])
def test_an_asking_that_fails_uses_up_no_chance(
    place: str, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """A seed stands for the same choices, whatever went wrong in between."""
    broken = Broken(monkeypatch, is_written=is_written)
    problem = Problem(noise="gaussian:30", k=2)
    asked: list[list[str]] = []
    for name, fails in (("whole", False), ("broken", True)):
        with Study.create(place, ARMS, problem, "random", name=name, seed=3) as study:
            arms = []
            for _ in range(12):
                if fails:
                    with broken, pytest.raises(StorageError):
                        study.ask(1)
                [ticket] = study.ask(1)
                study.tell(ticket, 1.0)
                arms.append(ticket.arm)
            asked.append(arms)
    assert asked[0] == asked[1]
