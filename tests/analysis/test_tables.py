"""Tables of past measurements, from wherever they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from standout import ArmNameWarning, Problem, analyse
from standout.analysis.columns import Layout
from standout.analysis.tables import Rewards, Sums, read_table
from standout.errors import ProblemError

ARMS = ["b", "a", "b", "c", "=1"]
VALUES = [0.5, 1.0, 0.25, -2.0, 3.0]


def as_csv(folder: Path) -> Path:
    path = folder / "log.csv"
    rows = "".join(f"{arm},{value}\n" for arm, value in zip(ARMS, VALUES, strict=True))
    path.write_text(f"Arm,reward\n{rows}".replace("=1", "'=1"), encoding="utf-8")
    return path


def as_parquet(folder: Path) -> Path:
    path = folder / "log.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"arm": ARMS, "value": VALUES}), path)
    return path


class OnlyArrow:
    """Anything that gives itself as an Arrow stream, and is nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        table = pyarrow.table({"arm": ARMS, "value": VALUES})
        return table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    """A data frame of an unknown library, through the interchange protocol."""

    def __dataframe__(self, *args: Any, **more: Any) -> Any:
        return pyarrow.table({"arm": ARMS, "value": VALUES}).__dataframe__(*args, **more)


class LikePolars:
    """Columns as a list of names, series that give themselves as arrays."""

    columns = ("arm", "value")

    def __getitem__(self, name: str) -> Any:
        return np.array(ARMS if name == "arm" else VALUES, dtype=object)


@pytest.mark.parametrize(
    "make",
    [
        as_csv,
        as_parquet,
        lambda _: str(as_csv(_)),
        lambda _: pandas.DataFrame({"arm": ARMS, "value": VALUES}),
        lambda _: pandas.DataFrame({"arm": ARMS, "value": VALUES}, index=[4, 3, 2, 1, 0]),
        lambda _: pandas.DataFrame({"arm": pandas.Categorical(ARMS), "value": VALUES}),
        lambda _: pyarrow.table({"arm": ARMS, "value": VALUES}),
        lambda _: OnlyArrow(),
        lambda _: OnlyInterchange(),
        lambda _: LikePolars(),
        lambda _: {"arm": ARMS, "value": VALUES},
        lambda _: {"b": [0.5, 0.25], "a": (1.0,), "c": np.array([-2]), "=1": [3]},
    ],
)
def test_the_same_from_everywhere(tmp_path: Path, make: Any) -> None:
    found = read_table(make(tmp_path))
    assert isinstance(found, Rewards)
    assert found.arms == ("b", "a", "c", "=1")
    mine = [found.values[found.codes == i].tolist() for i in range(4)]
    assert mine == [[0.5, 0.25], [1.0], [-2.0], [3.0]]


def test_other_names_and_numbers_as_arms() -> None:
    frame = pandas.DataFrame({"ad": [3, 1, 3], "click": [True, False, True]})
    found = read_table(frame, Layout("ad", "click"))
    assert isinstance(found, Rewards)
    assert (found.arms, found.values.tolist()) == ((3, 1), [1.0, 0.0, 1.0])


def test_an_export_of_a_study_is_read_without_what_does_not_count() -> None:
    table = {
        "seq": [1, 2, 3, 0],
        "arm": ["a", "b", "a", "b"],
        "reward": [1, 2, 3, float("nan")],
        "status": ["counted", "waiting", "counted", "out"],
        "turn": [2, 0, 1, 0],
    }
    found = read_table(table)
    assert isinstance(found, Rewards)
    assert (found.arms, found.values.tolist()) == (("a",), [3.0, 1.0])
    assert "1 waiting for slower answers" in found.notes[0]


def test_a_row_with_a_count_may_be_one_reward() -> None:
    found = read_table({"arm": ["a"], "value": [1], "count": [90]}, Layout(value="value"))
    assert isinstance(found, Rewards)
    assert found.values.tolist() == [1.0]


def test_a_share_of_so_many_is_a_whole_number() -> None:
    found = read_table({"arm": ["a", "b"], "count": [100, 10], "mean": [0.29, 0.123]})
    assert isinstance(found, Sums)
    assert found.sums.tolist() == [29.0, 1.23]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("arm,value,value\na,1,0\n")
    with pytest.raises(ProblemError, match="2 columns are called value"):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize("column", ["sum", "mean"])
