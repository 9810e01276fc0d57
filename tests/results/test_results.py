"""Results: made plain and read again from their fields, described to others by the same fields."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import standout.results
from standout import Problem, StudyError
from standout.core.kinds import Verdict
from standout.results import (
    VERDICTS,
    Forecast,
    Identification,
    Interval,
    Receipt,
    Result,
    Status,
    StopReason,
    StudyView,
    Threshold,
    Ticket,
    Trace,
    Verification,
)
from standout.results.serialisation import shapes_of
from standout.service.answers import model_of
from standout.service.service import to_json
from standout.study import Study
from standout.study.view import view

KINDS = [
    kind
    for kind in vars(standout.results).values()
    if isinstance(kind, type) and issubclass(kind, Result) and kind is not Result
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "study.db")


def some_study(file: str) -> Study:
    """With a reward, a failure, a pause, a name that is none in ASCII, ends not known yet."""
    study = Study.create(
        file, ["ash", "elm", "fir=1", "Öl"], Problem(noise="gaussian:1", side="both")
    )
    first, second = study.ask(2)
    study.tell(first, 0.5)
    study.fail(second, "dropped")
    study.pause("elm", "broken")
    return study


def all_results(study: Study) -> list[Result]:
    seen = view(study)
    return [
        study.status(),
        study.identification(),
        study.pulse(),
        study.trace(),
        study.verify(),
        *study.ask(1),
        *study.pending(),
        *study.failures(),
        seen,
        view(study, seen.seq - 1),
        seen.row(1),
        Receipt(counted=2, again=True, time=17.0),
        Forecast(10, 5, None),
    ]


def test_what_is_read_is_what_was_written(file: str) -> None:
    with some_study(file) as study:
        for result in all_results(study):
            if isinstance(result, StudyView):
                continue  # Its problem is sent as plain values.
            sent = json.loads(json.dumps(result.to_dict(), allow_nan=False))
            again = type(result).from_dict(sent)
            np.testing.assert_equal(_values(again), _values(result))
            assert again.to_dict() == result.to_dict()


def _values(result: Any) -> Any:
    return {name: getattr(result, name) for name in _sent(type(result))}


def _sent(kind: type[Any]) -> list[str]:
    return [each.name for each in fields(kind) if each.metadata.get("is_sent", True)]


def test_the_description_fits_what_is_sent(file: str) -> None:
    """The models are made from the fields: nothing is missing in them and nothing too much."""
    with some_study(file) as study:
        for result in all_results(study):
            model = model_of(type(result))
            sent = json.loads(to_json(result))
            assert set(sent) == set(model.model_fields)
            model.model_validate(sent, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_described(kind: type[Result]) -> None:
    assert is_dataclass(kind)
    assert model_of(kind).model_json_schema()["description"]
    assert [shape.attribute for shape in shapes_of(kind)] == _sent(kind)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        (Status, {"pulls": "3"}, r"Status\.pulls should be a whole number, not '3'"),
        (Status, {"pulls": True}, "a whole number, not True"),
        (Status, {"pulls": None}, "a whole number, not None"),
        (Status, {"created": None}, "a number, not None"),
        (Status, {"outliers": "ash"}, "a list, not 'ash'"),
        (Status, {"outliers": [1]}, "a text, not 1"),
        (Status, {"paused": []}, "an object"),
        (Status, {"reason": "bored"}, "one of decided, budget"),
        (Status, {"threshold": 3}, "an object, not 3"),
        (Status, {"stopped": 1}, "true or false, not 1"),
        (Identification, {"means": [None, "x", 1, 1]}, "a list of numbers"),
        (Identification, {"means": {"a": 1}}, "a list"),
        (Identification, {"pulls_by_arm": [None, 1]}, "a list of numbers"),
    ],
)
def test_a_liar_at_the_other_end(
    file: str, kind: type[Result], change: dict[str, Any], said: str
) -> None:
    with some_study(file) as study:
        result = next(each for each in all_results(study) if type(each) is kind)
    with pytest.raises(StudyError, match=said):
        kind.from_dict({**result.to_dict(), **change})


def test_an_answer_of_another_version(file: str) -> None:
    with some_study(file) as study:
        sent = study.status().to_dict()
    assert Status.from_dict({**sent, "new": 1}) == Status.from_dict(sent)
    del sent["pulls"]
    with pytest.raises(StudyError, match=r"lacks Status\.pulls; was it made by another version"):
        Status.from_dict(sent)
    for junk in (None, 3, "x", []):
        with pytest.raises(StudyError, match="an object"):
            Status.from_dict(junk)  # type: ignore[arg-type]


def test_what_is_not_known_yet() -> None:
    open_end = Threshold(-math.inf, math.inf, math.nan)
    assert open_end.to_dict() == {"lower": None, "upper": None, "estimate": None}
    again = Threshold.from_dict(open_end.to_dict())
    assert (again.lower, again.upper) == (-math.inf, math.inf)
    assert math.isnan(again.estimate)
    assert Ticket.from_dict({"ticket": 1, "arm": "a", "expires": None}).expires == math.inf
    assert Interval(np.float64(1), np.float64("nan")).to_dict() == {"lower": 1.0, "upper": None}


def test_empty_and_large(file: str) -> None:
    nothing = Trace(*(np.zeros(0) for one in fields(Trace) if one.name != "scale"))
    assert len(Trace.from_dict(nothing.to_dict())) == 0
    assert Verification(0, 0, ("bad",)).to_dict()["ok"] is False
    many = tuple(f"arm {i}" for i in range(5000))
    found = Identification(many, (), (), (), Interval(0, 1), 0.5, 2**62, 1, StopReason.BUDGET)
    assert json.loads(to_json(found)) == found.to_dict()


def test_names_of_verdicts_are_those_of_the_core() -> None:
    assert tuple(kind.name.lower() for kind in sorted(Verdict)) == VERDICTS


def test_results_need_nothing_but_python() -> None:
    code = "import sys, standout.results; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
