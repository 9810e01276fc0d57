"""The settings of a reproduction, checked before any work starts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from standout.errors import ReproduceError

FIGURE_NAMES = ("fig1", "fig2", "fig3", "fig4", "fig5")
PAPER_RUNS = 500
QUICK_RUNS = {"fig1": 10, "fig2": 200, "fig3": 200, "fig4": 50, "fig5": 50}
"""Runs of the miniature; everything else is as in the full reproduction."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Number of runs (None: the paper's 500, or the miniature's), seed, processes, folder."""

    out: Path
    runs: int | None = None
    seed: int = 0
    jobs: int = 1
    quick: bool = False

    def __post_init__(self) -> None:
        if self.runs is not None and self.runs < 2:
            raise ReproduceError(
                f"runs must be at least 2, not {self.runs}: one run has no standard error"
            )
        if self.jobs < 1:
            raise ReproduceError(f"jobs must be at least 1, not {self.jobs}")
        if self.seed < 0:
            raise ReproduceError(f"seed must not be negative, not {self.seed}")

    def runs_of(self, figure: str) -> int:
        """Runs (or draws of an instance) behind every point of `figure`."""
        if self.runs is not None:
            return self.runs
        return QUICK_RUNS[figure] if self.quick else PAPER_RUNS

    def provisional(self, figures: Sequence[str]) -> str:
        """Why verdicts are provisional; empty for as many runs as the paper's or more."""
        fewest = min(self.runs_of(figure) for figure in figures)
        if fewest >= PAPER_RUNS:
            return ""
        return (
            f"Provisional: from as few as {fewest} runs per point, where the paper has "
            f"{PAPER_RUNS}; with more, verdicts may change."
        )

    def command(self, figures: Sequence[str]) -> str:
        """The command line that reproduces the same."""
        named = "all" if tuple(figures) == FIGURE_NAMES else " ".join(figures)
        words = ["standout reproduce", named]
        if self.quick:
            words.append("--quick")
        if self.runs is not None or not self.quick:
            words.append(f"--runs {self.runs or PAPER_RUNS}")
        words += [f"--seed {self.seed}", f"--jobs {self.jobs}", f"--out {self.out}"]
        return " ".join(words)


def check_figures(names: Sequence[str]) -> tuple[str, ...]:
    """The figures asked for, in the paper's order; none or `all` means every one.

    >>> check_figures(["fig4", "fig1"])
    ('fig1', 'fig4')
    """
    wanted = {name.strip().lower() for name in names} or {"all"}
    for name in sorted(wanted):
        if name not in (*FIGURE_NAMES, "all"):
            raise ReproduceError(
                f"no figure {name!r}; choose from {', '.join(FIGURE_NAMES)} or all"
            )
    return tuple(name for name in FIGURE_NAMES if name in wanted or "all" in wanted)


def prepare_folder(out: Path) -> None:
    """Create the folder and check that it is writable, before half an hour of work."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=out, prefix=".standout-"):
            pass
    except OSError as error:
        raise ReproduceError(
            f"cannot write to {os.fspath(out)!r}: {error.strerror}; choose another --out"
        ) from None
