"""The pictures of Fig. 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from standout.paper.lineup import EITHER, VERSIONS
from standout.paper.style import LOOKS, NORMAL_ARM, OUTLIER_ARM, in_thousands, panels
from standout.paper.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_GAPS = (0.6, 0.4, 0.2)


def draw_means(table: Table) -> Figure:
    """Fig. 1(a): where the means lie at the largest, a middle and the smallest gap."""
    with panels(7.2, 2.9) as (figure, (axes,)):
        theta = table.numbers("threshold")[0]
        for row, gap in enumerate(SHOWN_GAPS):
            height = len(SHOWN_GAPS) - 1 - row
            for kind, color, marker in (
                ("normal", NORMAL_ARM, "o"),
                ("outlier", OUTLIER_ARM, "D"),
            ):
                means = table.where(gap=gap, kind=kind).numbers("mean")
                label = f"{kind} arms" if row == 0 else None
                axes.plot(
                    means, [height] * len(means), marker, color=color, markersize=7, label=label
                )
            nearest = min(table.where(gap=gap, kind="outlier").numbers("mean"))
            axes.annotate(
                "", (nearest, height + 0.3), (theta, height + 0.3),
                arrowprops={"arrowstyle": "<->", "color": "black", "linewidth": 0.9},
            )  # fmt: skip
            axes.text((theta + nearest) / 2, height + 0.36, f"{gap:g}", ha="center", va="bottom")
        axes.axvline(theta, color="black", linestyle="--", linewidth=1.2)
        axes.text(theta - 0.04, 2.42, rf"$\theta$ = {theta:.3f}", ha="right", va="bottom")
        axes.set_yticks(
            range(len(SHOWN_GAPS)), [rf"$\Delta^\theta_* = {g:g}$" for g in reversed(SHOWN_GAPS)]
        )
        axes.set_ylim(-0.4, 2.8)
        axes.set_xlabel("mean")
        axes.grid(axis="y", visible=False)
        axes.legend(loc="upper left", ncols=2, frameon=False)
        axes.set_title("Fig. 1(a)  Configuration of the means, n = 17", loc="left")
    return figure


def draw_times(times: Table, fits: Table) -> Figure:
    """Fig. 1(b): stopping time against bound, once per version of the algorithms."""
    titles = ("as published (whole rounds)", "as released (one random candidate)")
    with panels(10.4, 4.4, columns=2) as (figure, axes):
        for ax, version, title in zip(axes, VERSIONS, titles, strict=True):
            _draw_version(ax, version, times, fits)
            ax.set_title(title)
            ax.set_xlabel("theoretical upper bound (Theorem 2, C = 10)")
            ax.xaxis.set_major_formatter(in_thousands)
            ax.yaxis.set_major_formatter(in_thousands)
            ax.legend(loc="upper left", frameon=False)
            ax.set_ylim(bottom=0)
            ax.set_xlim(left=0)
        axes[0].set_ylabel("pulls until it stops (mean)")
        figure.suptitle("Fig. 1(b)  Stopping time against the bound", fontsize=12)
    return figure


def _draw_version(ax: Axes, version: str, times: Table, fits: Table) -> None:
    for name in ("Random", "Elim", "LUCB"):
        own = EITHER if name == "Random" else version
        rows = times.where(version=own, method=name)
        fit = {key: fits.number(key, version=own, method=name) for key in fits.columns[2:]}
        look = LOOKS[name]
        ends = np.array([0.0, 1.04 * max(rows.numbers("bound"))])
        ax.plot(
            ends, fit["slope"] * ends + fit["intercept"],
            color=look.color, linestyle=look.line, linewidth=1.1, alpha=0.75,
        )  # fmt: skip
        options = look.options() | {"linestyle": "none"}
        ax.errorbar(
            rows.numbers("bound"), rows.numbers("pulls"), yerr=rows.numbers("bar"),
            label=f"{name}: slope {fit['slope']:.2f}, R² = {fit['r_squared']:.4f}", **options,
        )  # fmt: skip
