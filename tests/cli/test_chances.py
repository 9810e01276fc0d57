"""Chances on the command line: beside what is certain, in words of their own."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from standout import Problem, Study
from standout.cli.main import app

ARMS = ["ash", "elm", "fir", "=oak", "yew"]


@pytest.fixture
def place(tmp_path: Path) -> str:
    file = str(tmp_path / "beans.db")
    with Study.create(file, ARMS, Problem(noise="gaussian:0.3", k=2)) as study:
        for number, arm in enumerate(ARMS):
            for step in range(6):
                study.tell(arm=arm, reward=2.0 * (arm == "yew") + 0.1 * number + 0.05 * step)
    return file


def run(*words: str) -> str:
    found = CliRunner().invoke(app, ["study", *words])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_status_names_the_leaders_as_estimates(place: str) -> None:
    lines = run("status", place).splitlines()
    (line,) = [line for line in lines if "chance" in line]
    assert line.startswith("estimates, not certain: yew chance ")
    assert "outlier" not in line
    found = json.loads(run("status", place, "--json"))
    assert found["outliers"] == []
    assert found["chances"]["leaders"][0]["arm"] == "yew"
    assert found["chances"]["leaders"][0]["chance"] > 0.5
    assert "chance" not in found["chances"]


def test_a_study_without_rewards_has_no_leaders(tmp_path: Path) -> None:
    file = str(tmp_path / "new.db")
    Study.create(file, ARMS, Problem(noise="bernoulli")).close()
    assert "chance" not in run("status", file)
    assert "nothing is measured yet" in run("chances", file)
    assert json.loads(run("chances", file, "--json"))["likely_threshold"]["upper"] is None


def test_a_note_comes_with_the_leaders(tmp_path: Path) -> None:
    """Two rewards of 0 or 1 each say nearly nothing, wherever the chances are shown."""
    file = str(tmp_path / "noisy.db")
    arms = [f"arm {i}" for i in range(12)]
    with Study.create(file, arms, Problem(noise="bernoulli")) as study:
        study.tell_many([(arm, float(i % 3 == 0)) for i, arm in enumerate(2 * arms)])
    for command in ("status", "chances"):
        assert any(line.startswith("caution: the ") for line in run(command, file).splitlines())


def test_chances_as_text_json_and_csv(place: str) -> None:
    text = run("chances", place)
    assert "not certain" in text.splitlines()[0]
    assert "outlier" not in text
    plain = json.loads(run("chances", place, "--json"))
    with Study.open(place) as study:
        assert plain == study.chances().to_dict()
    rows = list(csv.DictReader(io.StringIO(run("chances", place, "--csv"))))
    assert [row["arm"] for row in rows] == [*ARMS[:3], "'=oak", "yew"]
    assert rows[4]["pulls"] == "6"
    assert float(rows[4]["chance"]) == pytest.approx(plain["chance"][4], abs=1e-6)


def test_a_share_that_is_none(place: str) -> None:
    found = CliRunner().invoke(app, ["study", "chances", place, "--false-share", "2"])
    assert found.exit_code != 0
