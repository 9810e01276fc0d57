"""The plan for people: lines and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table

from standout.analysis.forecast import Forecast
from standout.analysis.plan import SidePlan
from standout.cli.tables import new_table, problem_words
from standout.core.problem import Problem
from standout.simulation import Instance
from standout.text import count

HARDEST = 8
TITLES = {
    "lower": "lower bound",
    "upper": "upper bound",
    "subset": "upper, subset",
    "rr": "RR",
    "wrr": "WRR",
}


def headline(instance: Instance, problem: Problem) -> str:
    """What is planned."""
    return f"{instance.name}: {instance.n_arms} arms; {problem_words(problem)}"


def side_words(plan: SidePlan, instance: Instance) -> str:
    """Threshold and outliers of one side."""
    gaps = plan.gaps
    means = dict(zip(instance.arms, instance.means.tolist(), strict=True))
    listed = [f"{arm} ({means[arm]:.4g})" for arm in plan.outliers[:6]]
    if len(plan.outliers) > len(listed):
        listed.append(f"and {len(plan.outliers) - len(listed)} more")
    found = ", ".join(listed) or "none"
    return (
        f"Threshold {gaps.threshold:.4g}, from median {gaps.median:.4g} and MAD {gaps.mad:.4g}. "
        f"{str(plan.side).capitalize()} outliers: {found}. "
        f"Nearest to the threshold: {plan.nearest}, {gaps.min_to_threshold:.4g} away."
    )


def gaps_table(plan: SidePlan, instance: Instance) -> Table:
    """The arms that cost the most pulls in the upper bound."""
    gaps = plan.gaps
    order = [int(i) for i in np.lexsort((gaps.to_threshold, gaps.hardness))]
    columns = [instance.means, gaps.to_threshold, gaps.to_median, gaps.to_mad, gaps.hardness]
    rows = [
        [
            instance.arms[arm],
            *(f"{column[arm]:.4g}" for column in columns),
            _share(plan.shares[arm]),
        ]
        for arm in order[:HARDEST]
    ]
    if rest := order[HARDEST:]:
        rows.append([f"{len(rest)} others", *[""] * len(columns), _share(plan.shares[rest].sum())])
    names = ("hardest arms", "mean", "to threshold", "to median", "to MAD", "gap", "share")
    return new_table(names, rows, left=("hardest arms",))


def _share(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def bounds_table(plan: SidePlan) -> Table:
    """What the theory says about the number of pulls."""
    rows = []
    for bound in plan.bounds:
        value = "none" if bound.value is None else big(bound.value)
        words = ": ".join(part for part in (bound.source, bound.remark) if part)
        rows.append([TITLES[bound.name], value, words])
    return new_table(("by theory", "pulls", "from"), rows, left=("by theory", "from"))


def big(value: float) -> str:
    """A count that may be huge or infinite."""
    if not np.isfinite(value):
        return "infinite"
    return count(value) if value < 1e12 else f"{value:.3g}"


def forecast_table(forecasts: Sequence[Forecast], budget: int) -> Table:
    """Simulated pulls; `>` marks what the budget cut short."""
    rows = [
        [
            line.method,
            _at_least(line.pulls_mean, bool(line.capped)),
            _at_least(line.pulls_low, line.pulls_low >= budget),
            _at_least(line.pulls_high, line.pulls_high >= budget),
            count(line.runs),
            count(line.wrong),
        ]
        for line in forecasts
    ]
    names = ("by simulation", "mean", "10 %", "90 %", "runs", "wrong")
    return new_table(names, rows, left=("by simulation",))


def _at_least(value: float, is_cut: bool) -> str:
    return (">" if is_cut else "") + count(value)


def capped_words(forecasts: Sequence[Forecast], budget: int) -> list[str]:
    """Which forecasts are too small because of the budget."""
    return [
        f"{line.method}: {line.capped} of {line.runs} runs reached the budget of {count(budget)} "
        "pulls undecided, so the true numbers are larger; raise --budget to see them."
        for line in forecasts
        if line.capped
    ]
