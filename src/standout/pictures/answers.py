"""An answer drawn for a notebook, and on matplotlib axes."""

from __future__ import annotations

import secrets
from html import escape
from typing import Any

import numpy as np

from standout.core.problem import Problem
from standout.errors import ProblemError
from standout.extras import require
from standout.pictures.arms import Picture, lines, picture_of_answer
from standout.pictures.marks import MARKS, THRESHOLD, css
from standout.pictures.svg_arms import MOST_ROWS, many, rows
from standout.results import Identification
from standout.text import Digits, printable

_STYLE = """
.{name} svg {{ display: block; width: 100%; max-width: 760px; height: auto; overflow: visible; }}
.{name} svg.narrow {{ display: none; }}
.{name} svg text {{ font: 12px system-ui, sans-serif; fill: currentColor; }}
.{name} svg .grid {{ stroke: #8888; stroke-width: .5; fill: none; }}
.{name} svg .median {{ stroke: #888; stroke-dasharray: 2 4; fill: none; }}
.{name} svg .band {{ fill: var(--band); }}
.{name} svg .edge {{ stroke: var(--band-line); stroke-dasharray: 5 3; fill: none; }}
.{name} svg .outlier {{ color: var(--outlier); }}
.{name} svg .undecided {{ color: var(--undecided); }}
.{name} svg .normal {{ color: var(--normal); }}
.{name} svg g[class] path, .{name} svg g[class] circle {{ fill: currentColor; }}
.{name} svg g[class] .line {{ stroke: currentColor; stroke-width: 1.5; fill: none; }}
.{name} svg g[class] .open {{ stroke: currentColor; stroke-width: 1.5; fill: none; }}
.{name} svg g[class] .crowd {{ fill-opacity: .3; }}
.{name} svg g.outlier text.name {{ font-weight: 600; }}
.{name} {{ {light} }}
[data-jp-theme-light="false"] .{name} {{ {dark} }}
"""
MOST_LINES = 60
"""Arms that a plot gives a line each."""


def picture_of(found: Identification) -> Picture | None:
    """The picture of an answer that knows its question and has rewards; None of others."""
    if found.problem is None or not len(found.means) or not np.isfinite(found.means).any():
        return None
    return picture_of_answer(found, Problem(**found.problem.to_dict()))


def html(found: Identification, summary: str) -> str:
    """The summary, and the arms against the threshold: no script, nothing from elsewhere."""
    words = f'<pre style="white-space: pre-wrap">{escape(summary)}</pre>'
    picture = picture_of(found)
    if picture is None:
        return words
    name = f"standout-{secrets.token_hex(4)}"
    digits = Digits((found.upper - found.lower).tolist())
    drawn = rows(picture, digits) if len(picture.names) <= MOST_ROWS else many(picture, digits)
    # Other answers on the same page have pictures with the same names in them.
    drawn = drawn.replace('"arms-', f'"{name}-').replace("#arms-", f"#{name}-")
    style = _STYLE.format(name=name, light=css("light"), dark=css("dark"))
    return f'<div class="{name}">{words}<style>{style}</style>{drawn}</div>'


def plot(found: Identification, ax: Any = None) -> Any:
    """Arms, intervals and threshold on matplotlib axes; gives the axes."""
    require("paper", "a plot")
    picture = picture_of(found)
    if picture is None:
        raise ProblemError("there is nothing to draw: no arm has had a reward")
    if ax is None:
        from matplotlib import pyplot

        shown = min(len(picture.names), MOST_LINES)
        _, ax = pyplot.subplots(figsize=(7.5, 1.2 + 0.2 * shown), layout="constrained")
    arms = [each for each in lines(picture, MOST_LINES) if isinstance(each, int)]
    for band in picture.bands:
        ends = np.clip([band.lower, band.upper], picture.low, picture.high)
        ax.axvspan(*ends, color=THRESHOLD.line.light, alpha=0.25, lw=0, label="threshold")
    for verdict, mark in MARKS.items():
        places = [place for place, arm in enumerate(arms) if picture.kind(arm) is verdict]
        if not places:
            continue
        chosen = [arms[place] for place in places]
        ends = np.clip([picture.lower[chosen], picture.upper[chosen]], picture.low, picture.high)
        colour = mark.colour.light
        ax.hlines(places, *ends, color=colour, lw=1.5)
        face = "none" if mark.is_open else colour
        look = {"outlier": "^", "undecided": "s", "normal": "o"}[mark.name]
        ax.plot(
            picture.estimate[chosen], places, look, color=colour, mfc=face, ms=5, label=mark.name
        )
    ax.set_yticks(range(len(arms)), [printable(picture.names[arm], 30) for arm in arms])
    ax.set_ylim(len(arms) - 0.4, -0.6)
    ax.set_xlim(picture.low, picture.high)
    ax.set_xlabel("mean, with its interval")
    if len(arms) < len(picture.names):
        ax.set_title(f"{len(arms)} of {len(picture.names):,} arms", loc="left", fontsize="small")
    ax.legend(fontsize="small", loc="lower right")
    return ax
