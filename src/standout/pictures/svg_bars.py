"""Pulls used against pulls that uniform sampling would have needed, as two bars."""

from __future__ import annotations

from standout.analysis.uniform_sampling import Uniform
from standout.pictures.scale import Line
from standout.pictures.svg import NARROW, WIDE, label, n, picture
from standout.text import count, rounded


def effort_bars(pulls: int, uniform: Uniform) -> str:
    """The bars for wide and for narrow screens."""
    return _bars(pulls, uniform, WIDE, "wide") + _bars(pulls, uniform, NARROW, "narrow")


def _bars(pulls: int, uniform: Uniform, width: float, kind: str) -> str:
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
