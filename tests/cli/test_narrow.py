"""Narrow terminals, tiny numbers, completion: nothing is cut, nothing is noise."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from standout.cli.tables import Sheet, plain

COLUMNS = ("method", "runs", "mean pulls ± se", "rounds")
ROWS = (
    ("focus", "1", "541,404", "12,599"),
    ("random:batch=100,interval=auto", "20", "22,239,323 ± 1,200", "222,393"),
)


@pytest.mark.parametrize("width", range(24, 100, 3))
def test_no_number_is_ever_cut(width: int) -> None:
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    with console.capture() as capture:
        console.print(Sheet(COLUMNS, ROWS))
    shown = capture.get()
    numbers = re.findall(r"[\d,]+", " ".join(cell for row in ROWS for cell in row[1:]))
    found = re.findall(r"[\d,]+", shown)
    assert set(numbers) <= set(found)
    assert max(map(len, shown.splitlines())) <= width


def test_rounding_is_shown_as_nothing() -> None:
    assert [plain(value, 2.0) for value in (6.939e-18, 0.0, 1e-6, 0.12345)] == [
        "0",
        "0",
        "1e-06",
        "0.1235",
    ]
    assert plain(float(np.float64(0.1) + 0.2 - 0.3), 0.3) == "0"


def test_completion() -> None:
    asked = {"_STANDOUT_COMPLETE": "complete_bash", "COMP_WORDS": "standout ana", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "from standout.cli.main import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "analyse" in done.stdout
