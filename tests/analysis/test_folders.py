"""Folders of files, added up by arm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from standout import Problem, Study, analyse
from standout.analysis import folder_shares
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
    sums = read_folder(tmp_path, None)
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
    assert "needs the order of the rewards" in said.notes[0]
    assert said.notes[0].endswith("and of the rows in each")
    with pytest.raises(ProblemError, match=r"in the order of measurement\. Add is_ordered=True"):
        analyse(tmp_path, Problem(noise="heavy:0.5", k=2))


@pytest.mark.parametrize("noise", ["bounded:-9,9", "heavy:0.5"])
def test_in_the_order_of_the_files(tmp_path: Path, noise: str) -> None:
    frame, problem = some_files(tmp_path), Problem(noise=noise, k=2)
    said, rows = analyse(tmp_path, problem, is_ordered=True), analyse(frame, problem)
    assert said.interval == rows.interval in ("betting", "heavy")
    assert any("files by their names" in each for each in said.assumptions)
    order = [rows.found.arms.index(arm) for arm in said.found.arms]
    assert (said.found.lower == rows.found.lower[order]).all()
    assert (said.found.upper == rows.found.upper[order]).all()


def test_shares_and_threads_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even in the last digit, since sums are added in the order of shares."""
    frame = some_files(tmp_path)
    alone = read_folder(tmp_path, None)
    monkeypatch.setattr(folder_shares, "SHARE_ROWS", 100)
    frame.to_parquet(tmp_path / "more.parquet", row_group_size=70)
    told: list[tuple[int, int]] = []
    one = read_folder(tmp_path, None, jobs=1, progress=lambda *how: told.append(how))
    many = read_folder(tmp_path, None, jobs=4)
    # Four files of 225 rows, and 900 rows in row groups of 70, two of which make a share.
    assert told == [(done, 11) for done in range(1, 12)]
    for name in ("counts", "sums", "std"):
        assert (getattr(one, name) == getattr(many, name)).all()
    assert (one.counts == 2 * alone.counts).all()
    assert one.sums == pytest.approx(2 * alone.sums)
    both = pandas.concat([frame, frame]).groupby("arm")["value"]
    assert one.std == pytest.approx(both.std().to_numpy())


def test_scatter_far_from_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of squares would have lost it all."""
    monkeypatch.setattr(folder_shares, "SHARE_ROWS", 10)
    values = 1e9 + np.random.default_rng(1).normal(0, 1, 100)
    frame = pandas.DataFrame({"arm": ["a"] * 100, "value": values})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=7)
    assert read_folder(tmp_path, None).std == pytest.approx([values.std(ddof=1)], rel=1e-6)


@pytest.mark.parametrize(
    ("arms", "counts"),
    [
        ([7, 7, 30], {"30": 2, "7": 4}),
        (pandas.Categorical(["b", "b", "a"]), {"a": 2, "b": 4}),
        (["'=1+1", "'=1+1", "'tis"], {"=1+1": 4, "'tis": 2}),
    ],
)
def test_names_of_arms(tmp_path: Path, arms: Any, counts: dict[str, int]) -> None:
    frame = pandas.DataFrame({"arm": arms, "value": [0, 1, 1]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame[::-1].to_parquet(tmp_path / "b.parquet")
    sums = read_folder(tmp_path, Bernoulli())
    assert dict(zip(sums.arms, sums.counts.tolist(), strict=True)) == counts


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_exports_of_a_study_without_what_is_void(tmp_path: Path, form: str) -> None:
    """The same rewards as from one file: those that the study counts."""
    with Study.create(tmp_path / "a.db", ["a", "b", "c"], Problem(noise="bernoulli")) as study:
        study.tell_many([("a", 1), ("b", 0), ("c", 1), ("a", 0)])
        study.void(2, reason="mistyped")
        log = study.history()
    frame = pandas.DataFrame(
        {name: log[name] for name in ("seq", "arm", "reward", "status", "turn")}
    )
    place = tmp_path / "exports"
    place.mkdir()
    frame.to_csv(place / "a.csv") if form == "csv" else frame.to_parquet(place / "a.parquet")
    sums = read_folder(place, Bernoulli())
    assert (sums.arms, sums.counts.tolist()) == (("a", "c"), [2, 1])


def test_numbers_like_names_in_csv(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("arm,value\n1,0\n2,1\n")
    (tmp_path / "2.csv").write_text("arm,value\nx,0.5\nNA,1\n")
    assert read_folder(tmp_path, None).arms == ("1", "2", "NA", "x")


def test_a_file_that_is_another_one_on_a_worker(tmp_path: Path) -> None:
    some_files(tmp_path)
    share = next(iter(folder_shares.cut(tmp_path, None, None, None)))
    changed = replace(share, parts=(replace(share.parts[0], size=1), *share.parts[1:]))
    with pytest.raises(ProblemError, match="another file on this worker"):
        folder_shares.add_up(changed)
    with pytest.raises(ProblemError, match="cannot be read"):
        folder_shares.add_up(replace(share, parts=(replace(share.parts[0], path="/nowhere"),)))


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
        (["a", "b"], [1.0, None], "1 row has no number"),
        (["a", "b"], [1.0, float("-inf")], "arm 'b': reward -inf is not finite"),
        (["b", "b"], [float("inf"), float("-inf")], "arm 'b': reward -inf is not finite"),
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


def test_what_is_not_a_number_is_not_nothing(tmp_path: Path) -> None:
    """The sum of an arm with a NaN among its rewards was once taken for 0."""
    for name, value, error in (("nan", np.nan, ProblemError), ("inf", -np.inf, RewardError)):
        folder = tmp_path / name
        folder.mkdir()
        values = pyarrow.array([1.0, value, 1.0])
        table = pyarrow.table({"arm": ["a", "a", "b"], "value": values})
        pyarrow.parquet.write_table(table, folder / "a.parquet")
        with pytest.raises(error, match=r"no number|not finite"):
            read_folder(folder, Gaussian(1))


def test_large_numbers_that_differ_little_are_added_up(tmp_path: Path) -> None:
    off = np.random.default_rng(0).normal(0, 1e-3, 300_000)
    pandas.DataFrame({"arm": "a", "value": 1e8 + off}).to_parquet(tmp_path / "a.parquet")
    found = read_folder(tmp_path, None)
    mean = np.mean((1e8 + off) - 1e8)
    assert found.sums[0] / 300_000 - 1e8 == pytest.approx(mean, abs=2e-8)  # one rounding
    assert found.std[0] == pytest.approx(np.std(off, ddof=1), rel=1e-3)
