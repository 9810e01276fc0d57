"""The machinery of the reproduction: settings, store, resuming, tables, statistics."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from standout.core.methods import METHODS
from standout.errors import StandoutError
from standout.paper import reference
from standout.paper.estimate import first_crossings, interval, line, resampling_weights
from standout.paper.runs import Part, Run, Store, make_plan
from standout.paper.settings import (
    FIGURE_NAMES,
    QUICK_RUNS,
    Settings,
    check_figures,
    prepare_folder,
)
from standout.paper.table import make_table
from standout.simulation import simulate, workers

MARKS = (100, 200, 300)
PART = Part("fig4/test", "fig4", METHODS["rr"], cost=2.0, budget=300, checkpoints=MARKS)


def ignore(_: float) -> None:
    pass


# Settings


def test_no_figure_or_all_means_every_figure() -> None:
    assert check_figures([]) == check_figures(["all"]) == FIGURE_NAMES
    assert check_figures(["FIG3", "fig2", "fig2"]) == ("fig2", "fig3")


def test_unknown_figure_is_refused_with_the_choices() -> None:
    with pytest.raises(StandoutError, match="no figure 'fig6'; choose from fig1, fig2"):
        check_figures(["fig1", "fig6"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": 1}, "runs must be at least 2, not 1"),
        ({"jobs": 0}, "jobs must be at least 1, not 0"),
        ({"seed": -1}, "seed must not be negative, not -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    tmp_path: Path, changes: dict[str, int], message: str
) -> None:
    with pytest.raises(StandoutError, match=message):
        Settings(out=tmp_path, **changes)


def test_runs_are_the_papers_unless_quick_or_given(tmp_path: Path) -> None:
    assert Settings(out=tmp_path).runs_of("fig1") == 500
    assert Settings(out=tmp_path, quick=True).runs_of("fig1") == QUICK_RUNS["fig1"]
    assert Settings(out=tmp_path, quick=True, runs=3).runs_of("fig1") == 3


def test_command_makes_the_same_again() -> None:
    full = Settings(out=Path("paper"), jobs=2)
    assert full.command(FIGURE_NAMES) == (
        "standout reproduce all --runs 500 --seed 0 --jobs 2 --out paper"
    )
    quick = Settings(out=Path("x"), quick=True, seed=3)
    assert quick.command(["fig2"]) == "standout reproduce fig2 --quick --seed 3 --jobs 1 --out x"


def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("here already")
    with pytest.raises(StandoutError, match="cannot write to") as caught:
        prepare_folder(file / "paper")
    assert "\n" not in str(caught.value)


# The store


def test_store_gives_back_what_it_was_given(tmp_path: Path) -> None:
    store = Store(tmp_path, seed=1)
    runs = {0: Run(300, False, False, "110"), 7: Run(250, True, True, "100")}
    store.save(PART, runs)
    assert store.load(PART) == runs


def test_store_never_serves_another_configuration(tmp_path: Path) -> None:
    store = Store(tmp_path, seed=1)
    store.save(PART, {0: Run(300, False, False, "110")})
    others = [
        replace(PART, instance="wine"),
        replace(PART, method=METHODS["wrr"]),
        replace(PART, method=replace(PART.method, batch=2)),
        replace(PART, budget=400),
        replace(PART, checkpoints=(100, 200, 250)),
    ]
    assert all(store.load(other) == {} for other in others)
    assert Store(tmp_path, seed=2).load(PART) == {}
    # Not even from a file that was given the other's name.
    store.path(PART).rename(store.path(others[0]))
    assert store.load(others[0]) == {}


def test_store_depends_on_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, seed=1)
    store.save(PART, {0: Run(300, False, False, "110")})
    monkeypatch.setattr("standout.paper.runs.code_fingerprint", lambda: "other")
    assert store.load(PART) == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"configuration": 1, "runs": {}}'])
def test_damaged_file_counts_as_none(tmp_path: Path, content: str) -> None:
    store = Store(tmp_path, seed=1)
    store.save(PART, {0: Run(300, False, False, "110")})
    store.path(PART).write_text(content)
    assert store.load(PART) == {}


# Playing


def test_parts_play_what_simulate_plays(tmp_path: Path) -> None:
    played = make_plan([PART], 4, Store(tmp_path, seed=5)).play(1, ignore)[PART.key]
    direct = simulate("fig4", "rr", runs=4, seed=5, budget=300, checkpoints=MARKS).results[0]
    assert played.pulls.tolist() == direct.pulls.tolist()
    assert played.errors.mean(axis=0).tolist() == direct.error_rate.tolist()


def test_interrupted_plan_goes_on_from_what_is_done(tmp_path: Path) -> None:
    whole = make_plan([PART], 7, Store(tmp_path / "whole", seed=5)).play(1, ignore)
    store = Store(tmp_path / "broken", seed=5)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    first = make_plan([PART], 7, store)
    assert len(first.blocks) == 4
    with pytest.raises(KeyboardInterrupt):
        first.play(1, interrupt)
    again = make_plan([PART], 7, store)
    assert len(again.blocks) == 3
    assert again.play(1, ignore) == whole
    assert make_plan([PART], 7, store).blocks == ()


def test_more_runs_go_on_from_fewer(tmp_path: Path) -> None:
    store = Store(tmp_path / "grown", seed=5)
    make_plan([PART], 3, store).play(1, ignore)
    grown = make_plan([PART], 6, store)
    assert sum(block.share.last - block.share.first for block in grown.blocks) == 3
    fresh = make_plan([PART], 6, Store(tmp_path / "fresh", seed=5))
    assert grown.play(1, ignore) == fresh.play(1, ignore)


def test_processes_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_WORTH_A_POOL", 0.0)
    one = make_plan([PART], 9, Store(tmp_path / "one", seed=5)).play(1, ignore)
    two = make_plan([PART], 9, Store(tmp_path / "two", seed=5)).play(2, ignore)
    assert one == two


def test_no_half_written_files_are_left(tmp_path: Path) -> None:
    make_plan([PART], 3, Store(tmp_path, seed=5)).play(1, ignore)
    (file,) = tmp_path.iterdir()
    assert set(json.loads(file.read_text())) == {"configuration", "runs"}


# Tables and statistics


def test_table_as_csv_and_by_row() -> None:
    table = make_table("name value", [("a,b", 1 / 3), ("c", math.nan), ("d", 2)])
    assert table.to_csv() == 'name,value\n"a,b",0.3333333333\nc,\nd,2\n'
    assert table.number("value", name="d") == 2


def test_first_crossing_interpolates() -> None:
    marks = [200, 400, 600, 800]
    curves = np.array([[1.0, 0.6, 0.2, 0.4], [0.5, 0.1, 0.0, 0.0]])
    assert first_crossings(curves, marks, 0.8).tolist() == pytest.approx([300, 80])
    assert first_crossings(curves, marks, 0.2).tolist() == pytest.approx([600, 350])
    assert first_crossings(curves, marks, 0.1).tolist() == pytest.approx([math.inf, 400])


def test_bootstrap_interval_covers_the_mean() -> None:
    values = np.random.default_rng(1).normal(3.0, 1.0, 400)
    low, high = interval(resampling_weights(400, seed=0) @ values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(4 / math.sqrt(400), rel=0.15)


def test_line_through_points_on_a_line() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert line(x, 3 * x - 1) == pytest.approx((3, -1, 1))


def test_distance_in_standard_errors() -> None:
    assert reference.measured("f", "w", (10, 3), (15, 4)).errors_away == pytest.approx(1)
    assert reference.exact("f", "w", "0.12", 0.124).is_same
    assert math.isinf(reference.exact("f", "w", "0.12", 0.126).errors_away)
    assert reference.rate("f", "w", 0.0, 40, 0.0, 500).errors_away == 0
    away = reference.rate("f", "w", 0.5, 100, 0.6, 100).errors_away
    assert away == pytest.approx(0.1 / math.sqrt(2 * 0.55 * 0.45 / 100))
