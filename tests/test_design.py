"""The map of the source is true."""

from __future__ import annotations

import re
from pathlib import Path

import standout

ROOT = Path(__file__).parents[1]
SOURCE = Path(standout.__file__).parent
TEXT = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def test_every_module_of_the_walks_is_there() -> None:
    walks = re.findall(r"```mermaid\n(.*?)```", TEXT.partition("## Three walks")[2], re.DOTALL)
    assert len(walks) == 3
    for walk in walks:
        names = set(re.findall(r"\b[a-z_0-9]+(?:/[a-z_0-9]+)+", walk))
        assert 5 <= len(names) <= 10
        assert [name for name in names if not (SOURCE / f"{name}.py").is_file()] == []


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


def test_no_folder_is_crowded() -> None:
    folders = [path.parent for path in SOURCE.rglob("*.py")]
    assert {path.name for path in folders if folders.count(path) > 26} == set()
