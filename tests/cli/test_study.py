"""`standout study`, on both storages."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from standout.cli.study_inspect import overview
from standout.core.problem import Problem
from standout.csv_files import unguarded
from standout.study import Study
from tests.study.cli import standout

NASTY = [
    "a,b",
    'say "hi"',
    "two\nlines",
    "cr\rhere",
    "--help",
    "-n",
    "'; DROP TABLE standout_rewards; --",
    "$(rm -rf ~) `id` | & > <",
    "%s %d {arm} {0}",
    " spaces ",
    "emoji 🧪 and \u202e right to left",
    "é" * 300,
    "nul-less \x01\x1b[31m control",
    "Ω≈ç√∫˜µ≤≥÷",
]


def write_arms(folder: Path, arms: list[str]) -> Path:
    path = folder / "arms.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["arm"])
        writer.writerows([arm] for arm in arms)
    return path


@pytest.fixture
def made(place: str, folder: Path) -> str:
    arms = write_arms(folder, ["ash", "elm", "fir", "oak", "yew"])
    options = ("--arms", arms, "--k", 2, "--delta", 0.05, "--noise", "gaussian:0.02")
    outcome = standout("study", "create", place, *options)
    assert outcome.code == 0, outcome.err
    assert "5 arms" in outcome.out
    return place


def fill(text: str) -> str:
    """Fill in a plate as a person would."""
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["ticket", "arm", "reward"]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(rows[0])
    for ticket, arm, _ in rows[1:]:
        writer.writerow([ticket, arm, {"yew": 5.0}.get(arm, len(arm) * 0.1 + 0.01 * ord(arm[0]))])
    return out.getvalue()


def fill_all(plate: str, reward: float) -> str:
    return "".join(line.replace(",\n", f",{reward}\n") for line in plate.splitlines(True))


def test_plates_until_decided(made: str, folder: Path) -> None:
    for _ in range(200):
        plate = standout("study", "ask", made, "-n", 24, "--csv")
        if len(plate.out.splitlines()) == 1:
            break
        results = folder / "results.csv"
        results.write_text(fill(plate.out))
        told = standout("study", "tell", made, results)
        assert told.code == 0, told.err
    assert "stopped (decided)" in plate.err
    status = standout("study", "status", made, "--json").json
    wanted = {"pulls", "pending", "outliers", "normal", "undecided", "threshold", "stopped"}
    assert wanted | {"reason"} <= set(status)
    assert status["outliers"] == ["yew"]
    assert status["stopped"] is True
    assert status["reason"] == "decided"
    assert status["undecided"] == []
    assert status["threshold"]["lower"] < status["threshold"]["upper"]
    verified = standout("study", "verify", made, "--json")
    assert (verified.code, verified.json["ok"]) == (0, True)
    assert "no problems" in standout("study", "verify", made).out
    text = standout("study", "status", made).out
    assert "1 outlier, 4 normal, 0 undecided" in text
    assert "▲" in text


def test_ask_and_tell_one(made: str) -> None:
    asked = standout("study", "ask", made, "-n", 2, "--json").json["tickets"]
    assert [set(ticket) for ticket in asked] == [{"ticket", "arm", "expires", "item"}] * 2
    first = asked[0]["ticket"]
    assert standout("study", "tell", made, "--ticket", first, "--value", 0.5).out == "1 counted\n"
    again = standout("study", "tell", made, "--ticket", first, "--value", 0.5, "--json").json
    assert again == {"counted": 0, "repeated": 1, "surplus": 0, "again": False, "time": None}
    other = standout("study", "tell", made, "--ticket", first, "--value", 0.6)
    assert (other.code, "recorded reward 0.5" in other.err) == (2, True)
    assert standout("study", "tell", made, "--arm", "yew", "--value", 5).code == 0
    stdin = f"ticket,reward\n{asked[1]['ticket']},0.25\n"
    assert standout("study", "tell", made, "-", stdin=stdin).out == "1 counted\n"
    status = standout("study", "status", made, "--json").json
    assert (status["pulls"], status["pending"], status["threshold"]["lower"]) == (3, 0, None)
    for words in ((), ("--value", 1), ("--ticket", 1), ("x.csv", "--ticket", 1, "--value", 1)):
        assert standout("study", "tell", made, *words).code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ticket,reward\n1,0.5\n2,x\n", "line 3: reward 'x' is not a number"),
        ("ticket,reward\n1,0.5\n2,nan\n", "line 3: reward nan is not finite"),
        ("ticket,reward\n1,0.5\n2,1_0\n", "line 3: reward '1_0' is not a number"),
        ("ticket,reward\n1,0.5\n2,\n", "line 3: no reward"),
        ("ticket,reward\n1,0.5\n99,1\n", "line 3: there is no ticket 99"),
        ("ticket,reward\n1,0.5\n1,0.6\n", "line 3: ticket 1 has the recorded reward 0.5, not 0.6"),
        ("ticket,reward\n1,0.5\ntwo,1\n", "line 3: ticket 'two' is not a number"),
        ("ticket,reward\n1,0.5\n-2,1\n", "line 3: ticket '-2' is not a number"),
        ("ticket,reward\n1,0.5\n" + "9" * 30 + ",1\n", "line 3: ticket"),
        ("ticket,reward\n1,0.5\n2\n", "line 3: 1 fields, but the header has 2"),
        ("ticket,arm,reward\n1,ash,0.5\n2,ash,1\n", "line 3: ticket 2 is for arm 'elm'"),
        ("arm,reward\nash,0.5\npalm,1\n", "line 3: no arm 'palm'"),
        ('arm,reward\nash,0.5\n"open,1\n', "line 3"),
        ('arm,reward\n"ash",0.5\n\n\n"two\nlines",1\n', "line 5: no arm 'two\\nlines'"),
        ("reward\n1\n", "line 1: the header must be"),
        ("", "line 1: the header must be"),
        (b"arm,reward\nash,1\n\xff\xfe,1\n", "line 3: not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_nothing_counted(made: str, text: str, message: str) -> None:
    standout("study", "ask", made, "-n", 3)
    outcome = standout("study", "tell", made, "-", stdin=text)
    assert outcome.code == 2
    assert message in outcome.err
    status = standout("study", "status", made, "--json").json
    assert (status["pulls"], status["pending"]) == (0, 3)


def test_spreadsheets_files_are_read(made: str) -> None:
    standout("study", "ask", made, "-n", 3)
    text = "\ufeffTicket,Arm,Value,Note\r\n1,ash,0.5,fine\r\n\r\n2,elm,1e-3,\r\n3,fir,,later\r\n"
    told = standout("study", "tell", made, "-", "--skip-blank", stdin=text.encode())
    assert told.out == "2 counted\n"


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_export(made: str, folder: Path, form: str) -> None:
    import pandas as pd

    standout("study", "tell", made, "-", stdin="arm,reward\nash,0.5\nelm,0.125\n")
    out = folder / f"log.{form}"
    assert standout("study", "export", made, "--out", out).code == 0
    frame = getattr(pd, f"read_{form}")(out)
    assert frame["arm"].tolist() == ["ash", "elm"]
    assert frame["reward"].tolist() == [0.5, 0.125]
    assert list(folder.glob("*.part")) == []
    if form == "csv":
        assert standout("study", "export", made).out == out.read_text()
    assert standout("study", "export", made, "--format", "xlsx").code == 2
    assert standout("study", "export", made, "--out", folder / "no" / "x.csv").code == 2


def test_give_back_pause_resume(made: str) -> None:
    standout("study", "ask", made)
    assert standout("study", "fail", made, 1, "--reason", "spilt").code == 0
    assert standout("study", "pause", made, "elm", "--reason", "no seeds left").code == 0
    status = standout("study", "status", made, "--json").json
    assert status["failures"] == {"ash": 1}
    assert status["paused"] == {"elm": "no seeds left"}
    assert "elm is paused" in standout("study", "status", made).out
    assert standout("study", "resume", made, "elm").code == 0
    assert standout("study", "fail", made, 77).code == 2


def test_a_ticket_is_released(made: str) -> None:
    """The next to ask gets its pull, however long the lease still is."""
    first = standout("study", "ask", made, "--lease", "86400").out.splitlines()[-1]
    with Study.open(made) as study:
        (out,) = study.pending()
        assert out.arm in first
        assert standout("study", "release", made, str(out.ticket)).code == 0
        again = study.ask()
        assert again is not None
        assert (again.arm, again.id > out.ticket) == (out.arm, True)


def test_any_name_survives(place: str, folder: Path) -> None:
    arms = write_arms(folder, NASTY)
    outcome = standout("study", "create", place, "--arms", arms, "--noise", "bernoulli")
    assert outcome.code == 0, outcome.err
    with Study.open(place) as study:
        assert list(study.arms) == NASTY
    plate = standout("study", "ask", place, "-n", len(NASTY), "--csv").out
    rows = list(csv.reader(io.StringIO(plate, newline="")))[1:]
    assert sorted(unguarded(row[1]) for row in rows) == sorted(NASTY)
    assert standout("study", "tell", place, "-", stdin=fill_all(plate, 1)).code == 0
    for arm in NASTY:
        told = standout("study", "tell", place, f"--arm={arm}", "--value", 0)
        assert told.code == 0, told.err
    with Study.open(place) as study:
        assert sorted(study.history()["arm"]) == sorted(NASTY * 2)
        assert study.verify()
    shown = standout("study", "status", place).out
    assert "\x1b" not in shown
    assert standout("study", "ask", place, "--json").json["tickets"][0]["arm"] in NASTY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm\na\nb\na\n", "line 4: arm 'a' is on line 2 already"),
        ("arm\na\nb\n", "at least 3 arms"),
        ("", "no arms"),
        ("x,y\n1,2\n", "no column arm"),
        ("name,arm\nx,\n", "line 2: no arm"),
        ('arm\na\n"b\nc\n', "line 3"),
        ("arm\na\nb\nc\x00d\n", "NUL"),
    ],
)
def test_bad_arms(folder: Path, text: str, message: str) -> None:
    place = folder / "new.db"
    words = ("study", "create", place, "--arms", "-", "--noise", "bernoulli")
    outcome = standout(*words, stdin=text)
    assert outcome.code == 2
    assert message in outcome.err
    assert not place.exists()


def test_list(folder: Path) -> None:
    arms = write_arms(folder, ["a", "b", "c"])
    for name in ("one", "two"):
        made = ("--arms", arms, "--noise", "bernoulli", "--study", name)
        assert standout("study", "create", folder / "s.db", *made).code == 0
    (folder / "other.db").write_text("not a database")
    found = standout("study", "list", folder, "--json").json["studies"]
    assert [(row["name"], row["arms"], row["undecided"]) for row in found] == [
        ("one", 3, 3),
        ("two", 3, 3),
    ]
    assert "one, 3 arms" in standout("study", "list", folder / "s.db").out
    several = standout("study", "status", folder / "s.db")
    assert "name one of 'one', 'two'" in several.err
    assert standout("study", "status", folder / "s.db", "--study", "two").code == 0


def test_an_overview_from_a_status_alone(folder: Path) -> None:
    """As `run --server` has it: nothing is made up that only the study itself can say."""
    with Study.create(folder / "s.db", ["ash", "elm", "fir"], Problem(noise="bernoulli")) as study:
        now = study.status()
        alone, full = overview(now), overview(now, study)
    assert set(alone) < set(full)
    assert "threshold not known yet" in alone[1]
    assert any(line.startswith("pulls left") for line in full)
