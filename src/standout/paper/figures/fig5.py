"""Fig. 5: error rate over time on the wine data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from standout.core import robust
from standout.core.problem import MAD_SCALE
from standout.core.typing import Floats
from standout.paper import reference
from standout.paper.claims import Claim, judge
from standout.paper.figures import anytime
from standout.paper.figures.anytime import (
    draw_curves,
    elim_like_random,
    five_times,
    lucb_best,
    rr_worse,
)
from standout.paper.figures.figure import Job
from standout.paper.reference import Comparison, exact
from standout.paper.runs import Part, Played
from standout.paper.style import ARMS, panels
from standout.paper.table import Table, Tables, make_table
from standout.simulation.instances import Instance, parse_instance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "fig5"
TITLE = "Fig. 5: error rate over time, wine data"
ABOUT = (
    "(a) 123 wines: the first principal component of 13 features, scaled to [0, 1], without the "
    "6 values nearest to the threshold. (b) Share of runs whose best guess is not the truth, each "
    "wine a Bernoulli arm with that mean; otherwise as Fig. 4."
)
OWN_SECONDS = 0.005


def parts() -> Sequence[Part]:
    """Seven methods on the same means in every run."""
    return anytime.parts(NAME, "wine", 123)


def compute(played: Played, job: Job) -> dict[str, Table]:
    """The means (a) with their thresholds, and the curves (b) with what is derived from them."""
    instance = parse_instance("wine").draw(np.random.default_rng(0))
    tables = {"fig5a": _means(instance), "fig5a_numbers": _numbers(instance.means)}
    tables |= anytime.tables(NAME, played, job)
    job.tick(OWN_SECONDS * job.runs)
    return tables


def _means(instance: Instance) -> Table:
    is_outlier = robust.outliers(instance.means, 3 * MAD_SCALE)
    order = np.argsort(instance.means, kind="stable")
    return make_table(
        "arm mean kind",
        [
            (instance.arms[i], float(instance.means[i]), "outlier" if is_outlier[i] else "normal")
            for i in order
        ],
    )


def _numbers(means: Floats) -> Table:
    theirs = robust.mean_std_threshold(means, 3.0)
    found = robust.outliers(means, 3 * MAD_SCALE)
    return make_table(
        "quantity value",
        [
            ("arms", len(means)),
            ("outliers", int(found.sum())),
            ("mean_std_outliers", int((means > theirs).sum())),
            ("in_both", int((found & (means > theirs)).sum())),
            ("median", robust.median(means)),
            ("mad", robust.mad(means)),
            ("threshold", robust.threshold(means, 3 * MAD_SCALE)),
            ("min_gap", robust.min_gap(means, 3 * MAD_SCALE)),
            ("mean_std_threshold", theirs),
            ("mean_std_min_gap", float(np.abs(means - theirs).min())),
        ],
    )


def draw(tables: Tables) -> Mapping[str, Figure]:
    """Fig. 5(a) and 5(b)."""
    title = "Fig. 5(b)  Error rate, wine data"
    return {
        "fig5a": _draw_means(tables["fig5a"], tables["fig5a_numbers"]),
        "fig5b": draw_curves(tables["fig5_curves"], tables["fig5_differences"], title),
    }


def _draw_means(means: Table, numbers: Table) -> Figure:
    with panels(6.4, 3.8) as (figure, (axes,)):
        places = {arm: place for place, arm in enumerate(means.column("arm"), start=1)}
        for kind, color, marker in ARMS:
            rows = means.where(kind=kind)
            axes.plot(
                [places[arm] for arm in rows.column("arm")], rows.numbers("mean"), marker,
                color=color, markersize=4 if kind == "normal" else 6,
                label=f"{len(rows.rows)} {kind} arms",
            )  # fmt: skip
        for name, line, text in (
            ("threshold", "--", "median + 3·1.4826·MAD"),
            ("mean_std_threshold", ":", "mean + 3·std"),
        ):
            height = numbers.number("value", quantity=name)
            axes.axhline(height, color="black", linestyle=line, linewidth=1.2)
            axes.text(1, height + 0.012, f"{text} = {height:.3f}", fontsize=9, va="bottom")
        axes.set_xlabel("wine, by its mean")
        axes.set_ylabel("mean")
        axes.set_ylim(-0.03, 1.04)
        axes.legend(loc="center left", bbox_to_anchor=(0.0, 0.5), frameon=False)
        axes.set_title("Fig. 5(a)  Means of the wine data", loc="left")
    return figure


def claims(tables: Tables) -> list[Claim]:
    """The data itself, LUCB before the others, RR behind Random."""
    ratios, differences = tables["fig5_ratios"], tables["fig5_differences"]
    return [
        _data(tables["fig5a_numbers"]),
        lucb_best(NAME, ratios, differences),
        five_times(NAME, ratios),
        rr_worse(NAME, differences),
        elim_like_random(NAME, ratios, differences),
    ]


def _data(numbers: Table) -> Claim:
    value = {str(row["quantity"]): float(row["value"]) for row in numbers}
    counts = [value[name] for name in ("arms", "outliers", "mean_std_outliers", "in_both")]
    return Claim(
        "fig5-data", NAME, "123 means remain, with the same 5 outliers under both thresholds",
        f"{counts[0]:.0f} means, {counts[1]:.0f} outliers above {value['threshold']:.4f} "
        f"(median-MAD, minimum gap {value['min_gap']:.4f}) and {counts[2]:.0f} above "
        f"{value['mean_std_threshold']:.4f} (mean-std, minimum gap "
        f"{value['mean_std_min_gap']:.4f})",
        judge(counts == [123, 5, 5, 5], False),
        "The gap to the mean-std threshold is much the smaller one, so RR and WRR face a harder "
        "problem on these means",
    )  # fmt: skip


def comparisons(tables: Tables) -> list[Comparison]:
    """The numbers of the data, which have no noise."""
    numbers = tables["fig5a_numbers"]
    return [
        exact(NAME, name, text, numbers.number("value", quantity=name))
        for name, text in reference.FIG5_NUMBERS.items()
    ]
