"""The chances in a report: estimates, in words and marks that no certificate uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from standout.core.kinds import Verdict
from standout.report.facts import Facts
from standout.results import Chances
from standout.text import Digits, chance_words, count, listed, plural, printable

MOST_LEADERS = 20
MOST_NAMES = 6
RELIABILITY = (
    "The reliability of these estimates was measured on simulated populations with known truth "
    "(docs/chances.md has the tables). Unless a caution stands above, about as many arms stood "
    "out as their chances said, and fewer than 5 % of the flagged arms did not stand out. The "
    "estimates treat all arms alike before the first reward; the certificate does not need this."
)


@dataclass(frozen=True)
class Leader:
    """An undecided arm in words."""

    name: str
    text: str
    chance: str
    estimate: str
    pulls: str


def estimates(facts: Facts, digits: Digits) -> dict[str, Any]:
    """The data of the section; empty if every arm is decided."""
    found = facts.chances
    if found is None:
        return {"leaders": [], "estimate_words": [], "reliability": ""}
    return {
        "leaders": _leaders(facts, found, digits),
        "estimate_words": _words(found, digits),
        "reliability": RELIABILITY,
    }


def _leaders(facts: Facts, found: Chances, digits: Digits) -> list[Leader]:
    """The undecided arms with the highest chances."""
    seen = facts.seen
    order = sorted(
        facts.positions(Verdict.UNDECIDED).tolist(), key=lambda i: -float(found.chance[i])
    )
    return [
        Leader(
            printable(seen.names[i], 120),
            facts.texts.get(i, ""),
            chance_words(float(found.chance[i])),
            digits(float(seen.estimate[i])),
            count(int(seen.pulls[i])),
        )
        for i in order[:MOST_LEADERS]
    ]


def _words(found: Chances, digits: Digits) -> list[str]:
    lines = []
    flagged = [printable(arm, 120) for arm in found.flagged]
    if flagged:
        lines.append(
            f"Flagged, with at most {100 * found.false_share:g} % expected to be wrong: "
            f"{listed(flagged, MOST_NAMES)}."
        )
    else:
        lines.append(
            f"No list of arms has at most {100 * found.false_share:g} % expected to be wrong yet."
        )
    have = "has" if len(found.probable) == 1 else "have"
    lines.append(
        f"{plural(len(found.probable), 'arm')} {have} a chance above one half. If these were the "
        f"answer, {found.expected_wrong:.2g} arms are expected to be on the wrong side."
    )
    theta = found.likely_threshold
    lines.append(
        f"The threshold lies between {digits(theta.lower)} and {digits(theta.upper)} with a chance "
        f"of {found.level:g}."
    )
    if found.note:
        lines.append(f"Caution: {found.note}.")
    return lines
