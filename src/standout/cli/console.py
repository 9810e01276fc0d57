"""Output of commands: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from standout.text import plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID

    from standout.pictures.terminal import Glyphs


def results() -> Console:
    """Standard output; 80 columns and no colour in a pipe."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, markup=False)


def say(*things: Any, style: str | None = None) -> None:
    """Print texts and tables to standard output; in a pipe, without blanks at line ends."""
    console = results()
    if console.is_terminal:
        for thing in things:
            console.print(thing, style=style)
        return
    with console.capture() as capture:
        for thing in things:
            console.print(thing, style=style)
    for line in capture.get().splitlines():
        print(line.rstrip())


def messages() -> Console:
    """Standard error, for progress and remarks."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object to standard output; numbers that JSON cannot express become null.

    The output is ASCII, so it is correct in any encoding.
    """
    from standout.results.serialisation import to_plain

    print(json.dumps(to_plain(data), indent=2, allow_nan=False))


def glyphs() -> Glyphs:
    """The characters for pictures that standard output can encode."""
    from standout.pictures.terminal import ASCII, UNICODE, all_characters

    try:
        all_characters().encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (LookupError, UnicodeEncodeError):
        return ASCII
    return UNICODE


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def progress(*columns: ProgressColumn, **options: Any) -> Progress:
    """Progress bars that disappear at the end; for terminals only."""
    from rich.progress import Progress

    console = messages()
    hidden = not console.is_terminal
    return Progress(*columns, console=console, transient=True, disable=hidden, **options)


@dataclass
class Milestones:
    """Progress without a terminal: one line per tenth, and at least one every half minute."""

    seconds: float = 30.0

    def __post_init__(self) -> None:
        self._tenths: dict[str, int] = {}
        self._said = time.monotonic()

    def __call__(self, label: str, done: float, total: float) -> None:
        """Report the progress, unless it was reported a moment ago."""
        share = done / total if total else 1.0
        tenth, now = int(10 * share), time.monotonic()
        if self._tenths.get(label) == tenth and now - self._said < self.seconds:
            return
        self._tenths[label], self._said = tenth, now
        messages().print(f"{label}: {share:.0%}")


def live_line() -> Progress:
    """A spinner with one line of text and the elapsed time."""
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    return progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())


@contextmanager
def progress_words(what: str) -> Iterator[Callable[[str], None]]:
    """A live line; call it with a few words to show the next step."""
    with live_line() as line:
        task = line.add_task(what)
        yield lambda step: line.update(task, description=f"{what}: {step}")


@dataclass(frozen=True)
class RunBars:
    """Bars that count runs, by label."""

    bars: Progress
    tasks: dict[str, TaskID]

    def done(self, label: str, runs: int, _: int) -> None:
        """Show the number of finished runs."""
        self.bars.update(self.tasks[label], completed=runs, description=label)

    def within(self, label: str, pulls: int, undecided: int) -> None:
        """Show the progress of the current run."""
        words = f"{label}: {plural(pulls, 'pull')}, {undecided:,} undecided"
        self.bars.update(self.tasks[label], description=words)


@contextmanager
def run_bars(labels: Iterable[str], runs: int) -> Iterator[RunBars]:
    """A bar for each label that counts its runs and shows the progress of the current one."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ) as bars:
        yield RunBars(bars, {label: bars.add_task(label, total=runs) for label in labels})
