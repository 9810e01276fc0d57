"""Shared by the benchmarks of studies and the service: report lines with bars, and the disk."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

missed: list[str] = []


def report(what: str, value: float, unit: str, bar: float | None = None) -> None:
    """Print one line with its bar; times and sizes have an upper bar, rates a lower one.

    The unit "times" is a multiple of the reference, "of raw" a share of the possible rate.
    """
    is_time = unit in ("s", "s of CPU", "ms", "times", "kB", "bytes")
    kept = bar is None or (value <= bar if is_time else value >= bar)
    promise = "" if bar is None else f"   {'at most' if is_time else 'at least'} {bar:,g}"
    number = f"{value:,.2f}" if is_time or value < 10 else f"{value:,.0f}"
    print(f"{what:<58} {number:>10} {unit}{promise}{'' if kept else '   MISSED'}", flush=True)
    if not kept:
        missed.append(what)


def end() -> None:
    """Exit with an error that names the missed bars, if any."""
    if missed:
        sys.exit(f"missed: {'; '.join(missed)}")


def disk(folder: str | Path) -> float:
    """Milliseconds of a durable write of 4 kB, for which every single tell waits."""
    with tempfile.TemporaryFile(dir=folder) as file:
        begin = time.perf_counter()
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
        return (time.perf_counter() - begin) * 10
