"""Workers killed at random moments, and eight at once: nothing lost, nothing counted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from standout.study import Study
from tests.patience import HANGS

ROOT = Path(__file__).parents[2]


def crowd(*words: object) -> dict[str, int]:
    program = [sys.executable, "-m", "tests.study.crowd"]
    done = subprocess.run(
        [*program, *(str(word) for word in words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=4 * HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "an error reached a worker"
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_killed_workers(place: str, kind: str) -> None:
    """100 kills per storage and kind of work; after each two, all of the study is checked."""
    found = crowd("kill", place, "--kind", kind, "--count", 50)
    assert found["kills"] == 100
    # The kills hit all phases: before the first reward, and in the middle of work.
    assert found["acknowledged"] > 100
    assert found["silent"] > 10


def test_eight_processes(place: str) -> None:
    """Eight processes at one study until its budget is spent."""
    found = crowd("spend", place, "--count", 8, "--budget", 1500)
    with Study.open(place) as study:
        status = study.status()
        assert (status.pulls, status.pending, status.reason) == (1500, 0, "budget")
        history = study.history()
        assert sorted(history["ticket"]) == list(range(1, 1501))
        assert set(history["worker"][12:]) == {str(i) for i in range(8)}
    assert found["acknowledged"] == 1500 - 12


def test_killed_while_opening_or_closing(tmp_path: Path) -> None:
    """A process that is killed while it opens or closes a file leaves it as good as it was."""
    found = crowd("kill", tmp_path / "study.db", "--kind", "open", "--count", 80)
    assert found == {"kills": 160, "acknowledged": 0, "silent": 160}
