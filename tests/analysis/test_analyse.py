"""What past measurements prove, and what to measure next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import standout
from standout import METHODS, Problem, Run, Study, analyse
from standout.analysis import begin_study as begin_module
from standout.analysis.begin_study import begin_study
from standout.analysis.tables import Rewards, read_table
from standout.core.compile import IS_COMPILED
from standout.core.intervals.choice import interval_name
from standout.errors import ProblemError, RewardError, StudyExistsError
from standout.results import Analysis
from tests.study.cli import standout as command

MEANS = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.25, "yew": 0.9}


def some_rewards(noise: str, pulls: int, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    arms = rng.permutation(np.repeat(list(MEANS), pulls))
    means = np.array([MEANS[arm] for arm in arms])
    if noise == "bernoulli":
        values = (rng.random(len(arms)) < means).astype(float)
    else:
        values = np.clip(rng.normal(means, 0.1), 0, 1)
    return {"arm": arms.tolist(), "value": values.tolist()}


@pytest.mark.parametrize(
    "noise", ["bernoulli", "gaussian:0.1", "gaussian", "bounded:0,1", "heavy:0.1"]
)
def test_it_says_what_a_run_with_these_rewards_says(noise: str) -> None:
    table, problem = some_rewards(noise, 60), Problem(noise=noise, k=2)
    said = analyse(table, problem)
    run = Run(problem, said.found.arms, "focus", np.random.default_rng(0))
    for arm, value in zip(table["arm"], table["value"], strict=True):
        run.tell(arm, value)
    run.update()
    mine = run.identification()
    assert (said.found.outliers, said.found.normal) == (mine.outliers, mine.normal)
    assert said.found.lower == pytest.approx(mine.lower)
    assert said.found.upper == pytest.approx(mine.upper)
    assert said.found.pulls == said.found.pulls_by_arm.sum() == 300
    assert bool(said.next) == bool(said.found.undecided)


LONG_TO_COMPILE = (
    pytest.mark.kernel,
    pytest.mark.skipif(
        IS_COMPILED, reason="runs with the kernels as plain Python: long to compile"
    ),
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=LONG_TO_COMPILE) if name == "combined" else name for name in METHODS],
)
def test_every_method_from_study_to_report_to_analysis(name: str, tmp_path: Path) -> None:
    """An interval that only one method has, and nobody can choose, has a name all the same."""
    problem, place, file = Problem(noise="bernoulli", k=2), tmp_path / "s.db", tmp_path / "s.csv"
    table = some_rewards("bernoulli", 20)
    with Study.create(place, list(MEANS), problem, name) as study:
        study.tell_many(zip(table["arm"], table["value"], strict=True))
        kind = study.method.interval_for(problem)
        found = study.identification()
    for words in (["study", "status", place], ["report", place, "--out", tmp_path / "s.html"],
                  ["study", "export", place, "--out", file]):  # fmt: skip
        done = command(*words)
        assert done.code == 0, (words, done.err)
    said = analyse(str(file), problem, name)
    assert (said.method, said.interval) == (name, interval_name(kind))
    assert (said.interval == "zhuang") == (name in ("rr", "wrr"))
    assert set(said.found.outliers) == set(found.outliers)
    assert set(said.found.normal) == set(found.normal)


@pytest.mark.parametrize(
    ("noise", "interval"),
    [
        ("bernoulli", "beta-binomial"),
        ("gaussian:0.1", "mixture"),
        ("gaussian", "student"),
        ("bounded:0,1", "beta-binomial"),
    ],
)
def test_counts_and_sums_say_the_same_as_the_rows(noise: str, interval: str) -> None:
    table, problem = some_rewards(noise, 40), Problem(noise=noise, k=2)
    groups = pandas.DataFrame(table).groupby("arm", sort=False)["value"]
    sums = groups.agg(["count", "sum", "std"]).reset_index()
    rows, counted = analyse(table, problem, is_ordered=False), analyse(sums, problem)
    assert rows.interval == counted.interval == interval
    assert rows.found.arms == counted.found.arms
    assert rows.found.lower == pytest.approx(counted.found.lower)
    assert rows.found.upper == pytest.approx(counted.found.upper)
    assert counted.found.pulls == counted.rewards == 200
    assert bool(counted.notes) == (noise == "bounded:0,1")


def test_one_lonely_reward_and_all_say_the_same(tmp_path: Path) -> None:
    """The terminal, the study that a table begins, and its report, with one reward of an arm."""
    rng = np.random.default_rng(1)
    arms = np.repeat(["a", "b", "c", "d", "e"], 600)
    values = rng.random(3000) < np.repeat([0.1, 0.2, 0.3, 0.4, 0.6], 600)
    table = {"arm": [*arms.tolist(), "lonely"], "value": [*values.astype(float).tolist(), 1.0]}
    problem, place = Problem(noise="bernoulli"), tmp_path / "s.db"
    said = analyse(table, problem)
    assert said.found.normal
    assert said.found.undecided
    pandas.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    with begin_study(place, read_table(str(tmp_path / "t.csv")), problem) as study:
        status, found = study.status(), study.identification()
        assert study.ask().arm == "lonely"
    assert set(status.normal) == set(found.normal) == set(said.found.normal)
    assert found.thresholds == said.found.thresholds
    command("report", place, "--out", tmp_path / "s.html")
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "some arms have too few" not in page
    assert f"{len(said.found.normal)} certainly do not" in page


def test_heavy_tails_need_the_order() -> None:
    with pytest.raises(ProblemError, match="in the order of measurement"):
        analyse(some_rewards("heavy:0.1", 9), Problem(noise="heavy:0.1"), is_ordered=False)


def test_an_incomplete_table_says_nothing_for_certain() -> None:
    problem = Problem(noise="gaussian:0.1", k=2)
    said = analyse(some_rewards("gaussian:0.1", 90), problem, is_complete=False)
    assert (said.found.outliers, said.found.normal, said.found.endings) == ((), (), ())
    assert said.found.best_guess == ("yew",)
    assert said.found.chances is not None
    assert "nothing in it is certain" in said.summary()


@pytest.mark.parametrize(("option", "file"), [("--to", "x.db"), ("--report", "x.html")])
def test_an_incomplete_table_becomes_no_certificate(tmp_path: Path, option: str, file: str) -> None:
    """A study or a report of it would call arms certain that nothing in it proves."""
    path = tmp_path / "log.csv"
    pandas.DataFrame(some_rewards("bernoulli", 90)).to_csv(path, index=False)
    words = ("analyse", path, "--noise", "bernoulli", "--incomplete", option, tmp_path / file)
    refused = command(*words)
    assert (refused.code, "nothing is certain" in refused.err) == (2, True)
    assert not (tmp_path / file).exists()


def test_what_is_wrong_with_a_reward_is_said_with_its_row() -> None:
    problem = Problem(noise="bernoulli")
    for bad in (0.5, float("inf")):
        table = {"arm": ["a", "b", "c"], "value": [1, bad, 0]}
        with pytest.raises(RewardError, match="reward 2 of the table, of arm 'b'"):
            analyse(table, problem)
        table["value"][1] = 7 if bad == 0.5 else bad
        with pytest.raises(RewardError, match="reward 2 of the table, of arm 'b'"):
            analyse(table, Problem(noise="bounded:0,1"))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"arm": [], "value": []}, "no reward"),
        ({"arm": ["a", "b"], "value": [0, 1]}, "at least 3 arms"),
        ({"arm": ["a", "b", "c"], "count": [0, 0, 0], "sum": [0, 0, 0]}, "no reward"),
    ],
)
def test_refusals(table: Any, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        analyse(table, Problem(noise="bernoulli"))


def test_it_comes_back_from_json() -> None:
    said = analyse(some_rewards("bernoulli", 30), Problem(noise="bernoulli", k=2))
    again = Analysis.from_dict(said.to_dict())
    assert again.to_dict() == said.to_dict()
    assert again.summary() == said.summary()


def test_those_who_bring_data_to_identify_are_shown_the_way() -> None:
    frame = pandas.DataFrame(some_rewards("bernoulli", 3))
    problem = Problem(noise="bernoulli")
    for arguments in ((frame, list(MEANS)), (lambda arm: 1.0, frame)):
        with pytest.raises(ProblemError, match=r"standout\.analyse\(table, problem\)"):
            standout.identify(*arguments, problem)  # type: ignore[arg-type]


def test_a_budget_of_nothing_gives_what_was_known() -> None:
    prior = {arm: (400, 400 * mean) for arm, mean in MEANS.items()}
    found = standout.identify(
        lambda arm: 1 / 0, list(MEANS), Problem(noise="gaussian:0.1", k=2), budget=0, prior=prior
    )
    assert found.outliers == ("yew",)
    assert found.pulls == found.pulls_by_arm.sum() == 0
    assert found.earlier_by_arm.tolist() == [400] * 5


def test_a_prior_for_noise_of_unknown_scale() -> None:
    problem, arms = Problem(noise="gaussian", k=2), list(MEANS)
    prior = {arm: (400, 400 * mean, 0.1) for arm, mean in MEANS.items()}
    found = standout.identify(lambda arm: 1 / 0, arms, problem, budget=0, prior=prior)
    assert found.outliers == ("yew",)
    with pytest.raises(ProblemError, match="standard deviation"):
        standout.identify(lambda arm: 0.0, arms, problem, prior={"ash": (4, 1.0)})
    bounded = Problem(noise="bounded:0,1")
    with pytest.raises(ProblemError, match=r"table to standout\.analyse"):
        standout.identify(lambda arm: 0.0, arms, bounded, prior={"ash": (4, 1.0)})


def test_a_study_that_begins_with_a_table(tmp_path: Path) -> None:
    data, problem = read_table(some_rewards("bernoulli", 50)), Problem(noise="bernoulli", k=2)
    assert isinstance(data, Rewards)
    place = tmp_path / "study.db"
    part = Rewards(data.arms, data.codes[:99], data.values[:99])
    begin_study(place, part, problem).close()
    with begin_study(place, data, problem) as study:  # Goes on where it was broken off.
        assert study.verify().problems == ()
        assert study.history()["reward"].tolist() == data.values.tolist()
        assert study.ask() is not None
    with pytest.raises(StudyExistsError):
        begin_study(place, data, problem)


def test_counts_become_a_study_where_rewards_are_0_and_1(tmp_path: Path) -> None:
    table = {"arm": ["a", "b", "c"], "count": [5, 6, 7], "sum": [1, 2, 7]}
    with begin_study(tmp_path / "a.db", read_table(table), Problem(noise="bernoulli")) as study:
        found = study.identification()
    assert found.pulls_by_arm.tolist() == [5, 6, 7]
    assert (found.means * found.pulls_by_arm).tolist() == [1, 2, 7]
    with pytest.raises(ProblemError, match="single reward"):
        begin_study(tmp_path / "b.db", read_table(table), Problem(noise="gaussian:1"))


def test_on_the_command_line(tmp_path: Path) -> None:
    path, place, page = tmp_path / "log.csv", tmp_path / "study.db", tmp_path / "report.html"
    pandas.DataFrame(some_rewards("gaussian:0.1", 60)).to_csv(path, index=False)
    words = ("analyse", path, "--noise", "gaussian:0.1", "--k", 2)
    shown = command(*words, "--to", place, "--report", page)
    assert "1 outlier: yew" in shown.out
    assert "Nothing is missing" in shown.out
    assert "yew" in page.read_text(encoding="utf-8")
    assert command("study", "status", place, "--json").json["pulls"] == 300
    assert command(*words, "--json").json["found"]["outliers"] == ["yew"]
    refused = command("study", "create", tmp_path / "x.db", "--arms", path, "--noise", "bernoulli")
    assert refused.code != 0
    with pytest.raises(standout.StandoutError, match="standout analyse FILE --to PATH"):
        Study.create(tmp_path / "x.db", _arms_of(path), Problem(noise="bernoulli"))


def _arms_of(path: Path) -> list[str]:
    from standout.csv_files import read_arms

    return read_arms(path.read_text(), "log.csv")


def test_what_smaller_tolerances_take_from_counts() -> None:
    """How far a way is goes by the rewards of the table, not by the pulls of the run, of which
    there are none."""
    rates = [*np.linspace(0.04, 0.06, 13), 0.16, 0.2]
    sums = {
        "arm": [f"ad {i}" for i in range(len(rates))],
        "count": [20_000] * len(rates),
        "sum": [round(20_000 * rate) for rate in rates],
    }
    endings = analyse(sums, Problem(noise="bernoulli", k=3)).found.endings
    assert endings[0].pulls == 0
    assert all(each.pulls is not None and each.pulls > 15_000 for each in endings[1:3])


@pytest.mark.parametrize("form", ["counts", "sorted", "shuffled"])
def test_a_study_takes_no_part_of_a_table_for_certain(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ones before all zeros: whoever looks in between sees arms that are nothing but ones."""
    rates = [*np.linspace(0.04, 0.06, 13), 0.16, 0.3]
    count, problem = 5000, Problem(noise="bernoulli", k=3)
    ones = [round(count * rate) for rate in rates]
    names = [f"ad {i:02}" for i in range(len(rates))]
    if form == "counts":
        table: dict[str, list[Any]] = {"arm": names, "count": [count] * len(rates), "sum": ones}
    else:
        rows = [(1, name) for name, one in zip(names, ones, strict=True) for _ in range(one)]
        rows += [(0, n) for n, one in zip(names, ones, strict=True) for _ in range(count - one)]
        table = {"arm": [name for _, name in rows], "value": [value for value, _ in rows]}
    data = read_table(table)
    said = analyse(data, problem).found
    is_ordered = False if form == "shuffled" else None
    with begin_study(tmp_path / "a.db", data, problem, is_ordered=is_ordered) as study:
        found = study.identification()
        places = [found.arms.index(arm) for arm in said.arms]
        assert (found.lower[places] == said.lower).all()
        assert (found.upper[places] == said.upper).all()
        assert set(found.outliers) == set(said.outliers)
        assert set(found.normal) == set(said.normal)
        values = study.history()["reward"]
        if form != "sorted":
            assert 0 in values[: sum(ones)], "in no order that somebody chose"
    monkeypatch.setattr(begin_module, "AT_ONCE", 1000)
    with pytest.raises(ProblemError, match="up to 1,000"):
        begin_study(tmp_path / "b.db", data, problem, is_ordered=is_ordered)


def test_a_tiny_expectation_is_shown_in_words() -> None:
    table = {"arm": ["a", "b", "c"], "count": [100, 90, 80], "sum": [4, 5, 60]}
    shown = analyse(table, Problem(noise="bernoulli", k=2)).summary()
    assert "fewer than 0.001 wrong arms expected" in shown
