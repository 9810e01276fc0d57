"""Numbers that nobody means: every one is taken as it is, or refused in one line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from standout import Problem
from standout.errors import StandoutError, StorageError, StudyError
from standout.study import Study
from standout.study.arguments import MOST_TICKETS
from tests.study.cli import standout

ARMS = ["a", "b", "c"]
PROBLEM = Problem(noise="gaussian:1")
ODD: tuple[Any, ...] = (
    10**400, -(10**400), 10**5000, 10**19, 2**63, 2**63 - 1, -(2**63), 2**31, 0, -1, 1.5,
    1e308, -1e308, 5e-324, -0.0, float("nan"), float("inf"), -float("inf"),
    "1", b"1", True, [1], {}, 1j,
)  # fmt: skip


def attempt(call: Callable[[], object]) -> bool:
    """Whether it works; an error must be ours, of one line, and not endless."""
    try:
        call()
    except StandoutError as error:
        message = str(error)
    else:
        return True
    assert "\n" not in message
    assert len(message) < 500
    return False


def use(place: str, name: str, **options: Any) -> None:
    problem = options.pop("problem", PROBLEM)
    with Study.create(place, ARMS, problem, name=name, **options) as study:
        study.tell_many([(ticket, 1.0) for ticket in study.ask(3)])
        study.ask(5)
        study.status()
        assert study.verify().problems == ()


SETTINGS = (
    "budget", "seed", "lease", "pause_after", "method", "ordered", "patience", "costs", "items",
    "page",
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings(folder: Path, setting: str) -> None:
    place = str(folder / "x.db")
    for number, value in enumerate(ODD):
        attempt(lambda n=number, v=value: use(place, f"x {n}", **{setting: v}))
        if setting == "costs":
            attempt(lambda n=number, v=value: use(place, f"y {n}", costs={"a": v}))
        if setting == "page":
            for part in ("min", "max", "step", "steps"):
                scale = {"min": 0, "max": 1, part: value}
                name = f"{part} {number}"
                attempt(lambda n=name, s=scale: use(place, n, page={"scale": s}))
            buttons = [{"label": "x", "value": value}]
            attempt(lambda n=number, b=buttons: use(place, f"b {n}", page={"buttons": b}))


@pytest.mark.parametrize("field", ["k", "delta", "tolerance", "mad_scale", "k_low"])
def test_problems(folder: Path, field: str) -> None:
    place = str(folder / "x.db")
    for number, value in enumerate(ODD):
        options = {"noise": "gaussian:1", "side": "both", field: value}
        attempt(lambda n=number, o=options: use(place, f"x {n}", problem=Problem(**o)))


def test_calls(place: str) -> None:
    with Study.create(place, ARMS, PROBLEM) as study:
        tickets = study.ask(3)
        for value in ODD:
            calls: list[Callable[[], object]] = [
                lambda v=value: study.ask(1, lease=v),
                lambda v=value: study.ask(1, worker=v),
                lambda v=value: study.ask(1, worker="w", known=[v]),
                lambda v=value: study.tell(v, 1.0),
                lambda v=value: study.tell(tickets[0], v),
                lambda v=value: study.tell(arm="a", reward=v),
                lambda v=value: study.tell_many([("a", v)] * 60),
                lambda v=value: study.tell(arm="a", reward=1.0, key=v),
                lambda v=value: study.tell_and_ask([("a", 1.0)], 1, lease=v),
                lambda v=value: study.fail(v),
                lambda v=value: study.renew([v]),
                lambda v=value: study.renew([tickets[1]], v),
                lambda v=value: study.release([v]),
                lambda v=value: study.pause(v),
                lambda v=value: study.holder(v),
                lambda v=value: study.failures(v),
                lambda v=value: study.failures(5, v),
                lambda v=value: study.items([v]),
                lambda v=value: study.verify(v),
            ]
            for call in calls:
                attempt(call)
            if not (isinstance(value, int | float) and 0 < value <= 5):
                assert not attempt(lambda v=value: study.ask(v))
        # What was taken is kept as it is: a negative zero, too, is the zero that was counted.
        assert study.verify().problems == ()


def test_more_tickets_than_anybody_measures(folder: Path) -> None:
    with Study.create(folder / "x.db", ARMS, PROBLEM) as study:
        for count in (MOST_TICKETS + 1, 2**31, 10**400):
            with pytest.raises(StudyError, match="from 1 to 1,000,000"):
                study.ask(count)
        assert study.status().pending == 0


@pytest.mark.parametrize("reward", [1e308, -1e308, 1e101])
def test_rewards_that_would_overflow(folder: Path, reward: float) -> None:
    """Their sum would be infinite, and an infinite mean stands out."""
    with Study.create(folder / "x.db", ARMS, Problem(noise="heavy:1e90")) as study:
        for count in (1, 60):
            with pytest.raises(StandoutError, match="too large"):
                study.tell_many([("a", 1.0), *[("a", reward)] * count])
        assert study.status().pulls == 0


WORDS = ("1e400", "nan", "inf", "-1", "0", "1" + "0" * 400, "-0.0", "1e-320", "x", "", "9" * 30)


@pytest.mark.parametrize(
    "option",
    [
        "--k", "--delta", "--tolerance", "--mad-scale", "--budget", "--seed", "--lease",
        "--pause-after", "--method", "--noise",
    ],
)  # fmt: skip
def test_creating_on_the_command_line(folder: Path, option: str) -> None:
    arms = folder / "arms.csv"
    arms.write_text("arm\na\nb\nc\n")
    for number, word in enumerate(
        (*WORDS, "gaussian:1e308", "bounded:0,1e-320", "random:batch=" + "9" * 19)
    ):
        words = ["--arms", arms, "--study", f"x {number}"]
        words += ["--noise", "gaussian:1"] if option != "--noise" else []
        outcome = standout("study", "create", folder / "x.db", *words, option, word)
        assert outcome.code in (0, 2), (word, outcome)
        assert "Traceback" not in outcome.err
        if outcome.code == 0:
            assert standout("study", "status", folder / "x.db", "--study", f"x {number}").code == 0


def test_asking_and_telling_on_the_command_line(folder: Path) -> None:
    place = folder / "x.db"
    Study.create(place, ARMS, PROBLEM).close()
    for word in WORDS:
        for words in (
            ("ask", place, "-n", word),
            ("ask", place, "--lease", word),
            ("tell", place, "--ticket", word, "--value", 1),
            ("tell", place, "--arm", "a", "--value", word),
            ("tell", place, "--arm", "a", "--value", 1, "--key", word),
            ("fail", place, word),
            ("verify", place, "--head", word),
        ):
            outcome = standout("study", *words)
            assert outcome.code in (0, 1, 2), (words, outcome)
            assert "Traceback" not in outcome.err
            assert len(outcome.err.splitlines()) <= 6, outcome.err
        results = f"arm,reward\na,{word}\n"
        assert standout("study", "tell", place, "-", stdin=results).code in (0, 2)
        results = f"ticket,reward\n{word},1\n"
        assert standout("study", "tell", place, "-", stdin=results).code in (0, 2)
    with Study.open(place) as study:
        assert study.verify().problems == ()


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, '0.05', 'NaN')",
        "body = '[]'",
        "body = '{'",
        "body = replace(body, '\"budget\":100', '\"budget\":-5')",
        "kind = 'made'",
        "worker = 7",
        "time = 9e999",
        "time = 'soon'",
        "digest = NULL",
        "digest = x'00'",
    ],
)
def test_a_damaged_event(folder: Path, change: str) -> None:
    path = folder / "x.db"
    with Study.create(path, ARMS, PROBLEM, budget=100) as study:
        study.tell_many([(ticket, 1.0) for ticket in study.ask(3)])
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER standout_events_kept")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    with suppress(sqlite3.IntegrityError):
        connection.execute(f"UPDATE standout_events SET {change} WHERE number = 0")
        connection.commit()
        with pytest.raises(StorageError), Study.open(path) as study:
            study.status()
        outcome = standout("study", "status", path)
        assert (outcome.code, len(outcome.err.splitlines())) == (2, 1)
    connection.close()


def test_rewards_in_json_are_what_they_were(folder: Path) -> None:
    with Study.create(folder / "x.db", ARMS, Problem(noise="heavy:1")) as study:
        values = [-0.0, 5e-324, -5e-324, 1 / 3, 1e11, -1e11, 2.0**39]
        study.tell_many([("a", value) for value in values])
        kept = json.loads("".join(study.export_parts("json")))
        assert [row["reward"] for row in kept] == values
        assert study.verify().problems == ()
