"""A study keeps the intervals that it began with, whatever newer versions make of its method."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from standout import Problem
from standout.core.kinds import IntervalKind
from standout.core.methods import parse_method
from standout.errors import StandoutError, StudyError
from standout.study import Study
from standout.study.measuring.campaign import make_or_find
from standout.study.storage import catalogue

ARMS = ["a", "b", "c"]


def kept(path: Path) -> str:
    connection = sqlite3.connect(path)
    (text,) = connection.execute("SELECT method FROM standout_studies").fetchone()
    connection.close()
    return str(text)


@pytest.mark.parametrize(
    "name", ["focus", "focus:scales=1", "focus:batch=5", "roai-lucb:interval=auto"]
)
def test_the_number_of_scales_is_kept_also_where_it_is_the_usual_one(
    folder: Path, name: str
) -> None:
    with Study.create(folder / "x.db", ARMS, Problem(noise="bernoulli"), name) as study:
        assert study.method == parse_method(name)
    assert kept(folder / "x.db").endswith(f"scales={parse_method(name).scales}")
    with Study.open(folder / "x.db") as again:
        assert again.method == parse_method(name)


@pytest.mark.parametrize(
    ("noise", "interval"),
    [
        ("bernoulli", None),
        ("gaussian:1", None),
        ("gaussian", None),
        ("bounded:0,1", IntervalKind.BERNSTEIN),
    ],
)
def test_a_text_without_scales_is_older(
    noise: str, interval: IntervalKind | None, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    problem = Problem(noise=noise)
    monkeypatch.setattr(catalogue, "_written", lambda method: "focus")
    older = catalogue.before_scales(parse_method("focus"), problem)
    Study.create(folder / "x.db", ARMS, problem, older).close()
    monkeypatch.undo()
    with Study.open(folder / "x.db") as study:
        assert (study.method.scales, study.method.interval) == (1, interval)
        assert study.verify().problems == ()
    # The command that made it goes on with it, and so does what its status says.
    for method in ("focus", study.method.label()):
        make_or_find(
            str(folder / "x.db"), ARMS, problem, method, name="main", budget=None, seed=0
        ).close()
    with pytest.raises(StudyError, match="scales=1, not focus:scales=2"):
        make_or_find(
            str(folder / "x.db"), ARMS, problem, "focus:scales=2", name="main", budget=None, seed=0
        )


def test_a_bet_on_all_means_is_kept_and_no_other_goes_on(folder: Path) -> None:
    """To certify with two bets, each at delta, would spend delta twice."""
    path, problem = folder / "x.db", Problem(noise="gaussian:1")
    with Study.create(path, ARMS, problem, "joint:batch=2") as study:
        assert study.method == parse_method("joint:batch=2")
    assert kept(path) == "joint:batch=2,scales=4,bet=4"
    with Study.open(path) as study:
        assert study.method == parse_method("joint:batch=2")
    for older in ("", ",bet=2"):
        connection = sqlite3.connect(path)
        text = "joint:batch=2,scales=1" + older
        connection.execute("UPDATE standout_studies SET method = ?", (text,))
        connection.commit()
        connection.close()
        with pytest.raises(StandoutError, match="would spend delta twice"):
            Study.open(path)


def test_what_the_goal_anytime_learns_follows_from_the_rewards(tmp_path: Path) -> None:
    """It is not kept: a study that is opened anew learns it anew, and has nothing to verify."""
    place, rng = str(tmp_path / "any.db"), np.random.default_rng(1)
    arms = [str(i) for i in range(6)]
    problem = Problem(noise="bernoulli", k=2, side="both")
    Study.create(place, arms, problem, method="focus:goal=anytime", budget=150, seed=1).close()
    for _ in range(3):
        with Study.open(place) as study:
            for ticket in study.ask(50):
                study.tell(ticket, float(rng.random() < (0.95 if ticket.arm == "3" else 0.3)))
            assert study.verify().problems == ()
            guess = study.identification().best_guess
    assert guess == ("3",)
