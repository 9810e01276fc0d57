"""The map of the source is true."""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import grimp
from anyio import to_thread
from fastapi.testclient import TestClient

import standout
from standout import Problem
from standout.report.page import render_report
from standout.service.app import create_app
from standout.service.settings import Settings
from standout.study import Study

ROOT = Path(__file__).parents[1]
SOURCE = Path(standout.__file__).parent
TEXT = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
MOST_MODULES = 22
"""That one tell and ask over HTTP runs through."""

WALKS = re.findall(r"```mermaid\n(.*?)```", TEXT.partition("## Three walks")[2], re.DOTALL)
SIMULATED, TOLD, REPORTED = range(3)


def arrows(walk: int) -> list[tuple[str, str]]:
    """The arrows of a walk, as pairs of modules."""
    lines = (re.findall(r"\b[a-z_0-9]+(?:/[a-z_0-9]+)+", line) for line in WALKS[walk].splitlines())
    return [pair for names in lines for pair in pairwise(names)]


class Calls:
    """Which modules of ours call which, directly or through others' functions in between."""

    def __init__(self) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self.modules: set[str] = set()

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """For `sys.setprofile`."""
        if event != "call" or (name := _module(frame)) is None:
            return
        self.modules.add(name)
        above = frame.f_back
        while above is not None and (caller := _module(above)) in (None, name):
            above = above.f_back
        if above is not None and caller is not None:
            self.pairs.add((caller, name))


def _module(frame: FrameType) -> str | None:
    file = frame.f_code.co_filename
    return file[len(str(SOURCE)) + 1 : -3] if file.startswith(str(SOURCE)) else None


def watched(watch: Callable[..., None], act: Callable[[], Any]) -> Any:
    sys.setprofile(watch)
    try:
        return act()
    finally:
        sys.setprofile(None)


def told(folder: Path) -> Calls:
    """What one tell and ask over HTTP calls, once all is warm."""
    calls, place, url = Calls(), str(folder / "s.db"), "/api/v1/studies/trees"
    Study.create(place, list("abcd"), Problem(noise="bernoulli", k=2), name="trees").close()
    with TestClient(create_app(place, Settings()), base_url="http://127.0.0.1") as client:
        assert client.portal is not None
        given = client.post(f"{url}/ask", json={"n": 1}).json()["tickets"]
        for is_watched in (False, True):
            if is_watched:
                # As if the tokens had been read just now, which is done twice a second.
                client.app.state.service.gate._read_at = math.inf  # type: ignore[attr-defined]
                # The loop's thread, and the one beside it in which the study is changed.
                client.portal.call(sys.setprofile, calls.watch)
                client.portal.call(to_thread.run_sync, lambda: sys.setprofile(calls.watch))
            body = {"rewards": [{"ticket": given[0]["ticket"], "reward": 1}], "ask": 1}
            answer = client.post(f"{url}/tell", json=body).json()
            given = answer["tickets"]
            assert (answer["counted"], len(given)) == (1, 1)
        client.portal.call(sys.setprofile, None)
        client.portal.call(to_thread.run_sync, lambda: sys.setprofile(None))
    return calls


def test_every_module_of_the_walks_is_there() -> None:
    assert len(WALKS) == 3
    for walk in range(3):
        names = {name for pair in arrows(walk) for name in pair}
        assert 5 <= len(names) <= 14
        assert [name for name in names if not (SOURCE / f"{name}.py").is_file()] == []


def test_a_tell_goes_the_way_that_is_drawn(tmp_path: Path) -> None:
    calls = told(tmp_path)
    assert len(calls.modules) <= MOST_MODULES, sorted(calls.modules)
    assert f"{len(calls.modules)} modules of ours" in " ".join(TEXT.split())
    looks = {
        pair
        for pair in arrows(TOLD)
        if pair[0].startswith(("service/events", "service/routes/views"))
    }
    missing = set(arrows(TOLD)) - looks - calls.pairs
    assert missing == set(), sorted(calls.pairs)


def test_a_report_goes_the_way_that_is_drawn(tmp_path: Path) -> None:
    calls = Calls()
    with Study.create(tmp_path / "s.db", list("abcd"), Problem(noise="bernoulli", k=2)) as study:
        study.tell_many([(arm, float(k % 2)) for k in range(20) for arm in study.arms])
        watched(calls.watch, lambda: render_report(study))
    drawn = {pair for pair in arrows(REPORTED) if not pair[0].startswith("cli/")}
    assert drawn - calls.pairs == set()


def test_a_simulation_imports_the_way_that_is_drawn() -> None:
    """Its kernels are compiled: there are no calls to watch."""
    chain_exists = grimp.build_graph("standout").chain_exists
    for pair in arrows(SIMULATED):
        # A rule is found by its name, through the base of all rules.
        names = [re.sub("core/rules/.*", "core/rules/base", name) for name in pair]
        one, other = ("standout." + name.replace("/", ".") for name in names)
        assert chain_exists(one, other) or chain_exists(other, one), pair


def test_every_file_that_is_named_is_there() -> None:
    names = re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)`", TEXT)
    assert len(names) > 15
    places = [SOURCE, SOURCE / "core", SOURCE / "core" / "threshold", SOURCE / "core" / "intervals"]
    lost = [name for name in names if not any((place / name).is_file() for place in places)]
    assert lost == []


def test_the_tests_lie_where_their_source_does() -> None:
    across = {"attack", "browser", "naive", "torture"}
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    folders = {path for path in folders if not across & set(path.parts)}
    assert [path for path in folders if not (SOURCE / path / "__init__.py").is_file()] == []
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages - {path.parts[0] for path in folders if path.parts} == set()


def test_every_test_that_shows_a_capability_is_there() -> None:
    page = (ROOT / "docs" / "developers" / "capabilities.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[a-z_/]+\.py)::(test_\w+)`", page)
    assert len(named) > 60
    lost = [name for file, name in named if f"def {name}(" not in (ROOT / file).read_text("utf-8")]
    assert lost == []


def test_no_folder_is_crowded() -> None:
    folders = [path.parent for path in SOURCE.rglob("*.py")]
    assert {path.name for path in folders if folders.count(path) > 26} == set()


def test_no_docstring_only_repeats_a_name() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            said = ast.get_docstring(node) or "nothing is said"
            if _stems(said) <= _stems(re.sub(r"([A-Z])", r" \1", node.name).replace("_", " ")):
                found.append(f"{path.name}:{node.lineno} {node.name}: {said}")
    assert found == []


def _stems(text: str) -> set[str]:
    """Its words without endings; small words say nothing."""
    small = {"a", "an", "as", "in", "is", "it", "its", "of", "the", "this", "to"}
    return {word.rstrip("s") for word in re.findall("[a-z]+", text.lower()) if word not in small}
