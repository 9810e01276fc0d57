"""The runs of a simulation, in a notebook and on matplotlib axes: a row of dots per method."""

from __future__ import annotations

from typing import Any

import numpy as np

from standout.core.kinds import Verdict
from standout.errors import ProblemError
from standout.extras import require
from standout.pictures.marks import MARKS
from standout.pictures.scale import Line
from standout.pictures.svg import WIDE, bottom_axis, label, n, picture
from standout.simulation import MethodResult, Simulation

_ROW, _LEFT, _MOST_DOTS = 30.0, 190.0, 400


def _dots(result: MethodResult) -> tuple[list[float], list[float]]:
    """The pulls of some evenly chosen runs, and a height between -1 and 1 for each dot."""
    pulls = result.pulls[np.linspace(0, result.runs - 1, min(result.runs, _MOST_DOTS)).astype(int)]
    heights = np.modf(np.arange(len(pulls)) * 0.618)[0] * 2 - 1
    return pulls.tolist(), heights.tolist()


def _words(result: MethodResult) -> str:
    left = result.runs - result.stopped
    parts = [f"{result.wrong:,} wrong"] * (result.wrong > 0) + [f"{left:,} unfinished"] * (left > 0)
    return f"{result.method}: {', '.join(parts)}" if parts else result.method


def drawing(simulation: Simulation) -> str:
    """The pulls of each run as SVG: no script, no external resource."""
    results = [result for result in simulation.results if result.runs]
    if not results:
        return ""
    most = max(float(result.pulls.max()) for result in results)
    scale, bottom = Line(0.0, most, _LEFT, WIDE - 20), _ROW * len(results)
    colour = MARKS[Verdict.NORMAL].colour.light
    grid = bottom_axis(scale, 0.0, bottom, 110.0)
    parts = [part.replace('class="grid"', 'stroke="#8888" stroke-width=".5"') for part in grid]
    for place, result in enumerate(results):
        y = _ROW * (place + 0.5)
        parts.append(label(0, y + 4, _words(result)))
        pulls, heights = _dots(result)
        parts += [
            f'<circle cx="{n(scale(x))}" cy="{n(y + 8 * off)}" r="2.5" fill="{colour}" '
            'fill-opacity=".45"/>'
            for x, off in zip(pulls, heights, strict=True)
        ]
        mean = n(scale(float(result.pulls.mean())))
        parts.append(f'<path d="M{mean} {n(y - 12)}v24" stroke="currentColor" stroke-width="2"/>')
    parts.append(label(_LEFT, bottom + 32, "pulls of each run; the line is their mean"))
    title = f"Pulls of {len(results)} methods" if len(results) > 1 else "Pulls"
    drawn = picture("runs", "runs", WIDE, bottom + 40, title, simulation.summary(), parts)
    look = "max-width: 760px; width: 100%; font: 12px system-ui, sans-serif; fill: currentColor"
    return drawn.replace("<svg ", f'<svg style="{look}" ', 1)


def plot(simulation: Simulation, ax: Any = None) -> Any:
    """Draw the pulls of each run on matplotlib axes; return the axes."""
    require("plot", "a plot")
    results = [result for result in simulation.results if result.runs]
    if not results:
        raise ProblemError("there is nothing to draw: no run was played")
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7.5, 1.2 + 0.45 * len(results)), layout="constrained")
    colour = MARKS[Verdict.NORMAL].colour.light
    for place, result in enumerate(results):
        pulls, heights = _dots(result)
        ax.plot(pulls, place + 0.3 * np.array(heights), "o", color=colour, alpha=0.45, ms=4, mew=0)
        ax.plot([float(result.pulls.mean())] * 2, [place - 0.4, place + 0.4], color="black", lw=2)
    ax.set_yticks(range(len(results)), [_words(result) for result in results])
    ax.set_ylim(len(results) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("pulls of each run; the line is their mean")
    return ax
