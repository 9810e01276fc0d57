"""The docs' real use, end to end: finding the slow ones among local commands by timing them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from standout.study import Study
from tests.study.cli import standout

DOCS = Path(__file__).parents[2] / "docs" / "cases" / "timings.md"


def block(after: str) -> str:
    """The first fenced block after a text of the page."""
    text = DOCS.read_text()
    found = re.compile(r"```\w*\n(.*?)```", re.DOTALL).search(text, text.index(after))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("noise", [None, "bounded:0,1"])
def test_finds_the_slow_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, noise: str | None
) -> None:
    """The page's own script, arms and command, on real noise.

    With bounded:0,1 the end is not awaited, but nothing wrong may be certified.
    """
    monkeypatch.chdir(folder)
    script = folder / "stopwatch"
    script.write_text(block("`stopwatch`:"))
    script.chmod(0o755)
    (folder / "commands.csv").write_text(block("`commands.csv`:"))
    command = next(
        line for line in DOCS.read_text().splitlines() if line.startswith("standout run --arms com")
    )
    words = shlex.split(command)[1:]
    if noise is not None:
        words[words.index("--noise") + 1] = noise
        words += ["--budget", "60"]
    outcome = standout(*words, "--json")
    assert outcome.code == 0, outcome.err
    if noise is None:
        assert outcome.json["outliers"] == ["sleep 0.3; date"]
        assert outcome.json["reason"] == "decided"
        exec(compile(block("was clear first."), "<page>", "exec"), {})
        assert (folder / "case-timings-one.png").exists()
    else:
        assert set(outcome.json["outliers"]) <= {"sleep 0.3; date"}
        assert outcome.json["pulls"] == 60
    with Study.open("slow.db") as study:
        assert study.verify()
        assert 0.3 <= study.identification().means[study.arms.index("sleep 0.3; date")] < 1
