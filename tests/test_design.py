"""The map of the source is true."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import grimp

import standout

ROOT = Path(__file__).parents[1]
SOURCE = Path(standout.__file__).parent
TEXT = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


WALKS = re.findall(r"```mermaid\n(.*?)```", TEXT.partition("## Three walks")[2], re.DOTALL)


def test_every_module_of_the_walks_is_there() -> None:
    assert len(WALKS) == 3
    for walk in WALKS:
        names = set(re.findall(r"\b[a-z_0-9]+(?:/[a-z_0-9]+)+", walk))
        assert 5 <= len(names) <= 10
        assert [name for name in names if not (SOURCE / f"{name}.py").is_file()] == []


def test_every_step_of_the_walks_is_one_of_the_code() -> None:
    """One end imports the other, if through others, or one module puts them together."""
    graph = grimp.build_graph("standout")
    importers = graph.find_modules_that_directly_import
    for walk in WALKS:
        for line in walk.splitlines():
            names = re.findall(r"\b[a-z_0-9]+(?:/[a-z_0-9]+)+", line)
            # A rule is found by its name, through the base of all rules.
            names = [re.sub("core/rules/.*", "core/rules/base", name) for name in names]
            modules = ["standout." + name.replace("/", ".") for name in names]
            for one, other in pairwise(modules):
                assert (
                    graph.chain_exists(one, other)
                    or graph.chain_exists(other, one)
                    or importers(one) & importers(other)
                ), line


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
