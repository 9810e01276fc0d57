"""The notebooks of the docs run from top to bottom, and say what they said."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "run_notebooks.py"))


def words(notebook: Any) -> list[str]:
    """The plain text of all outputs, without numbers."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error", output
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            found.append(" ".join(re.sub(r"[-−]?\d[\d,.]*", "#", text).split()))
    return found


def test_there_are_two() -> None:
    assert [path.stem for path in TOOL["NOTEBOOKS"]] == ["first-answer", "past-data"]


@pytest.mark.parametrize("path", TOOL["NOTEBOOKS"], ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_it_said(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = TOOL["executed"](path)
    before = nbformat.read(path, as_version=4)
    assert words(now) == words(before), "run: python tools/run_notebooks.py; read the diff"
