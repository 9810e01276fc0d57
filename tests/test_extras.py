"""What the package needs, what only its extras need, and what is said where one is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import standout
from standout.errors import MissingExtraError
from standout.extras import EXTRAS, require

ROOT = Path(__file__).parents[1]

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
ABSENT = [package for packages in EXTRAS.values() for package in packages]


def without(code: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `code` where none of the extras' packages can be imported."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(absent=ABSENT) + code, *words],
        capture_output=True, text=True, check=False, cwd=cwd,
    )  # fmt: skip


def test_the_extras_of_the_package_are_those_that_errors_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["optional-dependencies"]
    assert set(listed) == {*EXTRAS, "all", "docs", "dev"}
    assert listed["all"] == [f"standout[{','.join(EXTRAS)}]"]
    for extra, packages in EXTRAS.items():
        (first, *more) = listed[extra]
        # An extra may be another one by another name.
        wanted = listed["plot"] if first == "standout[plot]" else [first, *more]
        names = [text.partition(">")[0].partition("[")[0] for text in wanted]
        assert tuple(names) == packages
        require(extra, "this test")  # All of them are here.


def test_an_error_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "serve", ("fastapi", "no_such_package"))
    with pytest.raises(MissingExtraError, match=r"^x needs the package no_such_package; install "):
        require("serve", "x")
    assert issubclass(MissingExtraError, ImportError)
    assert standout.MissingExtraError is MissingExtraError


COMMANDS = {
    "serve": ["serve", "x.db"],
    "postgres": ["study", "list", "postgresql://127.0.0.1:1/x"],
    "plot": None,
    "paper": ["reproduce", "fig1"],
    "dask": ["run", "--arms", "arms.csv", "--noise", "bernoulli", "--measure", "echo {arm}",
             "--dask", "tcp://127.0.0.1:1", "y.db"],
    "parquet": ["study", "export", "x.db", "--out", "x.parquet"],
}  # fmt: skip
"""Of each extra, a command that needs it; None where only the library does."""

PROGRAM = """
from standout.cli.main import app
for words in json.loads(sys.argv[1]):
    try:
        app(words, prog_name="standout")
    except SystemExit as end:
        print("code", end.code, flush=True)
"""


def test_without_extras(tmp_path: Path) -> None:
    """Studies in files and tokens work; all else says in one line what to install."""
    import json

    assert set(COMMANDS) == set(EXTRAS)
    (tmp_path / "arms.csv").write_text("arm\na\nb\nc\n")
    works = [
        ["study", "create", "x.db", "--arms", "arms.csv", "--noise", "bernoulli"],
        ["study", "status", "x.db"],
        ["token", "list", "x.db"],
        ["study", "export", "x.db"],
    ]
    commands = {extra: words for extra, words in COMMANDS.items() if words is not None}
    words = json.dumps([*works, *commands.values()])
    done = without("import json" + PROGRAM, words, cwd=tmp_path)
    codes = [line for line in done.stdout.splitlines() if line.startswith("code ")]
    assert codes == ["code 0"] * len(works) + ["code 2"] * len(commands), done.stderr
    said = [line for line in done.stderr.splitlines() if "error" in line]
    assert len(said) == len(commands), done.stderr
    for line, extra in zip(said, commands, strict=True):
        assert line.startswith("standout: error: ")
        assert line.endswith(f"install it with: pip install 'standout[{extra}]'")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.parquet").exists()


def test_libraries_say_it_too(tmp_path: Path) -> None:
    code = """
import standout
for name in ("standout.service.app", "standout.service"):
    try:
        __import__(name)
    except standout.MissingExtraError as error:
        print(error)
try:
    standout.Study.open("postgresql://127.0.0.1:1/x")
except standout.MissingExtraError as error:
    print(error)
try:
    standout.plot.rewards({"a": [1.0]}, "a")
except standout.MissingExtraError as error:
    print(error)
"""
    done = without(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.partition(";")[0] for line in done.stdout.splitlines()] == [
        "the service needs the package fastapi",
        "the service needs the package fastapi",
        "a PostgreSQL database needs the package psycopg",
        "a plot needs the package matplotlib",
    ]