def test_sums(column: str) -> None:
    table = {"arm": ["a", "b"], "n": [4, 2], column: [8.0, 1.0], "std": [1.0, np.nan]}
    found = read_table(table)
    assert isinstance(found, Sums)
    assert found.counts.tolist() == [4, 2]
    assert found.sums.tolist() == ([8.0, 1.0] if column == "sum" else [32.0, 2.0])
    assert found.total == 6


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"arm": ["a", ""], "value": [1, 2]}, "row 2: no arm"),
        ({"arm": ["a", None], "value": [1, 2]}, "row 2: no arm"),
        ({"arm": ["a", "b"], "value": [1, None]}, r"row 2: no value \(1 row has none\).*--drop-"),
        ({"arm": ["a", "b"], "value": [1, "x"]}, "row 2: value 'x' is not a number"),
        ({"arm": ["a", "b"], "value": [1, "1_0"]}, "row 2: value '1_0' is not a number"),
        ({"arm": ["a"], "price": [1]}, "no column value"),
        ({"name of it": ["a"], "value": 1}, "no column arm among name of it, value"),
        ({"arm": ["a"], "count": [1.5], "sum": [1]}, "count is 1.5"),
        ({"arm": ["a"], "count": [1]}, "sum or mean"),
        ({"arm": ["a", "a"], "count": [1, 1], "sum": [1, 1]}, "row 2: arm 'a' is there already"),
        ({"arm": ["a"], "value": [1], "count": [90]}, "columns value and count: if each row"),
        (
            {"arm": ["a", "b"], "value": np.ma.masked_array([1.0, 9.0], [False, True])},
            "row 2: no value",
        ),
        ({"arm": ["a"], "value": np.array(["NaT"], "m8[s]")}, "not plain numbers"),
        ({"arm": ["a"], "value": np.array([1 + 2j])}, "not plain numbers"),
        (7, "not a int"),
        ("log.xlsx", "a table is a .csv or a .parquet file"),
        ("none.csv", "cannot be read"),
        ("none.parquet", "cannot be read"),
    ],
)
def test_complaints(table: Any, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        read_table(table)


def test_a_csv_with_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,value\na,1\nb\n")
    with pytest.raises(ProblemError, match="row 3: 1 fields"):
        read_table(path)
    path.write_text("")
    with pytest.raises(ProblemError, match="empty"):
        read_table(path)


# The libraries themselves


def log_of(n_rows: int = 400) -> tuple[list[str], list[float]]:
    rng = np.random.default_rng(0)
    arms = rng.choice(list("abcde"), n_rows)
    return arms.tolist(), rng.normal(np.where(arms == "e", 5, 0), 0.1).tolist()


def polars_frames() -> dict[str, Any]:
    frame = polars.DataFrame(dict(zip(("arm", "value"), log_of(), strict=True)))
    name = polars.col("arm")
    return {
        "frame": frame,
        "lazy": frame.lazy(),
        "filtered": frame.lazy().filter(name != "z"),
        "categories": frame.with_columns(name.cast(polars.Categorical)),
        "enum": frame.with_columns(name.cast(polars.Enum(list("abcde")))),
        "chunks": polars.concat([frame.head(100), frame.tail(300)], rechunk=False),
    }


def other_frames() -> dict[str, Any]:
    columns = dict(zip(("arm", "value"), log_of(), strict=True))
    frame, table = pandas.DataFrame(columns), pyarrow.table(columns)
    name = table["arm"].dictionary_encode()
    return {
        "pandas": frame,
        "pandas, backed by Arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas, categories": frame.astype({"arm": "category"}),
        "pandas, another index": frame.set_index(frame.index[::-1]),
        "Arrow": table,
        "Arrow, batch": table.to_batches()[0],
        "Arrow, stream": table.to_reader(),
        "Arrow, dictionary": table.set_column(0, "arm", name),
    }


@pytest.mark.parametrize("name", [*polars_frames(), *other_frames()])
def test_the_same_rewards_from_every_library(name: str) -> None:
    arms, values = log_of()
    found = read_table((polars_frames() | other_frames())[name])
    assert isinstance(found, Rewards)
    assert [found.arms[code] for code in found.codes] == arms
    assert found.values.tolist() == values


def test_sums_from_polars_and_a_frame_of_polars_back() -> None:
    frame = polars_frames()["frame"]
    value = polars.col("value")
    sums = frame.group_by("arm").agg(count=polars.len(), sum=value.sum(), std=value.std())
    for noise in ("gaussian:0.1", "gaussian"):
        problem = Problem(noise=noise, k=3)
        rows, counted = analyse(frame, problem), analyse(sums, problem)
        assert rows.found.outliers == counted.found.outliers == ("e",)
        back = counted.to_frame("polars").sort("arm")
        assert isinstance(back, polars.DataFrame)
        assert back["arm"].to_list() == list("abcde")
        assert back["lower"].to_list() == pytest.approx(
            rows.to_frame("polars").sort("arm")["lower"]
        )


@pytest.mark.parametrize(
    ("values", "words"),
    [([1.0, None], r"row 2: no value \(1 row has none\)"), (["1", "x"], "'x' is not a number")],
)
def test_what_is_wrong_in_a_frame_of_polars(values: list[Any], words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        read_table(polars.DataFrame({"arm": ["a", "b"], "value": values}))


def test_what_is_no_table_and_what_is_not_here() -> None:
    with pytest.raises(ProblemError, match="a Series is not a table"):
        read_table(polars_frames()["frame"]["value"])

    class DaskFrame:
        columns, npartitions = ("arm", "value"), 3

        def compute(self) -> None: ...

    with pytest.raises(ProblemError, match=r"give frame\.compute\(\)"):
        read_table(DaskFrame())


# Other shapes


def rewards_by_arm(found: Any) -> dict[Any, list[float]]:
    assert isinstance(found, Rewards)
    return {arm: found.values[found.codes == i].tolist() for i, arm in enumerate(found.arms)}


LONG = pandas.DataFrame({"arm": [3, 1, 3, 2], "value": [1.0, 2.0, 3.0, 4.0]})
BY_ARM = {3: [1.0, 3.0], 1: [2.0], 2: [4.0]}


@pytest.mark.parametrize(
    "table",
    [
        LONG,
        LONG.set_index("arm"),
        LONG.set_index("arm")["value"],
        LONG.set_index(["arm", LONG.index])["value"],
        LONG.groupby("arm", sort=False),
        LONG.groupby(["arm"], sort=False)["value"],
        LONG.groupby("arm", sort=False)["value"].apply(list),
        LONG.groupby("arm", sort=False)["value"].apply(list).reset_index(),
        polars.from_pandas(LONG).group_by("arm", maintain_order=True).agg("value"),
        pandas.DataFrame({3: [1.0, 3.0], 1: [2.0, np.nan], 2: [4.0, np.nan]}),
        {3: np.array([1.0, 3.0]), 1: (2.0,), 2: pandas.Series([4.0])},
    ],
    ids=range(11),
)
def test_rewards_in_many_shapes_with_whole_numbers_as_arms(table: Any) -> None:
    found = read_table(table)
    assert rewards_by_arm(found) == BY_ARM
    assert {type(arm) for arm in found.arms} == {int}


def test_a_wide_frame_of_polars() -> None:
    table = polars.DataFrame({"a": [1, 2], "b": [3.0, None], "c": [5, 6]})
    assert rewards_by_arm(read_table(table)) == {"a": [1, 2], "b": [3], "c": [5, 6]}


def test_a_hole_in_a_wide_frame_is_no_end() -> None:
    table = pandas.DataFrame({"a": [1, np.nan, 2, np.nan], "b": [1, 2, 3, 4], "c": [5, 6, 7, 8]})
    with pytest.raises(ProblemError, match=r"row 2: no value \(1 row has none\)"):
        read_table(table)
    found = read_table(table, Layout(drop_missing=True))
    assert rewards_by_arm(found)["a"] == [1, 2]
    assert found.notes[0].startswith("1 of 11 rows had no value and was left out.")


@pytest.mark.parametrize("columns", [["id", "x", "count"], ["arm", "x", "y"], ["x", "y"]])
def test_a_frame_of_numbers_that_is_not_wide(columns: list[str]) -> None:
    with pytest.raises(ProblemError, match=r"no column|must be a column"):
        read_table(pandas.DataFrame(np.ones((4, len(columns))), columns=columns))


@pytest.mark.parametrize("ways", [["count", "mean", "std"], ["count", "sum"], "describe"])
def test_what_groupby_adds_up(ways: Any) -> None:
    groups = LONG.groupby("arm")["value"]
    found = read_table(groups.describe() if ways == "describe" else groups.agg(ways))
    assert isinstance(found, Sums)
    assert (found.arms, found.counts.tolist(), found.sums.tolist()) == (
        (1, 2, 3),
        [1, 1, 2],
        [2, 4, 4],
    )


def test_groups_with_no_column_of_values() -> None:
    groups = LONG.rename(columns={"value": "delay"}).groupby("arm")
    with pytest.raises(ProblemError, match="the groups: no column value among arm, delay"):
        read_table(groups)
    assert rewards_by_arm(read_table(groups, Layout(value="delay")))[3] == [1.0, 3.0]


def test_missing_values_are_left_out_on_request_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,value\na,1\na,\nb,2\nb,\nc,3\n")
    with pytest.raises(ProblemError, match=r"row 3: no value \(2 rows have none\)"):
        read_table(path)
    found = read_table(path, Layout(drop_missing=True))
    assert rewards_by_arm(found) == {"a": [1], "b": [2], "c": [3]}
    assert found.notes[0].startswith("2 of 5 rows had no value and were left out.")
    said = analyse(path, "gaussian:1", drop_missing=True)
    assert said.notes[0] == found.notes[0]
    assert found.notes[0] in said.summary()


def test_blanks_around_names_make_no_arms_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,value\nash,1\nash ,2\n yew,3\nelm,4\n")
    with pytest.warns(ArmNameWarning, match="2 names of arms have blanks .* 'ash ' is 'ash'"):
        found = read_table(path)
    assert rewards_by_arm(found) == {"ash": [1, 2], "yew": [3], "elm": [4]}


def test_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm;value\na;0,5\nb;1\nc;-2,25\n")
    with pytest.raises(ProblemError, match=r"separated by semicolons; add --sep ';' .*--decimal ,"):
        read_table(path)
    with pytest.raises(
        ProblemError, match=r"row 2: value '0,5' is not a number; with decimal comm"
    ):
        read_table(path, Layout(separator=";"))
    found = read_table(path, Layout(separator=";", decimal=","))
    assert rewards_by_arm(found) == {"a": [0.5], "b": [1.0], "c": [-2.25]}
    path.write_text("arm;value\na;1.234,5\nb;1\nc;2\n")
    with pytest.raises(ProblemError, match=r"'1\.234,5' is not a number"):
        read_table(path, Layout(separator=";", decimal=","))
    path.write_text("arm;value\na;0.5\nb;1\nc;2\n")
    with pytest.raises(ProblemError, match=r"'0\.5' is not a number"):
        read_table(path, Layout(separator=";", decimal=","))


def test_tabs(tmp_path: Path) -> None:
    for name in ("log.tsv", "log.csv"):
        (tmp_path / name).write_text("arm\tvalue\na\t1\nb\t2\n")
    assert rewards_by_arm(read_table(tmp_path / "log.tsv")) == {"a": [1], "b": [2]}
    with pytest.raises(ProblemError, match="separated by tabs; add --sep tab"):
        read_table(tmp_path / "log.csv")


def test_a_wide_file(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a;b;c\n0,5;1;2\n1;;3\n")
    with pytest.raises(ProblemError, match="no column arm among a, b, c"):
        read_table(path, Layout(separator=";"))
    found = read_table(path, Layout(wide=True, separator=";", decimal=","))
    assert rewards_by_arm(found) == {"a": [0.5, 1], "b": [1], "c": [2, 3]}


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ({"separator": "::"}, "one character"),
        ({"decimal": ";"}, "must be [.] or ,"),
        ({"wide": True, "arm": "x"}, "leave out arm and value"),
    ],
)
def test_layouts_that_cannot_be(layout: dict[str, Any], words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        Layout(**layout)


def test_a_folder_is_read_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="files of a folder are read as they are"):
        analyse(tmp_path, "bernoulli", drop_missing=True)


def test_arms_of_the_answer_keep_their_type() -> None:
    rng = np.random.default_rng(0)
    table = {arm: rng.normal(arm == 4, 0.1, 90) for arm in range(5)}
    found = analyse(table, "gaussian:0.1").found
    assert found.outliers == (4,)
    assert found.to_frame()["arm"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("shape", ["rewards", "counts"])
def test_arms_with_few_rewards_are_left_out_and_named(shape: str) -> None:
    """The others have the intervals that they would have beside all arms, as delta is shared."""
    rng = np.random.default_rng(5)
    counts = {"ash": 40, "elm": 40, "fir": 40, "oak": 40, "yew": 3}
    rewards = {arm: (rng.random(n) < 0.4).astype(float) for arm, n in counts.items()}
    table: dict[str, list[Any]] = {
        "arm": [arm for arm, n in counts.items() for _ in range(n)],
        "value": np.concatenate(list(rewards.values())).tolist(),
    }
    if shape == "counts":
        sums = [float(each.sum()) for each in rewards.values()]
        table = {"arm": list(counts), "count": list(counts.values()), "sum": sums}
    everything = analyse(table, "bernoulli").found
    said = analyse(table, "bernoulli", min_count=4)
    assert said.found.arms == ("ash", "elm", "fir", "oak")
    assert said.rewards == 160
    assert said.problem.delta == 0.05
    assert any("yew" in note and "fewer than 4 rewards" in note for note in said.notes)
    np.testing.assert_allclose(said.found.lower, everything.lower[:4])
    np.testing.assert_allclose(said.found.upper, everything.upper[:4])
    assert analyse(table, "bernoulli", min_count=3).found.arms == everything.arms
    with pytest.raises(ProblemError, match="at least 1"):
        analyse(table, "bernoulli", min_count=0)
