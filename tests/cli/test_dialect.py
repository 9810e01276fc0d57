"""One dialect on the command line: the same word for the same thing, one object as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from standout import Problem
from standout.cli.main import app
from standout.cli.options import QuestionOptions
from tests.study.cli import standout


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    command = command or get_command(app)
    found = getattr(command, "commands", {})
    if not found:
        yield " ".join(path), command
    for name, sub in found.items():
        yield from commands(sub, (*path, name))


COMMANDS = dict(commands())
ONE = "printf %.0s1 {arm}"
"""Prints 1, whatever the arm."""


def options(name: str) -> dict[str, Any]:
    return {word: one for one in COMMANDS[name].params for word in one.opts if word[0] == "-"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_study_is_named_by_one_word(name: str) -> None:
    assert "--name" not in options(name)


WITH_JSON = [name for name in COMMANDS if "--json" in options(name)]


@pytest.mark.parametrize("name", WITH_JSON)
def test_json_is_declared_once(name: str) -> None:
    assert options(name)["--json"].help == "Print one JSON object and nothing else."


def test_every_command_asks_the_same_question() -> None:
    """Each option of a question has one help and one default, which is that of a `Problem`."""
    words = {f"--{one.name.replace('_', '-')}": one for one in fields(QuestionOptions)}
    asking = [name for name in COMMANDS if words.keys() & options(name).keys()]
    assert set(asking) == {"analyse", "plan", "run", "simulate", "study create", "study set"}
    problem = Problem(noise="bernoulli")
    for name in set(asking) - {"study set"}:  # which changes a tolerance, and asks nothing
        for word, one in words.items():
            option = options(name)[word]
            assert option.help == options("run")[word].help
            shown = str(option.show_default if option.default is None else option.default)
            own = getattr(problem, one.name)
            assert shown.removesuffix(".0") == (
                "k" if own is None else str(own).removesuffix(".0")
            ), word
    run, create = options("run"), options("study create")
    for word in ("--noise", "--method", "--budget", "--until", "--seed", "--unordered"):
        assert run[word].help == create[word].help


def test_json_is_one_object(tmp_path: Path) -> None:
    arms = tmp_path / "arms.csv"
    arms.write_text("arm\nash\nelm\nÖl\n", encoding="utf-8")
    table = tmp_path / "past.csv"
    table.write_text("arm,value\nash,0\nelm,1\nÖl,1\n", encoding="utf-8")
    place, copy = tmp_path / "s.db", tmp_path / "copy.db"
    noise = ("--noise", "bernoulli")
    late = tmp_path / "late.csv"
    late.write_text("arm\nyew\n", encoding="utf-8")
    named = ("--study", "one", "--room", 4)
    made = standout("study", "create", place, "--arms", arms, *noise, *named)
    assert made.code == 0
    calls: dict[str, tuple[Any, ...]] = {
        "study ask": (place, "-n", 2),
        "study tell": (place, "--arm", "Öl", "--value", 1),
        "study add-arms": (place, late),
        "study set": (place, "--budget", 1000),
        "study stop": (place,),
        "study restart": (place,),
        "study void": (place, 1),
        "study note": (place, "Öl was warm"),
        "study changes": (place,),
        "study status": (place, "--study", "one"),
        "study chances": (place,),
        "study verify": (place,),
        "study list": (tmp_path,),
        "study backup": (place, copy),
        "study restore": (copy, tmp_path / "new.db"),
        "token create": (place, "--role", "owner"),
        "token list": (place,),
        "report": (place,),
        "run": ("--arms", arms, *noise, "--budget", 3, "--measure", ONE, tmp_path / "run.db"),
        "analyse": (table, *noise),
        "plan": ("fig1:gap=2", "--runs", 0, "--no-limit"),
        "simulate": ("fig1:gap=2", "--runs", 1, "--budget", 100, "--jobs", 1),
        "demo": (),
        "methods": (),
        "warm": noise,
        "reproduce": ("fig2", "--runs", 2, "--out", tmp_path / "figures"),
    }
    assert calls.keys() == set(WITH_JSON)
    for name, words in calls.items():
        done = standout(*name.split(), *words, "--json")
        assert done.code == 0, (name, done.err)
        assert done.out.isascii()
        assert isinstance(json.loads(done.out), dict), name
    asked = standout("study", "ask", place, "--json").json
    assert set(asked) == {"tickets", "stopped", "wait"}
    assert asked["tickets"][0]["expires"] > 0


def test_the_low_side_may_have_a_k_of_its_own(tmp_path: Path) -> None:
    arms = tmp_path / "arms.csv"
    arms.write_text("arm\nash\nelm\nfir\n", encoding="utf-8")
    words = ("--arms", arms, "--noise", "bernoulli", "--side", "both", "--k-low", 2)
    assert standout("study", "create", tmp_path / "s.db", *words).code == 0
    asked = standout("study", "status", tmp_path / "s.db", "--json").json["problem"]
    assert (asked["k"], asked["k_low"], asked["delta"]) == (3, 2, 0.05)
