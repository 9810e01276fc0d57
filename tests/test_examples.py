"""What a newcomer copies: every public name has an example, and all pass a user's strict mypy."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import standout
from standout.client import RemoteStudy
from standout.results.serialisation import Result

ROOT = Path(__file__).resolve().parents[1]
# Case studies use packages of data, which have no types; they run as pages.
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "cases"),
]
RUN = runpy.run_path(str(ROOT / "tools" / "run_pages.py"))["PAGES"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CLASSES = (standout.Study, standout.Client, RemoteStudy, standout.Run)
# For servers, reports and whoever writes a method; they say what they do without an example.
PLAIN = {
    "export_parts",
    "forecast_range",
    "choose",
    "update",
    "doubt",
    "close",
}


def public_names() -> list[tuple[str, Any]]:
    found = [(name, getattr(standout, name)) for name in standout.__all__]
    for kind in CLASSES:
        for name, value in inspect.getmembers(kind, callable):
            if not name.startswith("_") and name not in PLAIN:
                found.append((f"{kind.__name__}.{name}", value))
    return [
        (name, value)
        for name, value in found
        if callable(value) and not (isinstance(value, type) and issubclass(value, Exception))
    ]


@pytest.mark.parametrize(("name", "value"), public_names())
def test_every_public_name_has_an_example(name: str, value: Any) -> None:
    """Which runs: examples in docstrings are tests."""
    assert ">>>" in (inspect.getdoc(value) or ""), name


@pytest.mark.parametrize(("name", "value"), public_names())
def test_every_public_name_documents_its_arguments(name: str, value: Any) -> None:
    """In Google's form: parameters under `Args` or `Attributes`, a result under `Returns`."""
    said = inspect.getdoc(value) or ""
    is_class = isinstance(value, type)
    # Members and fields are documented as such; `create` and `open` make a study.
    if is_class and issubclass(value, tuple | Enum | Result | standout.Study):
        return
    signature = inspect.signature(value)
    wanted = {each for each in signature.parameters if each != "self" and each[0] != "_"}
    missing = wanted - set(re.findall(r"^ *\*{0,2}(\w+): ", said, re.MULTILINE))
    assert not missing, name
    if not is_class and signature.return_annotation not in ("None", None):
        assert re.search("^(Returns|Yields):", said, re.MULTILINE), name


def test_examples_pass_strict_mypy(tmp_path: Path) -> None:
    """Those of the README and of the docs, and what the types promise besides."""
    blocks: list[str] = []
    for page in PAGES:
        found = BLOCK.findall(page.read_text("utf-8"))
        # A page that is run from top to bottom (tests/test_pages.py) is one program.
        blocks += ["\n".join(found)] if page in RUN else found
    assert len(blocks) >= 4
    files = []
    for number, block in enumerate([*blocks, PROMISES]):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(block, encoding="utf-8")
    # The cache of `make types` makes this quick.
    words = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases", *map(str, files)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


PROMISES = """
from typing import Any, assert_type

import numpy as np

from standout import Client, Gaussian, Identification, Problem, Run, Side, Status, Study, Ticket
from standout.core.noise import Noise
from standout.results import Receipt

problem = Problem(noise="gaussian:0.05", side="both", k=2)
assert_type(problem.noise, Noise)
assert_type(problem.side, Side)
Problem(noise=Gaussian(0.1), side=Side.LOW)

study = Study.open("beans.db")
assert_type(study.ask(), Ticket | None)
assert_type(study.ask(2), list[Ticket])
assert_type(study.tell_and_ask([("ash", 1.0)]), tuple[Receipt, Ticket | None])
assert_type(study.status(), Status)

there = Client("http://127.0.0.1:8000").study("beans")
assert_type(there.ask(), Ticket | None)
assert_type(there.ask(2, items=True), list[Ticket])
assert_type(there.tell_and_ask([(1, 1.0)], 3), tuple[Receipt, list[Ticket]])
assert_type(there.status(), Status)
assert_type(there.identification(), Identification)

run = Run(problem, ["a", "b", "c"], "focus", np.random.default_rng(1))
assert_type(run.ask(), Any)
assert_type(run.ask(3), list[Any])
"""
