"""Plots: what they show, and that they draw on the axes they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas
import pytest

import standout
from standout import Problem, ProblemError, Study, plot
from standout.pictures.arms import LeftOut
from standout.plot import data
from standout.text import count

mpl.use("Agg")
from matplotlib import pyplot

MEANS = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 5.0}
PROBLEM = Problem(noise="gaussian:0.2", k=2)


def identified(
    means: dict[Any, float], problem: Any = PROBLEM, **how: Any
) -> tuple[standout.Identification, plot.Recorder]:
    rng, recorder = np.random.default_rng(1), plot.Recorder()
    found = standout.identify(
        lambda arm: rng.normal(means[arm], 0.2), list(means), problem, progress=recorder, **how
    )
    return found, recorder


@pytest.fixture(scope="module")
def run() -> tuple[standout.Identification, plot.Recorder]:
    return identified(MEANS)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    rng = np.random.default_rng(2)
    arms = rng.choice(list(MEANS), 600)
    return pandas.DataFrame({"arm": arms, "value": [rng.normal(MEANS[arm], 0.2) for arm in arms]})


def texts(ax: Any) -> str:
    return " | ".join(
        [label.get_text() for label in (*ax.get_yticklabels(), *ax.get_xticklabels())]
        + [label.get_text() for label in (ax.get_legend().get_texts() if ax.get_legend() else [])]
    )


def test_every_plot_draws_on_the_axes_that_it_gets(run: Any, table: Any, tmp_path: Path) -> None:
    found, recorder = run
    some = identified(MEANS, budget=12)[0]
    draws = {
        "arms": (lambda ax: plot.arms(found, ax=ax)),
        "intervals": (lambda ax: plot.intervals(recorder, ax=ax)),
        "undecided": (lambda ax: plot.undecided(table, problem=PROBLEM, ax=ax)),
        "pulls": (lambda ax: plot.pulls(found, ax=ax)),
        "chances": (lambda ax: plot.chances(some, ax=ax)),
        "rewards": (lambda ax: plot.rewards(table, "fir", ax=ax)),
    }
    assert {*draws} == {*plot.__all__} - {"Course", "Recorder", "course_of"}
    for name, draw in draws.items():
        figure, ax = pyplot.subplots()
        assert draw(ax) is ax, name
        assert ax.has_data(), name
        assert draw(None) is not ax
        figure.savefig(tmp_path / f"{name}.png")


def test_arms_names_the_top_ones_and_those_near_the_threshold() -> None:
    means = {f"arm {i:04d}": float(i % 7) / 20 for i in range(3000)}
    means["arm 0007"], means["arm 1234"] = 30.0, 40.0
    rng = np.random.default_rng(0)
    found = standout.analyse({arm: rng.normal(means[arm], 0.2, 3) for arm in means}, PROBLEM)
    shown = data.arms(found, most=12)
    names = [shown.picture.names[row] for row in shown.rows if isinstance(row, int)]
    left = sum(len(row.arms) for row in shown.rows if isinstance(row, LeftOut))
    assert names[:2] == ["arm 1234", "arm 0007"]
    assert len(shown.rows) <= 12
    assert len(names) + left == 3000
    ax = plot.arms(found, most=12)
    assert "arm 1234" in texts(ax)
    assert f"{count(left)} more " in texts(ax)
    with pytest.raises(ProblemError, match="at least 3 lines"):
        plot.arms(found, most=2)


def test_both_sides_have_a_band_each() -> None:
    problem = Problem(noise="gaussian:0.2", k=2, side="both")
    found, recorder = identified({**MEANS, "low": -6.0}, problem)
    for ax in (plot.arms(found), plot.intervals(recorder)):
        assert "high threshold | low threshold" in texts(ax)


def test_the_course_of_a_run(run: Any) -> None:
    found, recorder = run
    course = recorder.course()
    assert course.arms == tuple(MEANS)
    assert (np.diff(course.pulls) > 0).all()
    assert course.pulls[-1] == found.pulls
    assert course.undecided[-1] == 0
    np.testing.assert_array_equal(course.arm_pulls[-1], found.pulls_by_arm)
    np.testing.assert_allclose(course.mean[-1], found.means)
    np.testing.assert_array_equal(course.arm_lower[-1], found.lower)
    assert (course.lower[-1, 0], course.upper[-1, 0]) == (
        found.threshold.lower, found.threshold.upper,
    )  # fmt: skip


def test_a_long_course_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standout.plot.course.MOMENTS", 10)
    found, recorder = identified({**MEANS, "box": 0.9}, method="random", budget=900)
    course = recorder.course()
    assert 8 <= len(course) <= 20
    assert course.pulls[-1] == found.pulls
    steps = np.diff(np.log(course.pulls[2:-1]))
    assert steps.max() < 0.8


def test_a_table_and_a_study_of_its_rewards_have_the_same_course(
    table: pandas.DataFrame, tmp_path: Path
) -> None:
    with Study.create(tmp_path / "s.db", list(MEANS), PROBLEM, "random") as study:
        study.tell_many(list(zip(table["arm"], table["value"], strict=True)))
        ours = plot.course_of(study)
        assert data.rewards(study, "yew").rewards.tolist() == (
            table["value"][table["arm"] == "yew"].tolist()
        )
    theirs = plot.course_of(table, PROBLEM, "random")
    order = [theirs.arms.index(arm) for arm in ours.arms]
    np.testing.assert_array_equal(ours.pulls, theirs.pulls)
    np.testing.assert_allclose(ours.arm_upper, theirs.arm_upper[:, order])
    assert ours.undecided.tolist() == theirs.undecided.tolist()


def test_intervals_of_chosen_arms(run: Any) -> None:
    recorder = run[1]
    assert data.intervals(recorder, ["yew", "ash"]).names == ["yew", "ash"]
    assert data.intervals(recorder, "yew").names == ["yew"]
    assert len(data.intervals(recorder).names) == 3
    with pytest.raises(ProblemError, match="no arm 'box' here"):
        plot.intervals(recorder, ["box"])


def test_pulls_and_undecided(run: Any) -> None:
    found, recorder = run
    shown = data.pulls(found)
    assert sorted(shown.names) == sorted(MEANS)
    assert shown.pulls.sum() == found.pulls
    assert (np.diff(shown.pulls) <= 0).all()
    steps = data.undecided(recorder)
    assert (steps.pulls[0], steps.undecided[0], steps.undecided[-1]) == (0, 5, 0)


def test_chances_of_an_answer_and_of_themselves() -> None:
    some = identified(MEANS, budget=12)[0]
    assert some.chances is not None
    shown = data.chances(some.chances)
    assert shown.names[0] == "yew"
    assert (np.diff(shown.chance) <= 0).all()
    assert data.chances(some, most=2).names == shown.names[:2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (plot.chances, "has no chances"),
        (plot.undecided, "pass progress=Recorder"),
        (lambda found: plot.intervals(plot.Recorder()), "nothing was recorded"),
        (lambda found: plot.arms(7), "a plot of arms needs an answer"),
        (lambda found: plot.rewards({"a": [1.0]}, "b"), "there is no arm 'b'"),
        (
            lambda found: plot.rewards({"arm": ["a"], "count": [3], "sum": [2]}, "a"),
            "one row per reward",
        ),
        (
            lambda found: plot.undecided({"a": [0, 0.5], "b": [1], "c": [1]}, problem="bernoulli"),
            "neither 0 nor 1",
        ),
    ],
)
def test_what_cannot_be_drawn(run: Any, call: Any, words: str) -> None:
    with pytest.raises(standout.StandoutError, match=words):
        call(run[0])


def test_arms_that_are_numbers(table: pandas.DataFrame) -> None:
    numbered = table.assign(arm=table["arm"].map({name: i for i, name in enumerate(MEANS)}))
    said = standout.analyse(numbered, PROBLEM)
    assert "4" in texts(plot.arms(said))
    assert len(data.rewards(numbered, 4).rewards) == (numbered["arm"] == 4).sum()


def test_names_are_not_taken_for_formulas() -> None:
    means = {"$x_1$ cost": 0.1, "a_b": 0.2, "c": 0.1, "$": 4.0}
    found = identified(means)[0]
    plot.arms(found).figure.canvas.draw()
    plot.pulls(found).figure.canvas.draw()
