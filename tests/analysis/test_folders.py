"""Folders of files, added up by arm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from standout import Problem, analyse
from standout.analysis.folders import read_folder
from standout.core.noise import Bernoulli, Gaussian
from standout.errors import ProblemError, RewardError


def some_files(folder: Path, form: str = "parquet") -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    arms = rng.choice(["ash", "elm", "fir", "oak", "yew"], 900)
    means = np.where(arms == "yew", 5.0, 0.3)
    frame = pandas.DataFrame({"arm": arms, "value": rng.normal(means, 0.5)})
    for number, part in enumerate(np.array_split(np.arange(900), 4)):
        place = folder / f"day={number}"
        place.mkdir()
        chosen = frame.iloc[part]
        if form == "parquet":
            chosen.to_parquet(place / "part.parquet")
        else:
            chosen.to_csv(place / "part.csv", index=False)
    return frame


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_same_as_all_rows_together(tmp_path: Path, form: str) -> None:
    frame = some_files(tmp_path, form)
    sums = read_folder(tmp_path, Gaussian(0.5))
    groups = frame.groupby("arm")["value"]
    assert list(sums.arms) == sorted(frame["arm"].unique())
    assert sums.counts.tolist() == groups.count().tolist()
    assert sums.sums == pytest.approx(groups.sum().to_numpy())
    assert sums.std == pytest.approx(groups.std().to_numpy())
    for noise in ("gaussian:0.5", "gaussian"):
        said, rows = (analyse(table, Problem(noise=noise, k=2)) for table in (tmp_path, frame))
        assert said.found.outliers == rows.found.outliers == ("yew",)
        order = [rows.found.arms.index(arm) for arm in said.found.arms]
        assert said.found.lower == pytest.approx(rows.found.lower[order])


def test_an_interval_that_needs_the_order_is_replaced(tmp_path: Path) -> None:
    some_files(tmp_path)
    said = analyse(str(tmp_path), Problem(noise="bounded:-9,9", k=2))
    assert said.interval == "beta-binomial"
    assert "needs the rewards in their order" in said.notes[0]
    with pytest.raises(ProblemError, match="in the order in which they came"):
        analyse(tmp_path, Problem(noise="heavy:0.5", k=2))


def test_complaints(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="no Parquet or CSV file"):
        read_folder(tmp_path, None)
    some_files(tmp_path)
    with pytest.raises(ProblemError, match="no column price among arm, value"):
        read_folder(tmp_path, None, value="price")
    with pytest.raises(RewardError, match="lies outside"):
        read_folder(tmp_path, Bernoulli())
    (tmp_path / "x.csv").write_text("arm,value\na,1\n")
    with pytest.raises(ProblemError, match="both Parquet and CSV"):
        read_folder(tmp_path, None)


@pytest.mark.parametrize(
    ("arms", "values", "words"),
    [
        (["a", None], [1.0, 0.0], "no arm"),
        (["a", "b"], [1.0, None], "1 rows have no number"),
        (["a", "b"], [1.0, 0.5], "neither 0 nor 1"),
        (["a", "b"], [1.0, 2.0], r"arm 'b': reward 2 lies outside \[0, 1\]"),
        (["a", "a", "a"], [1.0, 0.5, 0.0], "'a' has rewards that are neither 0 nor 1"),
    ],
)
def test_what_is_wrong_with_rows(
    tmp_path: Path, arms: list[str], values: list[float], words: str
) -> None:
    pandas.DataFrame({"arm": arms, "value": values}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises((ProblemError, RewardError), match=words):
        read_folder(tmp_path, Bernoulli())
