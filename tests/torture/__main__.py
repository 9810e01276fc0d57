"""Workers, servers, databases and networks that break under load: nothing may be lost or doubled.

python -m tests.torture --minutes 5 --database sqlite --seed 1
python -m tests.torture --events 40 --database postgresql --seed 2 --json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.study.postgres import find_programs
from tests.torture import line
from tests.torture.database import open_database
from tests.torture.journal import ACKNOWLEDGED, OPEN, REFUSED, UNSURE
from tests.torture.torturer import Report, Torturer

EVERY = 60.0
"""Seconds between two checkpoints."""
MOST_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    folder = Path(tempfile.mkdtemp(prefix="standout-torture-", dir=_memory()))
    begin, report = time.monotonic(), Report()
    try:
        with open_database(options.database, folder) as database:
            torturer = Torturer(
                database,
                folder,
                options.seed,
                sleeps=options.events is None,
                serves=not options.direct,
            )
            report = torturer.report
            _end_on_signals(torturer)
            try:
                torturer.run(*_limits(options, begin))
            except Exception:
                if not report.faults:
                    report.faults.append(traceback.format_exc())
            if report.faults and options.keep is not None:
                keep(folder, database.place, options.keep)
    except KeyboardInterrupt:
        report.faults.append("interrupted")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - begin
    show(options, summary(options, report, seconds), report.faults)
    return 1 if report.faults else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.torture", description=__doc__.split("\n")[0])
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=1.0, help="how long to go on")
    length.add_argument("--events", type=int, help="go on for so many kills and the like instead")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1, help="what is chosen; not when it happens")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="copy journals and database here after a fault"
    )
    parser.add_argument("--direct", action="store_true", help="no servers")
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    return parser.parse_args(arguments)


def keep(folder: Path, place: str, target: Path) -> None:
    """Journals, what was printed, and the database: its file, or a dump of PostgreSQL's."""
    shutil.copytree(folder, target, dirs_exist_ok=True)
    programs = find_programs()
    if not Path(place).exists() and programs is not None:
        dump = [programs / "pg_dump", "--dbname", place, "--file", target / "studies.sql"]
        subprocess.run(dump, check=False)


def _end_on_signals(torturer: Torturer) -> None:
    """End at the next occasion: an exception from a handler may be swallowed by whom it hits."""

    def interrupt(*_: object) -> None:
        torturer.is_interrupted = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _limits(options: argparse.Namespace, begin: float) -> tuple[Any, Any]:
    """When it is over, and when it is time for a checkpoint."""
    if options.events is not None:
        half = max(1, options.events // 2)
        return lambda events: events >= options.events, lambda events: events == half
    checked = begin

    def is_time(_: int) -> bool:
        nonlocal checked
        is_due = time.monotonic() - checked >= EVERY
        checked = time.monotonic() if is_due else checked
        return is_due

    return lambda _: time.monotonic() - begin >= 60 * options.minutes, is_time


def summary(options: argparse.Namespace, report: Report, seconds: float) -> dict[str, Any]:
    """The numbers, by name."""
    journals, counts = report.journals, report.counts + report.journals.events
    network = {what: counts.pop(what, 0) for what in (*line.FAULTS, "cut database")}
    return {
        "database": options.database,
        "seed": options.seed,
        "minutes": round(seconds / 60, 2),
        "checkpoints": report.checkpoints,
        "longest pause": f"{report.longest[0]:.1f} s ({report.longest[1]})",
        **dict(sorted(counts.items())),
        "connections cut": sum(network[what] for what in line.CUTS),
        "requests doubled": sum(network[what] for what in line.DOUBLES),
        "network": network,
        "sent": len(journals.sent),
        "acknowledged": journals.count(ACKNOWLEDGED),
        "uncertain": journals.count(UNSURE, OPEN),
        "refused": journals.count(REFUSED),
        "changes acknowledged": journals.count_changes(ACKNOWLEDGED),
        "changes kept": report.last.changes,
        "stored": report.last.stored,
        "steps replayed": report.last.steps,
        "verdicts replayed": report.last.verdicts,
        "lost": report.last.lost,
        "doubled": report.last.doubled,
        "faults": len(report.faults),
    }


def show(options: argparse.Namespace, numbers: dict[str, Any], faults: list[str]) -> None:
    if options.json:
        print(json.dumps({**numbers, "faults": faults}))
        return
    for name, value in numbers.items():
        text = value
        if isinstance(value, dict):
            text = ", ".join(f"{what} {count:,}" for what, count in value.items())
        print(f"{name:28} {text:,}" if isinstance(text, int) else f"{name:28} {text}")
    for fault in faults[:MOST_SHOWN]:
        print(f"\nFAULT (seed {options.seed}): {fault}")


if __name__ == "__main__":
    sys.exit(main())
