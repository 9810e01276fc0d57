"""CSV that a person opens: no name runs as a formula, and every name comes back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout import Problem, Study
from standout.csv_files import guarded, read_arms, read_items, read_results, unguarded
from tests.study.cli import standout

EVIL = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-20 C",
    "@SUM(A1)",
    "\t=1",
    "'=1",
    "''=1",
    "\uff1d1",
    "'tis plain",
    "a=1",
    '="x"',
    "=1,2",
    "-",
]
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.fixture
def told(folder: Path) -> Study:
    """Every evil name is an arm, and a worker."""
    study = Study.create(folder / "x.db", EVIL, Problem(noise="bernoulli"), name="main")
    for arm in EVIL:
        study.tell(arm=arm, reward=1.0, worker=arm)
    return study


def cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_no_cell_begins_a_formula(told: Study) -> None:
    file = io.StringIO()
    told.export(file)
    rows = cells(file.getvalue())
    assert [unguarded(row["worker"]) for row in rows] == [
        told.history()["worker"][k] for k in range(len(EVIL))
    ]
    for row in rows:
        assert not row["arm"].startswith(STARTS)
        assert not row["worker"].startswith(STARTS)
    assert "".join(told.export_parts("csv")) == file.getvalue()


def test_raw_is_as_it_is(told: Study) -> None:
    for text in ("".join(told.export_parts("csv", raw=True)),):
        assert [row["arm"] for row in cells(text)] == EVIL
    assert [row["arm"] for row in cells("".join(told.export_parts("csv")))] != EVIL


def test_an_export_read_again_has_the_same_names(told: Study) -> None:
    text = "".join(told.export_parts("csv"))
    assert [found.key for found in read_results(text, "x")] == EVIL
    assert read_arms(text, "x") == EVIL


def test_what_is_shown_for_an_arm_is_not_touched() -> None:
    text = "arm,text\n'=a,'=text\n"
    assert read_items(text, "x") == {"=a": {"text": "'=text"}}


def test_a_sheet_to_fill_in_and_tell(folder: Path) -> None:
    """`ask --csv`, a spreadsheet, `tell`: the ticket's arm must be recognised."""
    place = folder / "x.db"
    Study.create(place, EVIL, Problem(noise="bernoulli"), name="main").close()
    sheet = standout("study", "ask", place, "-n", len(EVIL), "--csv").out
    rows = cells(sheet)
    assert len(rows) == len(EVIL)
    assert not any(row["arm"].startswith(STARTS) for row in rows)
    filled = io.StringIO(newline="")
    writer = csv.DictWriter(filled, ["ticket", "arm", "reward"])
    writer.writeheader()
    writer.writerows({**row, "reward": 1} for row in rows)
    (folder / "sheet.csv").write_text(filled.getvalue(), newline="")
    told = standout("study", "tell", place, folder / "sheet.csv")
    assert told.code == 0, told.err
    with Study.open(place) as study:
        assert sorted(study.history()["arm"]) == sorted(EVIL)


def test_the_command_line_is_safe_unless_told(told: Study, folder: Path) -> None:
    place = folder / "x.db"
    assert [row["arm"] for row in cells(standout("study", "export", place, "--raw").out)] == EVIL
    for words in ([], ["--out", folder / "out.csv"]):
        outcome = standout("study", "export", place, *words)
        text = outcome.out or (folder / "out.csv").read_bytes().decode()
        assert not any(row["arm"].startswith(STARTS) for row in cells(text))


@given(st.text(st.sampled_from("'=+-@\t\r\n a\uff1d"), max_size=6))
def test_guarding_is_undone(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(STARTS)
