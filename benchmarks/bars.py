"""What the benchmarks of studies and the service share: lines with bars, and the disk's part."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

missed: list[str] = []


def report(what: str, value: float, unit: str, bar: float | None = None) -> None:
    """One line, with the bar it has to keep; times and sizes are bounded from above.

    "times" is a multiple of what it should be, "of raw" a part of what would be possible.
    """
    is_time = unit in ("s", "s of CPU", "ms", "times", "kB", "bytes")
    kept = bar is None or (value <= bar if is_time else value >= bar)
    promise = "" if bar is None else f"   {'at most' if is_time else 'at least'} {bar:,g}"
    number = f"{value:,.2f}" if is_time or value < 10 else f"{value:,.0f}"
    print(f"{what:<58} {number:>10} {unit}{promise}{'' if kept else '   MISSED'}", flush=True)
    if not kept:
        missed.append(what)


def end() -> None:
    """Leave with an error that names the bars that were missed, if any were."""
    if missed:
        sys.exit(f"missed: {'; '.join(missed)}")


def disk(folder: str | Path) -> float:
    """Milliseconds that the disk takes to make 4 kB safe: what every single tell waits for."""
    with tempfile.TemporaryFile(dir=folder) as file:
        begin = time.perf_counter()
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
        return (time.perf_counter() - begin) * 10
