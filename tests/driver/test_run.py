"""`standout run`: measuring with programs and functions, and going on after a crash."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from standout import Problem
from standout.driver.command import Command, MeasurementFailed, parse_command
from standout.driver.worker import Worker, _began, is_gone, worker_name
from standout.errors import AllOutError, StudyError, UncertainError
from standout.retries import Patience
from standout.study import Study
from tests.cli.test_study import NASTY, write_arms
from tests.patience import HANGS, until
from tests.study.cli import standout
from tests.study.conftest import Clock

PROGRAM = [sys.executable, "-c", "from standout.cli.main import main; main()"]


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


# A deterministic assay: the third arm is far from the others.
ASSAY = 'case "$1" in c) echo 50;; a) echo 1;; b) echo 1.1;; *) echo 1.2;; esac'
QUESTION = ("--noise", "gaussian:0.05", "--k", 3)


def test_measures_with_a_program(here: Path) -> None:
    script(here, "assay", ASSAY)
    arms = write_arms(here, ["a", "b", "c", "d", "e"])
    words = ("run", "--arms", arms, "--measure", "./assay {arm}", *QUESTION)
    outcome = standout(*words, "--json", "x.db")
    assert outcome.code == 0, outcome.err
    assert outcome.json["outliers"] == ["c"]
    assert outcome.json["reason"] == "decided"
    again = standout(*words, "x.db")
    assert again.code == 0
    assert "stopped: decided" in again.out
    with Study.open(here / "x.db") as study:
        assert study.verify()
        assert study.status().pulls == outcome.json["pulls"]
    # Without PATH the study lies beside, called like the file of arms.
    assert standout(*words, "--jobs", 3).code == 0
    assert (here / "arms.db").exists()


def test_an_arms_name_is_one_argument(here: Path) -> None:
    """Whatever it contains: the program sees exactly the name, and no shell sees it at all."""
    for name in NASTY:
        shown = Command((sys.executable, "-c", "import sys; print(len(sys.argv[1]))", "{arm}"))
        assert shown(name) == len(name)
    inside = Command((sys.executable, "-c", "import sys; print(len(sys.argv[1]))", "--x={arm}!"))
    assert inside("a b") == len("--x=a b!")
    environment = Command(("printenv", "STANDOUT_ARM", "{arm}"))
    with pytest.raises(MeasurementFailed):
        environment("a")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo hello", "it printed 'hello', not a number"),
        ("true", "it printed nothing, not a number"),
        ("echo 1_000", "not a number"),
        ("echo 1 2", "not a number"),
        ("echo oh dear >&2; exit 3", "exit code 3: oh dear"),
        ("kill -9 $$", "ended by signal 9"),
        ("sleep 60", "no answer within 0.3 s"),
        ("sleep 60 & sleep 60", "no answer within 0.3 s"),
    ],
)
def test_failed_measurements_say_why(here: Path, text: str, message: str) -> None:
    path = script(here, "assay", text)
    with pytest.raises(MeasurementFailed) as caught:
        Command((str(path), "{arm}"), timeout=0.3)("a")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("./assay", "write {arm}"),
        ("", "empty"),
        ("./no-such-program {arm}", "no program"),
        ("'unclosed {arm}", "No closing quotation"),
    ],
)
def test_bad_commands(command: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse_command(command)


def test_bad_words(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standout.driver.campaign.DASK_PATIENCE", 1.0)
    arms = write_arms(here, ["a", "b", "c"])
    for words, message in (
        ((), "give a way to measure"),
        (("--measure", "echo {arm}", "--measure-python", "m:f"), "give a way to measure"),
        (("--measure-python", "nothing"), "module:function"),
        (("--measure-python", "no_such_module:f"), "cannot be found"),
        (("--measure-python", "math:pi"), "not a function"),
        (("--measure-python", "math:sqrt", "--timeout", 1), "--timeout"),
        (("--measure", "echo {arm}", "--dask", "tcp://127.0.0.1:1"), "no Dask scheduler"),
    ):
        outcome = standout("run", "--arms", arms, *words, "y.db")
        assert outcome.code == 2
        assert message in outcome.err


def test_another_question_needs_another_place(here: Path) -> None:
    script(here, "assay", ASSAY)
    arms = write_arms(here, ["a", "b", "c", "d", "e"])
    words = ("run", "--arms", arms, "--measure", "./assay {arm}", "x.db")
    assert standout(*words, *QUESTION, "--budget", 20).code == 0
    assert "has k 3.0, not 2.0" in standout(*words, *QUESTION, "--budget", 20, "--k", 2).err
    assert "budget of 20, not none" in standout(*words, *QUESTION).err
    assert "uses" in standout(*words, *QUESTION, "--budget", 20, "--method", "random").err
    write_arms(here, ["a", "b", "c"])
    assert "other arms" in standout(*words, *QUESTION, "--budget", 20).err


def test_failures_are_retried_then_paused(here: Path) -> None:
    """One arm never works: all others are decided as far as possible, and it is named."""
    script(here, "assay", 'echo "$1" >> log; [ "$1" = d ] && exit 1; ' + ASSAY)
    arms = write_arms(here, ["a", "b", "c", "d", "e"])
    words = ("run", "--arms", arms, "--measure", "./assay {arm}", *QUESTION, "--budget", 60)
    outcome = standout(*words, "--retries", 1, "--json", "x.db")
    assert (here / "log").read_text().split().count("d") == 2
    assert outcome.json["failures"] == {"d": 2}
    assert "measuring failed 2 times in a row: exit code 1" in outcome.json["paused"]["d"]
    # Mended, the same command measures it too.
    script(here, "assay", ASSAY)
    if not outcome.json["stopped"]:
        assert outcome.code == 1
        mended = standout(*words, "--retries", 1, "--json", "x.db").json
        assert mended["paused"] == {}


def test_nothing_works(here: Path) -> None:
    script(here, "assay", "echo no instrument >&2; exit 1")
    arms = write_arms(here, list("abcdefgh"))
    outcome = standout("run", "--arms", arms, "--measure", "./assay {arm}", *QUESTION, "x.db")
    assert outcome.code == 2
    assert "no measurement works" in outcome.err
    assert "no instrument" in outcome.err
    assert standout("study", "status", "x.db", "--json").json["expired"] == 0


def test_measures_with_a_function(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "bench_module.py").write_text(
        "class Bench:\n"
        "    @staticmethod\n"
        "    def measure(arm):\n"
        "        return {'c': 50.0}.get(arm, 1.0 + 0.01 * ord(arm))\n"
    )
    monkeypatch.syspath_prepend(here)
    arms = write_arms(here, ["a", "b", "c", "d", "e"])
    words = ("--measure-python", "bench_module:Bench.measure", "--jobs", 2, *QUESTION, "x.db")
    outcome = standout("run", "--arms", arms, *words, "--json")
    assert outcome.json["outliers"] == ["c"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_goes_on_after_it_was_ended(
    here: Path, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command, ended again and again, ends with every reward once."""
    # A gate: however late the signal comes, the run has not come to its end before.
    gate = "until [ $(ls done | wc -l) -lt $(cat limit) ]; do sleep 0.05; done; touch done/$$; "
    script(here, "assay", gate + ASSAY)
    (here / "done").mkdir()
    arms = write_arms(here, ["a", "b", "c", "d", "e"])
    # So wide a noise that the budget decides when it ends.
    options = ["--noise", "gaussian:9", "--budget", "150", "--jobs", "3", "x.db"]
    words = ["run", "--arms", str(arms), "--measure", "./assay {arm}", *options]
    pulls = []
    for _ in range(3):
        before = pulls[-1] if pulls else 0
        (here / "limit").write_text(str(len(list((here / "done").iterdir())) + 25))
        process = subprocess.Popen(
            [*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + HANGS
        while process.poll() is None and time.monotonic() < deadline:
            if (here / "x.db").exists() and count_rewards(here / "x.db") >= before + 15:
                process.send_signal(how)
                break
            time.sleep(0.05)
        code = process.wait(HANGS)
        assert code == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[how]
        with Study.open(here / "x.db") as study:
            assert study.verify().problems == ()
            pulls.append(study.status().pulls)
            pending = study.status().pending
            if how is not signal.SIGKILL:
                assert study.status().expired == pending
    (here / "limit").write_text("100000")
    assert pulls == sorted(pulls)
    # What the killed runs had under way is taken over at once, not when its lease ends.
    monkeypatch.setattr(Worker, "_wait_for_others", lambda self: False)
    last = standout(*words, "--json")
    assert (last.json["pulls"], last.json["pending"], last.json["reason"]) == (150, 0, "budget")
    with Study.open(here / "x.db") as study:
        assert study.verify().problems == ()


def count_rewards(path: Path) -> int:
    try:
        with Study.open(path) as study:
            return study.status().pulls
    except StudyError:
        return 0


def test_workers_that_are_gone() -> None:
    assert not is_gone(worker_name())
    child = os.fork()
    if child == 0:
        os._exit(0)
    name = worker_name().replace(f":{os.getpid()}:", f":{child}:")
    os.waitpid(child, 0)
    assert is_gone(name)
    for other in ("somebody", "run elsewhere:1:2", "run x", ""):
        assert not is_gone(other)


def test_leases_are_renewed_while_measuring(folder: Path) -> None:
    """A measurement may take longer than the lease; nobody else gets it meanwhile."""
    path = folder / "x.db"
    problem = Problem(noise="gaussian:9")
    clock, turn = Clock(), threading.Lock()
    study = Study.create(path, ["a", "b", "c"], problem, budget=3, clock=clock)
    other = Study.open(path, clock=clock)
    taken: list[int] = []

    def is_renewed() -> bool:
        return min(one.expires for one in other.pending()) > clock.now + 0.35

    def slow(arm: str) -> float:
        for _ in range(6):
            with turn:
                clock.now += 0.1
                until(is_renewed, "the lease is not renewed")
                with suppress(AllOutError):
                    taken.extend(ticket.id for ticket in other.ask(3))
        return 1.0

    with ThreadPoolExecutor(3) as executor:
        Worker(study, float, slow, executor, 3, lease=0.4).run()
    assert taken == []
    assert study.status().pulls == 3


@pytest.mark.parametrize("name", ["ask", "tell_many", "fail"])
def test_a_commit_of_which_nobody_knows_does_not_end_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A database that crashes amid a commit comes back, and what it did is done no second time."""
    study = Study.create(folder / "x.db", ["a", "b", "c"], Problem(noise="gaussian:9"), budget=6)
    whole, calls = getattr(study, name), 0

    def broken(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        found = whole(*given, **named)
        if calls == 1:
            raise UncertainError("the connection broke at the end")
        return found

    def measure(arm: str) -> float:
        if calls == 0 and name == "fail":
            raise ValueError("once")
        return 1.0

    monkeypatch.setattr(study, name, broken)
    with study, ThreadPoolExecutor(1) as executor:
        worker = Worker(study, float, measure, executor, 1, lease=0.1, patience=Patience(60))
        assert worker.run().stopped
        assert calls > 1
        assert (study.status().pulls, study.verify().problems) == (6, ())
        assert len(study.failures()) == (name == "fail")


def test_a_timeout_holds_although_a_grandchild_keeps_the_output_open(here: Path) -> None:
    script(here, "assay", "sleep 30 &\nsleep 30")
    with pytest.raises(MeasurementFailed, match="no answer within"):
        Command(("./assay", "a"), timeout=0.3)("a")


def test_the_exit_of_the_program_ends_the_measurement(here: Path) -> None:
    # The grandchild holds the pipe until it is told to end.
    script(here, "assay", "(while [ ! -e over ]; do sleep 0.1; done) &\necho 3")
    try:
        assert Command(("./assay", "a"))("a") == 3.0
    finally:
        (here / "over").touch()


def test_output_that_never_ends_is_not_kept(here: Path) -> None:
    script(here, "assay", "(while [ ! -e over ]; do echo noise; done) &\necho 3; exit 0")
    try:
        with suppress(MeasurementFailed):  # What it says depends on who prints first.
            Command(("./assay", "a"))("a")
    finally:
        (here / "over").touch()


def test_long_output_is_cut(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standout.driver.command.KEPT", 1000)
    script(here, "assay", "yes 7 | head -c 3000000\nyes bad | head -c 3000000 >&2; echo end >&2")
    command = Command(("./assay", "a"))
    with pytest.raises(MeasurementFailed, match="not a number"):
        command("a")
    script(here, "assay", "yes bad | head -c 3000000 >&2; echo end >&2; exit 3")
    with pytest.raises(MeasurementFailed, match=r"exit code 3: .*bad end$"):
        command("a")


def test_a_zombie_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "print('here'); input()"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()
    name = f"run {socket.gethostname()}:{child.pid}:{_began(child.pid)}"
    assert not is_gone(name)
    child.kill()
    until(lambda: is_gone(name), "still there")  # Not waited for: a zombie.
    child.wait()
    child.stdin.close()
    child.stdout.close()
