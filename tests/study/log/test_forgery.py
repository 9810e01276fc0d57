"""Whoever edits a study's database is found out by `verify`, one test for each way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.errors import StorageError
from standout.study import Study
from standout.study.log.chain import COVERED, Logged, link, pack
from standout.study.log.replay import Replay
from standout.study.storage.log.chain_start import drawn_bytes, settings_digest
from standout.study.storage.log.steps import Log, read_steps
from standout.study.storage.versions import APPEND_ONLY, guards
from tests.study.cli import standout
from tests.study.postgres import Server
from tests.study.test_conformance import ARMS, MEANS, SIGMA

PROBLEM = Problem(noise="gaussian:0.03", k=2)
GUARDS = {
    name: sql
    for tables in APPEND_ONLY.values()
    for table in tables
    for name, sql in guards(table, "sqlite").items()
}


def measure(study: Study, rounds: int) -> None:
    rng = np.random.default_rng(4)
    for turn in range(rounds):
        tickets = study.ask(7, worker=f"worker {turn % 2}")
        if turn == 2:
            study.fail(tickets.pop(), "dropped", worker="clumsy")
        pairs: list[Any] = [(t, rng.normal(MEANS[t.arm], SIGMA)) for t in reversed(tickets)]
        if turn % 3 == 0:
            pairs.append(("elm", rng.normal(MEANS["elm"], SIGMA)))
        study.tell_many(pairs, worker=f"worker {turn % 2}")
    study.pause("oak", "broken")
    study.resume("oak")
    study.pause("fir", "no more")


def create(place: str | Path, **options: Any) -> Study:
    items = {"ash": {"text": "An ash"}}
    return Study.create(place, ARMS, PROBLEM, "roai-lucb", items=items, **options)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study under way that is well."""
    path = tmp_path_factory.mktemp("honest") / "study.db"
    with create(path, budget=400) as study:
        measure(study, 8)
        study.ask(3)
        assert study.verify().problems == ()
        assert study.status().outliers
        assert not study.status().stopped
    return path


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that has decided everything."""
    path = tmp_path_factory.mktemp("ended") / "study.db"
    with create(path) as study:
        rng = np.random.default_rng(3)
        while tickets := study.ask(4):
            study.tell_many([(t, rng.normal(MEANS[t.arm], SIGMA)) for t in tickets])
        assert study.verify().problems == ()
        assert study.status().reason == "decided"
    return path


@pytest.fixture
def forge(folder: Path) -> Callable[..., list[str]]:
    """Copies a study, lets statements loose on it, and gives the problems found.

    The forger drops the triggers first and makes them again, as they were.
    """

    def run(path: Path, *statements: str, remake: bool = True) -> list[str]:
        copy = folder / "forged.db"
        copy.write_bytes(path.read_bytes())
        connection = sqlite3.connect(copy)
        for name in GUARDS:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            changed = connection.execute(statement).rowcount
            assert changed != 0, statement
        if remake:
            for sql in GUARDS.values():
                connection.execute(sql)
        connection.commit()
        connection.close()
        with Study.open(copy) as study:
            return list(study.verify().problems)

    return run


def test_an_honest_copy_is_well(honest: Path, ended: Path, forge: Callable[..., list[str]]) -> None:
    assert forge(honest) == forge(ended) == []


def only(problems: list[str], *words: str) -> None:
    """That something was found, and that each of these words is said."""
    assert problems
    for word in words:
        assert any(word in problem for problem in problems), (word, problems)


def test_a_verdict_is_set(honest: Path, forge: Callable[..., list[str]]) -> None:
    problems = forge(honest, "UPDATE standout_arms SET verdict = 2 WHERE name = 'fir'")
    only(problems, "verdict of 'fir': 2, but 0 by the log")


def test_all_verdicts_are_reset(ended: Path, forge: Callable[..., list[str]]) -> None:
    problems = forge(
        ended,
        "UPDATE standout_arms SET verdict = 0",
        "UPDATE standout_runs SET reason = 'running', stopped = NULL",
    )
    only(problems, "verdict of 'yew': 0, but 2", "reason of the stop: running, but decided")


def test_the_reason_is_changed(ended: Path, forge: Callable[..., list[str]]) -> None:
    only(forge(ended, "UPDATE standout_runs SET reason = 'budget'"), "reason of the stop: budget")
    only(forge(ended, "UPDATE standout_runs SET stopped = stopped + 60"), "time of the stop")


def memory_with(path: Path, name: str, change: Callable[[float], float]) -> str:
    """A statement that changes what is remembered of the arm elm."""
    connection = sqlite3.connect(path)
    (fields,) = connection.execute("SELECT fields FROM standout_studies").fetchone()
    (text,) = connection.execute("SELECT memory FROM standout_arms WHERE name = 'elm'").fetchone()
    connection.close()
    values = json.loads(text)
    start = 0
    for field, width in json.loads(fields):
        if field == name:
            values[start] = change(values[start])
        start += width
    return f"UPDATE standout_arms SET memory = '{json.dumps(values)}' WHERE name = 'elm'"


@pytest.mark.parametrize("name", ["lower", "upper", "estimate", "verdict", "costs", "stage"])
def test_what_is_remembered_of_an_arm(
    honest: Path, forge: Callable[..., list[str]], name: str
) -> None:
    step = 1e-6 if name in ("lower", "upper", "estimate") else 1
    problems = forge(honest, memory_with(honest, name, lambda value: value + step))
    only(problems, "began with" if name in ("costs", "stage") else f"'elm': its {name} is not")


def test_what_is_remembered_of_the_run(honest: Path, forge: Callable[..., list[str]]) -> None:
    connection = sqlite3.connect(honest)
    (text,) = connection.execute("SELECT scalars FROM standout_runs").fetchone()
    connection.close()
    for name, place in (("bounds", (0, 4)), ("sampled", (1,)), ("counters", (1,))):
        scalars = json.loads(text)
        target = scalars[name]
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] += 1
        statement = f"UPDATE standout_runs SET scalars = '{json.dumps(scalars)}'"
        only(forge(honest, statement), "rounds" if name == "counters" else f"run's {name}")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE standout_studies SET problem = replace(problem, '0.05', '0.5')",
        "UPDATE standout_studies SET problem = replace(problem, '\"k\": 2', '\"k\": 1')",
        "UPDATE standout_studies SET method = 'focus'",
        "UPDATE standout_studies SET budget = 500",
        "UPDATE standout_studies SET lease = 5",
        "UPDATE standout_studies SET ordered = NOT ordered",
        "UPDATE standout_studies SET name = 'other'",
        "UPDATE standout_studies SET created = created - 1",
        "UPDATE standout_arms SET name = name || ' tree' WHERE position = 4",
        "UPDATE standout_items SET content = replace(content, 'An ash', 'An oak')",
        "INSERT INTO standout_items VALUES (1, 2, '{}')",
        "DELETE FROM standout_items",
    ],
)
def test_settings(honest: Path, forge: Callable[..., list[str]], statement: str) -> None:
    only(forge(honest, statement), "settings, arms or items are not those")


def test_arm_names_are_swapped(honest: Path, forge: Callable[..., list[str]]) -> None:
    problems = forge(
        honest,
        "UPDATE standout_arms SET name = CASE position WHEN 0 THEN 'yew' ELSE 'ash' END "
        "WHERE position IN (0, 4)",
    )
    only(problems, "settings, arms or items are not those")


@pytest.mark.parametrize(
    "change",
    [
        "value = value + 1e-9",
        "arm = (arm + 1) % 5",
        "worker = 'somebody else'",
        "time = time + 1",
        "asked = asked - 1",
        "ticket = 1000 + seq",
        "counted = NOT counted",
    ],
)
def test_a_reward_is_edited(honest: Path, forge: Callable[..., list[str]], change: str) -> None:
    is_alone = change.startswith("time")
    words = "place 9 of the log: place, time or worker" if is_alone else "its digest does not fit"
    only(forge(honest, f"UPDATE standout_rewards SET {change} WHERE seq = 9"), words)
    words = "time or worker is not that of its step" if is_alone else "its digest does not fit"
    only(forge(honest, f"UPDATE standout_rewards SET {change}"), words)


def test_two_values_are_swapped(honest: Path, forge: Callable[..., list[str]]) -> None:
    """Of one arm, so that no total changes."""
    connection = sqlite3.connect(honest)
    rows = connection.execute(
        "SELECT seq, value FROM standout_rewards WHERE arm = 1 ORDER BY seq"
    ).fetchall()
    connection.close()
    (one, a), (two, b) = rows[0], rows[-1]
    problems = forge(
        honest,
        f"UPDATE standout_rewards SET value = {b!r} WHERE seq = {one}",
        f"UPDATE standout_rewards SET value = {a!r} WHERE seq = {two}",
    )
    only(problems, "its digest does not fit")


def test_the_last_reward_is_taken_out(honest: Path, forge: Callable[..., list[str]]) -> None:
    last = "(SELECT max(seq) FROM standout_rewards)"
    only(forge(honest, f"DELETE FROM standout_rewards WHERE seq = {last}"), "digest does not fit")
    # With its step, and all counters set back: the totals do not fit what is left.
    problems = forge(
        honest,
        "DELETE FROM standout_steps WHERE number = (SELECT max(number) FROM standout_steps)",
        "UPDATE standout_runs SET steps = steps - 1, "
        "head = (SELECT digest FROM standout_steps ORDER BY number DESC LIMIT 1)",
    )
    only(problems, "pauses of 'fir'")


@pytest.mark.parametrize(
    "change",
    [
        "time = time + 1", "key = 'x'", "request = x'00'", "repeated = repeated + 1",
        "surplus = 1", "counted = '1'", "decided = '[[0],[]]'", "ended = NOT ended",
        "reason = 'decided'", "note = '[1]'", "engine = 7", "kind = 2",
    ],
)  # fmt: skip
def test_a_step_is_edited(honest: Path, forge: Callable[..., list[str]], change: str) -> None:
    problems = forge(honest, f"UPDATE standout_steps SET {change} WHERE number = 5")
    only(problems, "step 5")


@pytest.mark.parametrize("change", ["logged = 1000000000000", "counted = '1-1000000000000'"])
def test_a_step_of_a_length_that_cannot_be(
    honest: Path, folder: Path, forge: Callable[..., list[str]], change: str
) -> None:
    """To go through all of it took for ever, or all memory."""
    path = folder / "void.db"
    path.write_bytes(honest.read_bytes())
    with Study.open(path) as study:
        study.void(2, reason="a slip")
    only(forge(path, f"UPDATE standout_steps SET {change} WHERE number = 5"), "step 5")


def sealed_anew(path: Path) -> list[str]:
    """Statements that give every step the digest that fits it as it stands now."""
    found = []
    with Study.open(path) as study, study._reading() as (connection, _):
        stored = study._stored
        replay, log = Replay(connection, stored), Log(connection, stored.key, 0)
        digest = settings_digest(connection, stored.key, drawn_bytes(stored.progress.state))
        for row in read_steps(connection, stored.key):
            rewards = log.take(int(row["logged"]))
            detail = replay._detail(row, rewards)
            logged = [Logged(r[2], r[3], r[4], r[5], bool(r[7])) for r in rewards]
            covered = [row[name] for name in COVERED]
            digest = link(digest, covered, detail, pack(logged))
            replay._apply(row, detail, rewards)
            where = f"digest = x'{digest.hex()}' WHERE number = {row['number']}"
            found.append(f"UPDATE standout_steps SET {where}")
    return [*found, f"UPDATE standout_runs SET head = x'{digest.hex()}'"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "UPDATE standout_steps SET decided = '[[],[2]]' WHERE number = 5;"
            "UPDATE standout_arms SET verdict = 2 WHERE name = 'fir'",
            "what it decided does not follow",
        ),
        (
            "UPDATE standout_steps SET decided = NULL;UPDATE standout_arms SET verdict = 0",
            "what it decided does not follow",
        ),
        (
            "UPDATE standout_steps SET reason = 'decided' WHERE number = 8;"
            "UPDATE standout_runs SET reason = 'decided', "
            "stopped = (SELECT time FROM standout_steps WHERE number = 8)",
            "it says that the study stopped",
        ),
    ],
    ids=["a verdict", "no verdicts", "a stop"],
)
def test_a_false_answer_with_digests_that_fit(
    honest: Path, folder: Path, forge: Callable[..., list[str]], change: str, words: str
) -> None:
    """Rewards as they were: the answer has to follow from them, not only from the steps."""
    statements = change.split(";")
    forge(honest, *statements)
    problems = forge(honest, *statements, *sealed_anew(folder / "forged.db"))
    only(problems, words)
    assert not any("digest" in problem for problem in problems)


def test_a_failure_is_edited(honest: Path, forge: Callable[..., list[str]]) -> None:
    for change in ("reason = 'too low'", "worker = 'x'", "arm = 0", "time = 5"):
        only(forge(honest, f"UPDATE standout_failures SET {change}"), "(fail) was changed")
    only(forge(honest, "DELETE FROM standout_failures"), "(fail) was changed")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("standout_arms SET total = total + 1 WHERE position = 2", "'fir'"),
        ("standout_arms SET pulls = pulls + 1 WHERE position = 2", "'fir'"),
        ("standout_arms SET failures = 9 WHERE position = 2", "failures of 'fir'"),
        ("standout_arms SET streak = 9 WHERE position = 2", "failures in a row of 'fir'"),
        ("standout_arms SET paused = NULL WHERE position = 2", "pauses of 'fir'"),
        ("standout_arms SET paused = 'other' WHERE position = 2", "pauses of 'fir'"),
        ("standout_arms SET held = 4 WHERE position = 2", "rewards that wait of 'fir'"),
        ("standout_arms SET pending = 4 WHERE position = 2", "pending pulls of 'fir'"),
        ("standout_runs SET pulls = pulls + 1", "pulls:"),
        ("standout_runs SET surplus = 3", "surplus:"),
        ("standout_runs SET log = log + 1", "rewards logged"),
        ("standout_runs SET tickets = tickets + 1", "tickets:"),
        ("standout_runs SET failed = 0", "failures logged"),
        ("standout_runs SET steps = steps + 1", "steps:"),
        ("standout_runs SET head = x'1234'", "last digest"),
        ("standout_trace SET upper = upper + 1", "trace at"),
        ("standout_trace SET time = time + 1", "trace at"),
        ("standout_trace SET undecided = 0", "trace at"),
    ],
)
def test_what_is_kept_is_edited(
    honest: Path, forge: Callable[..., list[str]], change: str, words: str
) -> None:
    only(forge(honest, f"UPDATE {change}"), words)


@pytest.mark.parametrize(
    "change",
    ["arm = 99", "arm = -1", "id = 99999", "id = 0", "slot = 0", "slot = 99999", "value = 1.0",
     "logged = 1"],
)  # fmt: skip
def test_a_ticket_that_cannot_be(
    honest: Path, folder: Path, forge: Callable[..., list[str]], change: str
) -> None:
    """With an arm that does not exist `verify` itself broke."""
    path = folder / "asked.db"
    path.write_bytes(honest.read_bytes())
    with Study.open(path) as study:
        ticket = study.ask()
        assert ticket is not None
    problems = forge(path, f"UPDATE standout_tickets SET {change} WHERE id = {ticket.id}")
    assert any("there cannot be a ticket" in problem for problem in problems)


def test_random_numbers_that_cannot_be_read(
    honest: Path, folder: Path, forge: Callable[..., list[str]]
) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        forge(honest, "UPDATE standout_runs SET rng = ''")


def test_the_trace_is_cut(honest: Path, forge: Callable[..., list[str]]) -> None:
    only(forge(honest, "DELETE FROM standout_trace WHERE pulls > 20"), "rows of the trace")


def test_triggers_are_missing_or_others(honest: Path, forge: Callable[..., list[str]]) -> None:
    problems = forge(honest, remake=False)
    assert len(problems) == len(GUARDS)
    only(problems, "standout_rewards_no_update is missing", "standout_steps_no_delete is missing")
    harmless = (
        "CREATE TRIGGER standout_rewards_no_update BEFORE UPDATE ON standout_rewards "
        "BEGIN SELECT 1; END"
    )
    only(forge(honest, harmless, remake=False), "standout_rewards_no_update is not ours")
    strange = "CREATE TRIGGER x AFTER INSERT ON standout_rewards BEGIN SELECT 1; END"
    only(forge(honest, strange), "a trigger x that is not ours")


def test_a_rewritten_log_shows_by_the_head_that_was_kept(honest: Path, folder: Path) -> None:
    """Whoever owns the file can write a whole new log; it has other digests."""
    path = folder / "study.db"
    path.write_bytes(honest.read_bytes())
    kept = standout("study", "verify", path, "--json").json
    assert (kept["ok"], kept["notes"]) == (True, [])
    assert kept["head"] == standout("study", "status", path, "--json").json["head"]
    # What comes later leaves it among the digests.
    with Study.open(path) as study:
        study.tell(arm="ash", reward=0.0)
        assert study.verify(kept["head"].upper()).problems == ()
        assert study.verify().head != kept["head"]
    assert standout("study", "verify", path, "--head", kept["head"]).code == 0
    other = folder / "other.db"
    with create(other, budget=400) as study:
        measure(study, 8)
        assert study.verify().problems == ()
    refused = standout("study", "verify", other, "--head", kept["head"])
    assert (refused.code, "no step has the digest" in refused.err) == (1, True)
    for odd in ("", "xyz", "0" * 64):
        assert standout("study", "verify", path, "--head", odd).code == 1


# PostgreSQL -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE standout_arms SET verdict = 2 WHERE name = 'fir'", "verdict of 'fir'"),
        ("UPDATE standout_rewards SET value = value + 1 WHERE seq = 9", "digest does not fit"),
        ("UPDATE standout_rewards SET worker = 'x' WHERE seq = 9", "digest does not fit"),
        ("UPDATE standout_steps SET decided = NULL", "digest does not fit"),
        ("UPDATE standout_studies SET budget = 9999", "settings, arms or items"),
        ("UPDATE standout_failures SET reason = 'x'", "(fail) was changed"),
        ("UPDATE standout_arms SET seq = 1000000", "changes: "),
        ("UPDATE standout_tickets SET round = round + 1", "pulls out by round"),
        ("UPDATE standout_tickets SET slot = 1", "is of two arms or rounds, or out twice"),
        ("UPDATE standout_tickets SET status = 4 WHERE status = 0", "was given back by its row"),
        ("DROP TRIGGER standout_steps_keep ON standout_steps", "standout_steps_keep is missing"),
        ("ALTER TABLE standout_rewards DISABLE TRIGGER standout_rewards_keep", "is not ours"),
        (
            "CREATE OR REPLACE FUNCTION standout_rewards_keep() RETURNS trigger "
            "LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
            "standout_rewards_keep is not ours",
        ),
    ],
)
def test_on_postgresql(server: Server, statement: str, words: str) -> None:
    name = f"forged_{abs(hash(statement))}"
    url = server.new_database(name)
    with create(url, budget=400) as study:
        measure(study, 4)
        study.ask(3)
        assert study.verify().problems == ()
    if statement.startswith("UPDATE"):
        # As one who may: without triggers for this session.
        statement = f"SET session_replication_role = replica; {statement}"
    server.run(statement, name)
    with Study.open(url) as study:
        only(list(study.verify().problems), words)
