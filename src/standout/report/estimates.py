"""What a report says about chances: estimates, in words and marks that no certificate has."""

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
    "How reliable such statements are was measured on simulated populations whose truth is known "
    "(docs/chances.md has the tables): without a word of care above, about as many arms stand out "
    "as their chances say, and of the flagged arms fewer than 5 % did not. They assume that "
    "nothing known beforehand tells the arms apart, which the certificate does not."
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
    """The parts of the section; nothing to say where all is certain."""
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
        f"{plural(len(found.probable), 'arm')} {have} a chance above one half; taking these "
        f"for the answer, {found.expected_wrong:.2g} arms are expected to be on the wrong side."
    )
    theta = found.likely_threshold
    lines.append(
        f"The threshold lies between {digits(theta.lower)} and {digits(theta.upper)} with a chance "
        f"of {found.level:g}."
    )
    if found.note:
        lines.append(f"Take care: {found.note}.")
    return lines
