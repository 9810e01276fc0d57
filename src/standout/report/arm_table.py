"""The table of the arms, kept small enough to be sent by mail."""

from __future__ import annotations

from standout.core.kinds import Verdict
from standout.core.problem import Side
from standout.report.phrases import Digits, count, short
from standout.report.study_facts import Facts
from standout.report.svg import text

MOST_NORMAL = 1000
"""Rows of normal arms; outliers and undecided arms are shown whatever their number."""
MOST_BYTES = 1_400_000
"""Beyond this size even those are cut."""
MARKS = {Verdict.OUTLIER: "◆", Verdict.UNDECIDED: "□", Verdict.NORMAL: "●"}
CLASSES = {Verdict.OUTLIER: "outlier", Verdict.UNDECIDED: "undecided", Verdict.NORMAL: "normal"}


def arm_table(facts: Facts, digits: Digits) -> str:
    """Outliers, then undecided arms, then normal ones, each from the largest estimate down."""
    rows: list[str] = []
    missing: dict[Verdict, int] = {}
    size = 0
    length = 60 if len(facts.seen.names) > MOST_NORMAL else 120
    for verdict in (Verdict.OUTLIER, Verdict.UNDECIDED, Verdict.NORMAL):
        found = facts.positions(verdict).tolist()
        most = MOST_NORMAL if verdict is Verdict.NORMAL else len(found)
        for place, i in enumerate(found):
            row = "" if place >= most else _row(facts, i, verdict, digits, length)
            if not row or size + len(row.encode()) > MOST_BYTES:
                missing[verdict] = len(found) - place
                break
            size += len(row.encode())
            rows.append(row)
    return _left_out(missing) + _HEAD + "".join(rows) + "</tbody></table></div>"


_HEAD = (
    '<div class="scroll" tabindex="0" role="region" aria-label="All arms"><table class="arms">'
    "<caption>Estimate: average of the rewards so far. Interval: where the mean lies, as the "
    'stop rule sees it.</caption><thead><tr><th scope="col">Arm</th><th scope="col">Verdict</th>'
    '<th scope="col" class="r">Estimate</th><th scope="col" class="r">Interval</th>'
    '<th scope="col" class="r">Pulls</th></tr></thead><tbody>'
)


def _row(facts: Facts, i: int, verdict: Verdict, digits: Digits, length: int) -> str:
    """One line; without the end tags that HTML does not need, since there may be 10,000."""
    seen = facts.seen
    kind = CLASSES[verdict]
    words = kind
    if verdict is Verdict.OUTLIER:
        both = seen.problem.side is Side.BOTH
        words = f"stands out, {facts.side_of(i)}" if both else "stands out"
    interval = digits.interval(float(seen.lower[i]), float(seen.upper[i]))
    return (
        f'<tr class="{kind}"><th scope="row">{text(short(seen.names[i], length))}'
        f"<td>{MARKS[verdict]} {words}<td>{digits(float(seen.estimate[i]))}"
        f"<td>{interval}<td>{count(int(seen.pulls[i]))}\n"
    )


def _left_out(missing: dict[Verdict, int]) -> str:
    if not missing:
        return ""
    parts = " and ".join(f"{count(number)} {CLASSES[kind]}" for kind, number in missing.items())
    which = "those with the smallest estimates"
    return (
        f'<p class="remark">To keep this file small, {parts} arms ({which}) are left out here. '
        "<code>standout report --json</code> has all of them.</p>"
    )
