"""The data of a report: what is told meanwhile changes nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from standout.analysis import report_data as module
from standout.analysis.report_data import read_report_data
from standout.study import Study
from standout.study.storage.store import Store
from tests.study.test_conformance import ARMS, make


def tell(study: Study, number: int) -> None:
    # All alike: never decided.
    study.tell_many([(ticket, 0.5) for ticket in study.ask(number)])


def test_others_may_tell_while_it_is_read(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(place) as study, Study.open(place) as other:
        tell(other, 60)
        for name in ("view", "read_reward_table"):
            read = getattr(module, name)

            def late(study: Study, read: Any = read) -> Any:
                tell(other, 25)
                found = read(study)
                tell(other, 25)
                return found

            monkeypatch.setattr(module, name, late)
        now = read_report_data(study)
        assert other.pulse().pulls == 160
        # What is read afterwards is of another moment again.
        assert study.pulse().pulls == 160
    assert now.seen.counts.pulls == len(now.log) == now.verified.rewards == 60
    assert now.verified.is_ok
    assert now.trace.pulls[-1] <= 60
    assert np.bincount(now.log.arm, minlength=len(ARMS)).tolist() == now.seen.pulls.tolist()


def test_it_is_one_transaction(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with make(place) as study:
        tell(study, 30)
        number = 0
        read = Store.read

        @contextmanager
        def counted(storage: Store, **options: Any) -> Iterator[Any]:
            nonlocal number
            number += 1
            with read(storage, **options) as connection:
                yield connection

        monkeypatch.setattr(Store, "read", counted)
        read_report_data(study)
        assert number == 1
        study.pulse()
        assert number == 2


def test_an_error_inside_leaves_the_study_usable(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make(place) as study:
        tell(study, 30)

        def fail(study: Study) -> None:
            raise RuntimeError("on the way")

        monkeypatch.setattr(module, "read_reward_table", fail)
        with pytest.raises(RuntimeError, match="on the way"):
            read_report_data(study)
        monkeypatch.undo()
        tell(study, 10)
        assert len(read_report_data(study).log) == 40
