"""Which arms the table of a report lists: few enough to be sent by mail."""

from __future__ import annotations

from dataclasses import dataclass

from standout.core.kinds import Verdict
from standout.core.problem import Side
from standout.pictures.marks import MARKS
from standout.report.facts import Facts
from standout.text import Digits, count, printable

MOST_NORMAL = 1000
"""Rows of normal arms; outliers and undecided arms are shown whatever their number."""
MOST_BYTES = 1_400_000
"""Beyond this size even those are cut."""
ROW_BYTES = 110
"""What a row takes beside its name, numbers among it."""


@dataclass(frozen=True)
class Row:
    """One arm in words: `kind` is its verdict's name, `verdict` its mark with its word."""

    kind: str
    name: str
    text: str
    verdict: str
    estimate: str
    interval: str
    pulls: str


def table_rows(facts: Facts, digits: Digits) -> tuple[list[Row], str]:
    """Outliers, then undecided arms, then normal ones; and, in words, what is left out."""
    rows: list[Row] = []
    missing: dict[Verdict, int] = {}
    size = 0
    length = 60 if len(facts.seen.names) > MOST_NORMAL else 120
    for verdict in (Verdict.OUTLIER, Verdict.UNDECIDED, Verdict.NORMAL):
        found = facts.positions(verdict).tolist()
        most = MOST_NORMAL if verdict is Verdict.NORMAL else len(found)
        for place, arm in enumerate(found):
            row = _row(facts, arm, digits, length)
            # An escaped character takes up to six bytes where it took one.
            shown = row.name + row.text
            size += ROW_BYTES + len(shown.encode()) + 5 * sum(c in "<>&\"'" for c in shown)
            if place >= most or size > MOST_BYTES:
                missing[verdict] = len(found) - place
                break
            rows.append(row)
    return rows, _left_out(missing, facts.seen.problem.side)


def _row(facts: Facts, arm: int, digits: Digits, length: int) -> Row:
    seen, picture = facts.seen, facts.picture
    mark = MARKS[picture.kind(arm)]
    glyph = mark.low if picture.is_low(arm) else mark.glyph
    return Row(
        kind=mark.name,
        name=printable(seen.names[arm], length),
        text=facts.texts.get(arm, "")[:length],
        verdict=f"{glyph.fine} {picture.word(arm)}",
        estimate=digits(float(seen.estimate[arm])),
        interval=digits.interval(float(seen.lower[arm]), float(seen.upper[arm])),
        pulls=count(int(seen.pulls[arm])),
    )


def _left_out(missing: dict[Verdict, int], side: Side) -> str:
    if not missing:
        return ""
    parts = " and ".join(f"{count(number)} {MARKS[kind].name}" for kind, number in missing.items())
    which = "largest" if side is Side.LOW else "smallest"
    return (
        f"To keep this file small, {parts} arms (those with the {which} estimates) are left out "
        "here."
    )
