"""One dialect on the command line: the same word for the same thing, one object as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from standout.cli.main import app
from tests.study.cli import standout


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    command = command or get_command(app)
    found = getattr(command, "commands", {})
    if not found:
        yield " ".join(path), command
    for name, sub in found.items():
        yield from commands(sub, (*path, name))


COMMANDS = dict(commands())


def options(name: str) -> dict[str, Any]:
    return {word: one for one in COMMANDS[name].params for word in one.opts if word[0] == "-"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_study_is_named_by_one_word(name: str) -> None:
    assert "--name" not in options(name)


@pytest.mark.parametrize("name", [name for name in COMMANDS if "--json" in options(name)])
def test_json_is_declared_once(name: str) -> None:
    assert options(name)["--json"].help == "Print one JSON object, nothing else."


def test_running_and_creating_ask_the_same_question() -> None:
    run, create = options("run"), options("study create")
    for word in ("--k", "--delta", "--side", "--tolerance", "--mad-scale", "--method", "--budget"):
        assert run[word].help == create[word].help
        assert run[word].default == create[word].default
    for word in ("--noise", "--seed", "--unordered"):
        assert run[word].help == create[word].help


def test_json_is_one_object(tmp_path: Path) -> None:
    arms = tmp_path / "arms.csv"
    arms.write_text("arm\nash\nelm\nÖl\n", encoding="utf-8")
    place = tmp_path / "s.db"
    words = ("--arms", arms, "--noise", "bernoulli", "--study", "one")
    assert standout("study", "create", place, *words).code == 0
    calls: list[tuple[Any, ...]] = [
        ("study", "ask", place, "-n", 2),
        ("study", "tell", place, "--arm", "Öl", "--value", 1),
        ("study", "status", place, "--study", "one"),
        ("study", "verify", place),
        ("study", "list", place),
        ("study", "list", tmp_path),
        ("study", "backup", place, tmp_path / "copy.db"),
        ("token", "create", place, "--role", "owner"),
        ("token", "list", place),
        ("methods",),
    ]
    for call in calls:
        done = standout(*call, "--json")
        assert done.code == 0, (call, done.err)
        assert done.out.isascii()
        assert isinstance(json.loads(done.out), dict), call
    asked = standout("study", "ask", place, "--json").json
    assert set(asked) == {"tickets", "stopped"}
    assert asked["tickets"][0]["expires"] > 0
