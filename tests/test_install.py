"""The wheel in an environment of its own: with what it says it needs, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.patience import until

ROOT = Path(__file__).parents[1]
# Kernels as plain Python: what is tested is what is installed, not how fast it is.
PLAIN = {"NUMBA_DISABLE_JIT": "1"}


def pip(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def needed(by: Distribution, extras: set[str]) -> Iterator[Distribution]:
    """All that a package with these extras says it needs, and what that needs in turn."""
    waiting, seen = [(by, extras)], set()
    while waiting:
        package, extras = waiting.pop()
        for one in map(Requirement, package.requires or ()):
            asked = [{"extra": extra} for extra in ("", *extras)]
            is_asked = one.marker is None or any(map(one.marker.evaluate, asked))
            if is_asked and (key := (one.name, *sorted(one.extras))) not in seen:
                seen.add(key)
                waiting.append((distribution(one.name), one.extras))
                yield waiting[-1][0]


class Installed:
    """An environment with the wheel, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.folder = folder / "env" / "bin", folder
        pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT))
        (self.wheel,) = folder.glob("standout-*.whl")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self.environment = kept | PLAIN
        self.install("")

    def install(self, extra: str) -> None:
        """The wheel, with an extra if there is one.

        What it needs is here already: links to it stand for half a gigabyte to unpack. Without
        an index pip refuses if any of it is missing, or of another version than is asked for.
        """
        (site,) = (self.folder / "env").glob("lib/python*/site-packages")
        facts = zipfile.Path(self.wheel) / f"{'-'.join(self.wheel.name.split('-')[:2])}.dist-info"
        for package in needed(PathDistribution(facts), {extra} - {""}):
            for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
                if not (site / name).is_symlink():
                    (site / name).symlink_to(str(package.locate_file(name)))
        wheel = f"{self.wheel}[{extra}]" if extra else str(self.wheel)
        pip("--python", str(self.bin / "python"), "install", "--no-compile", "--no-index", wheel)

    def run(self, program: str, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [self.bin / program, *words], env=self.environment, cwd=self.folder,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """One environment for all tests: they are in the order in which it grows."""
    return Installed(tmp_path_factory.mktemp("installed"))


def snippet() -> tuple[str, str]:
    """The README's Python without its plot, and the first line that it prints."""
    form = r"```python\n(.*?)```\n\n```text\n(.*?)\n"
    found = re.search(form, (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    return re.sub(r"^found\.plot.*$", "", found[1], flags=re.MULTILINE), found[2]


def test_the_package_alone(here: Installed) -> None:
    """Everything that needs only SQLite: studies, runs, reports, tokens, simulation, Python."""
    (here.folder / "arms.csv").write_text("arm\n" + "".join(f"{name}\n" for name in "abcde"))
    question = ("--arms", "arms.csv", "--noise", "gaussian:0.05", "--k", "2")
    here.run("standout", "study", "create", "x.db", *question)
    (ticket,) = json.loads(here.run("standout", "study", "ask", "x.db", "--json"))["tickets"]
    here.run("standout", "study", "tell", "x.db", "--ticket", str(ticket["ticket"]), "--value", "1")
    assert json.loads(here.run("standout", "study", "status", "x.db", "--json"))["pulls"] == 1
    here.run("standout", "report", "x.db", "-o", "report.html")
    assert "<html" in (here.folder / "report.html").read_text()
    measure = "sh -c 'case $0 in e) echo 9;; a) echo 1.1;; b) echo 1.2;; *) echo 1;; esac' {arm}"
    done = here.run("standout", "run", "y.db", *question, "--measure", measure, "--json")
    assert json.loads(done)["outliers"] == ["e"]
    rows = [f"{arm},{level}\n" for arm, level in zip("abcde", "01129", strict=True)] * 9
    (here.folder / "log.csv").write_text("arm,reward\n" + "".join(rows))
    done = here.run("standout", "analyse", "log.csv", *question[2:], "--json")
    assert json.loads(done)["found"]["outliers"] == ["e"]
    assert "standout_" in here.run("standout", "token", "create", "x.db", "--role", "owner")
    assert "owner" in here.run("standout", "token", "list", "x.db")
    code, printed = snippet()
    assert here.run("python", "-c", code).splitlines()[0] == printed
    said = here.run("standout", "serve", "x.db", code=2)
    assert said.endswith("install it with: pip install 'standout[serve]'\n")
    words = ("fig1:gap=0.8", "--method", "focus", "--runs", "1", "--budget", "100")
    assert "17 arms" in here.run("standout", "simulate", *words)


def test_with_the_service(here: Installed, tmp_path: Path) -> None:
    here.install("serve")
    with (tmp_path / "out").open("wb") as out:
        words = [here.bin / "standout", "serve", "served.db", "--new", "--port", "0"]
        server = subprocess.Popen(
            words, env=here.environment | {"PYTHONUNBUFFERED": "1"}, cwd=tmp_path,
            stdout=out, stderr=out,
        )  # fmt: skip
    try:
        said = until(
            lambda: (
                re.search(r"http://127.0.0.1:\d+", (tmp_path / "out").read_text())
                or server.poll() is not None
            ),
            (tmp_path / "out").read_text,
        )
        assert isinstance(said, re.Match), (tmp_path / "out").read_text()
        with urllib.request.urlopen(f"{said[0]}/api/v1/health") as answer:
            assert json.load(answer)["database"] == "ok"
        with urllib.request.urlopen(f"{said[0]}/") as page:
            assert b"<html" in page.read()
    finally:
        server.terminate()
        server.wait()
