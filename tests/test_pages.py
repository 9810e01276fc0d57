"""The pages that teach are run from top to bottom, and say what comes out."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "run_pages.py"))


@pytest.mark.parametrize("path", TOOL["PAGES"], ids=lambda path: path.stem)
def test_a_page_says_what_comes_out(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text("utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            made = TOOL["rendered"](text)
        except TOOL["NoDataError"] as missing:
            pytest.skip(str(missing))
    words, numbers = _parts(text)
    words_now, numbers_now = _parts(made)
    remedy = f"run: python tools/run_pages.py {path.relative_to(ROOT)}; look at the diff"
    assert words_now == words, remedy
    for number, now in zip(numbers, numbers_now, strict=True):
        assert max(number, now) < 1000 or number / 2 <= now <= 2 * number, remedy


def _parts(text: str) -> tuple[str, list[float]]:
    """Words, and the numbers in them, without what is drawn.

    On another machine the last digit of an interval may be another, and so which arm is pulled
    next and how many pulls it takes, but not what is found.
    """
    kept = [line for line in text.splitlines() if not re.search("[├┴░▲●□█]", line)]
    number = re.compile(r"\d[\d,_]*(?:\.\d+)?")
    found = number.findall("\n".join(kept))
    values = [float(each.replace(",", "").replace("_", "")) for each in found]
    return " ".join(number.sub("#", "\n".join(kept)).split()), values


def test_what_a_page_is_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (
        "<!-- file: a.csv -->\n```csv\narm\nash\n```\n\n```python\nx = 2\nprint(x)\n```\n\nSo:\n\n"
        "```python\nprint(x + 1)\n```\n\n```text\n99\n```\n\n```console\n$ cat a.csv \\\n  a.csv\n"
        "old\n```\n\n<!-- not run -->\n```python\n1 / 0\n```\n"
    )
    made = TOOL["rendered"](page)
    assert "print(x)\n```\n\n```text\n2\n```\n\nSo:" in made
    assert "print(x + 1)\n```\n\n```text\n3\n```\n" in made
    assert "$ cat a.csv \\\n  a.csv\narm\nash\narm\nash\n```\n" in made
    assert TOOL["rendered"](made) == made
    with pytest.raises(TOOL["PageError"]):
        TOOL["rendered"]("```console\n$ standout analyse nothing.csv --noise bernoulli\n```\n")
    with pytest.raises(TOOL["NoDataError"]):
        TOOL["rendered"]("<!-- needs: nothing-of-this-name.csv -->\n")


def test_an_output_that_the_page_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (
        "<!-- uses: pyproject.toml -->\n```console\n$ seq 9\n3\n2\n…\n"
        "$ head -1 \\\n  pyproject.toml\n```\n"
    )
    first = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()[0]
    made = TOOL["rendered"](page)
    assert made.endswith(f"$ seq 9\n1\n2\n…\n$ head -1 \\\n  pyproject.toml\n{first}\n```\n")
