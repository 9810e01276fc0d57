"""Pulls used against pulls that uniform sampling would have needed, as two bars."""

from __future__ import annotations

from standout.report.phrases import count, rounded
from standout.report.study_facts import Facts
from standout.report.svg import Line, label, n, picture
from standout.report.svg_arms import NARROW, WIDE


def effort_bars(facts: Facts) -> str:
    """The bars for wide and for narrow screens; nothing where there is no comparison."""
    if facts.uniform is None:
        return ""
    return _bars(facts, WIDE, "wide") + _bars(facts, NARROW, "narrow")


def _bars(facts: Facts, width: float, kind: str) -> str:
    uniform = facts.uniform
    assert uniform is not None
    pulls = facts.seen.counts.pulls
    scale = Line(0.0, float(max(pulls, uniform.pulls)), 0.0, width - 130)
    more = "more than " if uniform.is_capped else "about "
    rows = [
        ("this study", pulls, count(pulls), "used"),
        ("all arms equally often", uniform.pulls, more + rounded(uniform.pulls), "uniform"),
    ]
    parts = []
    for place, (words, value, shown, which) in enumerate(rows):
        y, end = 40.0 * place, scale(float(value))
        parts.append(label(0, y + 12, words))
        parts.append(
            f'<rect class="{which}" x="0" y="{n(y + 17)}" width="{n(max(2.0, end))}" height="14"/>'
        )
        parts.append(label(end + 6, y + 28, shown, kind="name"))
    about = f"{rows[0][2]} pulls used; pulling equally often takes {rows[1][2]}."
    return picture(f"bars-{kind}", kind, width, 76, "Pulls used and needed", about, parts)
