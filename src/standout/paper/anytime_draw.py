"""The pictures of error rates over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standout.paper.anytime import BUDGET, PLAYERS
from standout.paper.lineup import VERSIONS, seen_in
from standout.paper.style import LOOKS, in_thousands, panels
from standout.paper.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EVERY = 5
"""A marker and an error bar at every fifth checkpoint; the line goes through all."""


def draw_curves(curves: Table, title: str) -> Figure:
    """Share of runs with a wrong best guess against pulls, once per version."""
    titles = ("as published (whole rounds)", "as released (one random candidate)")
    with panels(10.4, 4.4, columns=2) as (figure, axes):
        for ax, version, heading in zip(axes, VERSIONS, titles, strict=True):
            for place, player in enumerate(seen_in(version, PLAYERS)):
                rows = curves.where(version=player.version, method=player.name)
                # Shifted from method to method, so that bars and markers do not cover each other.
                every = (place, _EVERY)
                ax.errorbar(
                    rows.numbers("pulls"), rows.numbers("error_rate"), yerr=rows.numbers("bar"),
                    errorevery=every, markevery=every, label=player.name,
                    **LOOKS[player.name].options(),
                )  # fmt: skip
            ax.set_title(heading)
            ax.set_xlabel("pulls")
            ax.set_xlim(0, BUDGET * 1.01)
            ax.set_ylim(0, 1.04)
            ax.xaxis.set_major_formatter(in_thousands)
        axes[0].set_ylabel("share of runs with a wrong outlier set")
        axes[1].legend(loc="upper right", handlelength=3.6, framealpha=0.9)
        axes[0].text(
            0.98, 0.98, "the released code's WRR never makes\nan extra pull: its curve is RR's",
            transform=axes[0].transAxes, ha="right", va="top", fontsize=8.5, style="italic",
        )  # fmt: skip
        figure.suptitle(title, fontsize=12)
    return figure
