"""Those who only look, or copy, while others write: what they see has to fit together."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standout import Study
from standout.errors import NoStudyError, StorageError
from standout.study import backup, restore
from tests.torture.journal import Journal, Seen, read_journals
from tests.torture.studies import MENDED


def look(study: Any, journal: Journal, rng: random.Random, looks: int) -> None:
    """Pulls never shrink, what is certified stays, and a direct reader's `verify` is content."""
    pulls, verdicts = 0, {"outliers": set[str](), "normal": set[str]()}
    since = time.monotonic()
    for _ in range(looks):
        begin = time.monotonic()
        try:
            status = study.status()
            journal.saw(Seen(study.name, begin, time.monotonic(), head=status.head))
            if isinstance(study, Study) and rng.random() < 0.2:
                problems = study.verify().problems
                journal.happened("verified while in use")
                if problems:
                    journal.fault(f"verify of {study.name!r}, while in use: {problems[:3]}")
        except StorageError:
            time.sleep(rng.uniform(0.0, 0.1))
            continue
        if study.name == MENDED:
            continue
        if status.pulls < pulls:
            journal.fault(f"{study.name!r} had {pulls} pulls and then {status.pulls}", since)
        pulls = status.pulls
        for kind, before in verdicts.items():
            now = set(getattr(status, kind))
            if before - now:
                text = f"{study.name!r}: {before - now} no longer among the {kind}"
                journal.fault(text, since)
            verdicts[kind] = now
        since = begin
        time.sleep(rng.uniform(0.0, 0.05))


def open_and_close(open_study: Callable[[], Study], rng: random.Random, times: int) -> None:
    """The moments in which a file gets and loses its log."""
    for _ in range(times):
        try:
            with open_study() as study:
                if rng.random() < 0.5:
                    study.status()
        except StorageError:
            time.sleep(rng.uniform(0.0, 0.1))


def copy(place: str, journal: Journal, folder: Path) -> None:
    """A backup while in use: it is sound, and has all that was acknowledged before it began."""
    file, begin = folder / f"copy-{journal.number}.db", time.monotonic()
    before = read_journals(folder)
    expected = before.acknowledged()
    try:
        made = backup(place, file)
    except StorageError as error:
        if "not sound" in str(error) or isinstance(error, NoStudyError):
            journal.fault(f"backup: {error}")
        return
    journal.happened("backups verified")
    stored = stored_in(str(file), [one.name for one in made.studies])
    after = read_journals(folder)
    lost = [value for value in expected if stored[value] != 1 and not after.is_gone(value)]
    if lost:
        journal.fault(
            f"{len(lost)} acknowledged rewards are not once in a later copy: {lost[:3]}", begin
        )
    again = folder / f"copy-{journal.number}-again.db"
    restore(file, again)
    if stored_in(str(again), [one.name for one in made.studies]) != stored:
        journal.fault("a copy that was restored has other rewards than the copy")
    journal.happened("copies restored")
    for path in (file, again):
        path.unlink()


def stored_in(place: str, names: list[str]) -> Counter[float]:
    """How often each value is in the logs of a place."""
    found: Counter[float] = Counter()
    for name in names:
        with Study.open(place, name) as study:
            history = study.history()
            found.update(history["reward"][history["seq"] > 0].tolist())
    return found
