"""An answer drawn for a notebook."""

from __future__ import annotations

import secrets

import numpy as np

from standout.core.problem import Problem
from standout.pictures.arms import Picture, picture_of_answer
from standout.pictures.marks import css
from standout.pictures.svg_arms import MOST_ROWS, many, rows
from standout.results import Identification
from standout.text import Digits

_STYLE = """
.{name} svg {{ display: block; width: 100%; max-width: 760px; height: auto; overflow: visible; }}
.{name} svg.narrow {{ display: none; }}
.{name} svg text {{ font: 12px system-ui, sans-serif; fill: currentColor; }}
.{name} svg .grid {{ stroke: #8888; stroke-width: .5; fill: none; }}
.{name} svg .median {{ stroke: #888; stroke-dasharray: 2 4; fill: none; }}
.{name} svg .band {{ fill: var(--band); }}
.{name} svg .likely {{ fill: none; stroke: currentColor; stroke-dasharray: 1 3; }}
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


def picture_of(found: Identification) -> Picture | None:
    """The picture of an answer; None if it has no problem or no rewards."""
    if found.problem is None or not len(found.means) or not np.isfinite(found.means).any():
        return None
    return picture_of_answer(found, Problem(**found.problem.to_dict()))


def drawing(found: Identification) -> str:
    """The arms against the threshold as SVG with its style: no script, no external resource."""
    picture = picture_of(found)
    if picture is None:
        return ""
    name = f"standout-{secrets.token_hex(4)}"
    digits = Digits((found.upper - found.lower).tolist())
    drawn = rows(picture, digits) if len(picture.names) <= MOST_ROWS else many(picture, digits)
    # Other answers on the same page contain the same names.
    drawn = drawn.replace('"arms-', f'"{name}-').replace("#arms-", f"#{name}-")
    style = _STYLE.format(name=name, light=css("light"), dark=css("dark"))
    return f'<div class="{name}"><style>{style}</style>{drawn}</div>'
