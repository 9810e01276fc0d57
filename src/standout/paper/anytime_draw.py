"""The pictures of error rates over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standout.paper.anytime import BUDGET, PLAYERS
from standout.paper.lineup import RELEASED, VERSIONS, seen_in
from standout.paper.style import LOOKS, in_thousands, panels
from standout.paper.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EVERY = 5
"""A marker and an error bar at every fifth checkpoint; the line goes through all."""

_WRR_NOTE = "the released code's WRR never makes\nan extra pull: its curve is RR's"
_ELIM_NOTE = "Elim drops no arm so early:\nit errs exactly where Random does"


def draw_curves(curves: Table, differences: Table, title: str) -> Figure:
    """Share of runs with a wrong best guess against pulls, once per version."""
    titles = ("as published (whole rounds)", "as released (one random candidate)")
    with panels(10.4, 4.8, columns=2) as (figure, axes):
        for ax, version, heading in zip(axes, VERSIONS, titles, strict=True):
            _draw_version(ax, version, curves)
            ax.set_title(heading)
            ax.set_xlabel("pulls")
            ax.set_xlim(0, BUDGET * 1.01)
            ax.set_ylim(0, 1.04)
            ax.xaxis.set_major_formatter(in_thousands)
        axes[0].set_ylabel("share of runs with a wrong outlier set")
        _note(axes[0], _WRR_NOTE)
        row = next(iter(differences.where(version=RELEASED, method="Elim")))
        if row["equal_runs"] == row["runs"]:
            _note(axes[1], _ELIM_NOTE)
        # Below the panels: inside there is no corner that all curves leave free.
        figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center", ncols=len(LOOKS), handlelength=3.6, frameon=False,
        )  # fmt: skip
        figure.suptitle(title, fontsize=12)
    return figure


def _draw_version(ax: Axes, version: str, curves: Table) -> None:
    for place, player in enumerate(seen_in(version, PLAYERS)):
        rows = curves.where(version=player.version, method=player.name)
        # Shifted from method to method, so that bars and markers do not cover each other.
        every = (place, _EVERY)
        ax.errorbar(
            rows.numbers("pulls"), rows.numbers("error_rate"), yerr=rows.numbers("bar"),
            errorevery=every, markevery=every, label=player.name, **LOOKS[player.name].options(),
        )  # fmt: skip


def _note(ax: Axes, text: str) -> None:
    ax.text(
        0.985, 0.98, text,
        transform=ax.transAxes, ha="right", va="top", fontsize=8.5, style="italic",
    )  # fmt: skip
