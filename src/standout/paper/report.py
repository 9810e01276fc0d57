"""One page with all figures, the claims and the comparison; it needs no other file."""

from __future__ import annotations

import platform
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import standout
from standout.paper.claims import Claim
from standout.paper.reference import Comparison, summary
from standout.paper.table import Table, make_table
from standout.report.page import template_of

_PACKAGES = ("numpy", "numba", "matplotlib")


@dataclass(frozen=True)
class Shown:
    """A figure as made: its pictures (PNG), claims, comparisons and files."""

    title: str
    about: str
    runs: int
    pictures: Mapping[str, bytes]
    claims: tuple[Claim, ...]
    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]


def versions() -> dict[str, str]:
    """The versions of the software that made the figures."""
    found = {"standout": standout.__version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Each number beside the authors' code's, with the distance in standard errors."""
    return make_table(
        "figure number reference ours error standard_errors_away",
        [
            (each.figure, each.what, each.reference, each.ours, each.error, each.errors_away)
            for each in comparisons
        ],
    )


def report_html(shown: Sequence[Shown], command: str, provisional: str = "") -> str:
    """The page as HTML; `command` reproduces it, `provisional` says why verdicts may change."""
    claims = [claim for figure in shown for claim in figure.claims]
    comparisons = [each for figure in shown for each in figure.comparisons]
    made_with = ", ".join(f"{name} {version}" for name, version in versions().items())
    counts = ", ".join(
        f"{sum(claim.verdict == verdict for claim in claims)} {word}"
        for verdict, word in (("holds", "hold"), ("partly", "hold partly"), ("fails", "fail"))
    )
    template = template_of("standout.paper", "report.html", number=_number, away=_away)
    template.globals["base64"] = b64encode
    return template.render(
        command=command,
        provisional=provisional,
        made_with=made_with,
        claims=claims,
        counts=counts,
        shown=shown,
        sentences=summary(comparisons),
        comparisons=comparisons,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.6g}"


def _away(each: Comparison) -> str:
    if each.error == 0:
        return "exact" if each.is_same else "differs"
    return f"{each.errors_away:+.1f}"
