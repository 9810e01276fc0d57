"""Items, page and trace of a study, on both storages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.errors import ProblemError, StudyError
from standout.study import Study
from standout.study.events.telling import GROWTH
from tests.study.cli import standout
from tests.study.test_conformance import ARMS, MEANS, SIGMA, finish, make

PAGE = {
    "question": "Is it ripe?",
    "buttons": [{"label": "no", "value": 0, "key": "n"}, {"label": "yes", "value": 1, "key": "y"}],
    "consent": "You may stop at any time.",
    "end": "Thank you.",
}
ITEMS = {"ash": {"text": "Ash\nö", "image": "https://example.org/ash.png"}, "yew": {"html": "<b>"}}
YES_NO = Problem(noise="bernoulli", k=2)


def test_items_and_page_are_kept(place: str) -> None:
    with Study.create(place, ARMS, YES_NO, items={**ITEMS, "elm": {"text": ""}}, page=PAGE) as made:
        assert made.items() == ITEMS
    with Study.open(place) as study:
        assert study.page == PAGE
        assert study.items() == ITEMS
        assert study.items(["yew", "oak"]) == {"yew": {"html": "<b>"}}
        assert study.items([]) == {}
        assert study.created > 1e9
        with pytest.raises(StudyError, match="no arm 'palm'"):
            study.items(["palm"])
    with Study.create(place, ARMS, YES_NO, name="plain") as plain:
        assert (plain.page, plain.items()) == (None, {})


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ({"palm": {"text": "x"}}, "'palm', which is no arm"),
        ({"ash": {"colour": "x"}}, "'colour', which means nothing here; use text, image, html"),
        ({"ash": "x"}, "must be a mapping"),
        ({"ash": {"text": 3}}, "must be a text"),
        ({"ash": {"text": "x" * 100_001}}, "100,000 is the most"),
        ({"ash": {"image": "javascript:alert(1)"}}, "is no address of a picture"),
        ({"ash": {"text": "\ud800"}}, "surrogate"),
    ],
)
def test_bad_items(folder: Path, items: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Study.create(folder / "x.db", ARMS, YES_NO, items=items)
    assert not (folder / "x.db").exists()


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ([], "must be an object"),
        ({"title": "x"}, "'title', which means nothing"),
        ({"question": ""}, "question must be a text"),
        ({"buttons": []}, "at least one button"),
        ({"buttons": ["yes"]}, "button 1 of the page must be an object"),
        ({"buttons": [{"label": "half", "value": 0.5}]}, "button 1 of the page: value.*0 nor 1"),
        ({"buttons": [{"label": "yes"}]}, "value must be a number, not None"),
        ({"buttons": [{"value": 1}]}, "label must be a text"),
        ({"buttons": [{"label": "y", "value": True}]}, "must be a number, not True"),
        ({"buttons": [{"label": "y", "value": 1, "key": "yes"}]}, "must be one character"),
        (
            {"buttons": [{"label": x, "value": 1, "key": x} for x in "yY"]},
            "belongs to another button",
        ),
        ({"scale": {"min": 0, "max": 1, "step": 0.5}}, "2 steps from 0 to 1 lead to a value"),
        ({"scale": {"min": 0, "max": 1, "steps": 2}}, "2 steps from 0 to 1 lead to a value"),
        ({"scale": {"min": 1, "max": 0}}, "is not below"),
        ({"scale": 3}, "must be an object"),
        ({"scale": {"min": 0, "max": 1, "step": 1}, "buttons": PAGE["buttons"]}, "keep one"),
    ],
)
def test_bad_pages(folder: Path, page: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Study.create(folder / "x.db", ARMS, YES_NO, page=page)


def test_a_scale(folder: Path) -> None:
    problem = Problem(noise="bounded:1,7")
    scale = {"min": 1, "max": 7, "step": 1, "low_label": "bad", "high_label": "good"}
    with Study.create(folder / "x.db", ARMS, problem, page={"scale": scale}) as study:
        kept = {key: value for key, value in scale.items() if key != "step"} | {"steps": 6}
        assert study.page == {"scale": kept}


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (
            {"step": 0.1666666667},
            r'miss 1.*"steps": 5 \(0\.2 each\) or "steps": 6 \(0\.166667 each',
        ),
        ({"step": 0.3}, r'"steps": 3 \(0\.333333 each\) or "steps": 4 \(0\.25 each\)'),
        ({"step": 0.7}, r'"steps": 1 \(1 each\) or "steps": 2 \(0\.5 each\)'),
        ({"step": 2}, "at most 1"),
        ({"step": 0}, "must be positive"),
        ({"step": float("nan")}, "must be a number"),
        ({"step": 5e-324}, "more than 100,000 steps"),
        ({"step": "1"}, "must be a number"),
        ({"steps": 6, "step": 0.5}, "both steps and step"),
        ({"steps": 0}, "at least 1"),
        ({"steps": 2.5}, "whole number"),
        ({"steps": True}, "whole number"),
        ({"steps": float("inf")}, "whole number"),
        ({"steps": 100_001}, "100,000 is the most"),
        ({"steps": 4, "min": 1.0, "max": 1.0 + 2.0**-52}, "too small"),
    ],
)
def test_scales_that_miss_their_end(folder: Path, scale: Any, message: str) -> None:
    problem = Problem(noise="bounded:0,2")
    with pytest.raises(ProblemError, match=message):
        Study.create(folder / "x.db", ARMS, problem, page={"scale": {"min": 0, "max": 1, **scale}})


def test_scales_that_are_too_wide(folder: Path) -> None:
    page = {"scale": {"min": -1.7e308, "max": 1.7e308, "steps": 3}}
    with pytest.raises(ProblemError, match="too large"):
        Study.create(folder / "x.db", ARMS, Problem(noise="gaussian:1"), page=page)


def test_items_and_page_on_the_command_line(place: str, folder: Path) -> None:
    arms, page = folder / "arms.csv", folder / "page.json"
    arms.write_text('arm,text,image\nash,"two\nlines",\nelm,,/static/elm.png\nfir,,\n')
    page.write_text(json.dumps(PAGE))
    words = ("study", "create", place, "--arms", arms, "--noise", "bernoulli", "--page")
    page.write_text("{")
    assert "not JSON" in standout(*words, page).err
    page.write_text("[]")
    assert "not an object" in standout(*words, page).err
    page.write_text(json.dumps(PAGE))
    assert standout(*words, page).code == 0
    with Study.open(place) as study:
        assert study.arms == ("ash", "elm", "fir")
        assert study.page == PAGE
        wanted = {"ash": {"text": "two\nlines"}, "elm": {"image": "/static/elm.png"}}
        assert study.items() == wanted


def test_trace_follows_the_study(place: str) -> None:
    with make(place) as study:
        assert len(study.trace()) == 0
        study.tell_many([(t, MEANS[t.arm]) for t in study.ask(5)])
        first = study.trace()
        status = study.status()
        assert first.pulls.tolist() == [5]
        assert first.undecided.tolist() == [len(status.undecided)]
        assert (first.lower[0], first.upper[0]) == (status.threshold.lower, status.threshold.upper)
        assert np.isnan(first.lower_low).all()
        finish(study)
        trace, status = study.trace(), study.status()
    assert trace.pulls[-1] == status.pulls
    assert trace.undecided[-1] == 0
    assert (trace.lower[-1], trace.upper[-1]) == (status.threshold.lower, status.threshold.upper)
    assert (np.diff(trace.time) >= 0).all()
    assert (np.diff(trace.undecided) <= 0).all()


def test_trace_stays_short(place: str) -> None:
    """Two handles in turns write the rows that one would have written."""
    problem = Problem(noise="gaussian:3", k=2, side="both")
    rng = np.random.default_rng(4)
    first = Study.create(place, ARMS, problem, budget=4000)
    second = Study.open(place)
    for turn in range(400):
        handle = (first, second)[turn % 2]
        handle.tell_many([(arm, rng.normal(MEANS[arm], 3)) for arm in ARMS * 2])
    trace = second.trace()
    assert trace.pulls[-1] == second.status().pulls == 4000
    steps = trace.pulls[1:] / trace.pulls[:-1]
    assert (steps[:-1] >= GROWTH).all()
    assert (steps[trace.pulls[:-1] > 1000] < 1.05).all()
    assert len(trace) < 300
    low = second.status().threshold_low
    assert low is not None
    assert (trace.lower_low[-1], trace.upper_low[-1]) == (low.lower, low.upper)
    assert SIGMA  # The other tests' arms, with far more noise.


def test_trace_survives_a_failed_write(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make(place)
    tickets = study.ask(5)
    with monkeypatch.context() as patch:
        patch.setattr(study.memory, "write", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            study.tell_many([(t, MEANS[t.arm]) for t in tickets])
    assert len(study.trace()) == 0
    study.tell_many([(t, MEANS[t.arm]) for t in tickets])
    assert study.trace().pulls.tolist() == [5]
