"""Tables of plans, simulations and methods, as Rich renderables, and the lines beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from standout.analysis.forecast import Forecast, ProbableForecast
from standout.analysis.limit import PlannedLimit, Possible
from standout.analysis.plan import SidePlan
from standout.core.method import Method
from standout.core.problem import Problem
from standout.simulation import Instance, MethodResult, Simulation
from standout.text import count, plural

HARDEST = 8
TITLES = {
    "lower": "lower bound",
    "upper": "upper bound",
    "subset": "upper, subset",
    "rr": "RR",
    "wrr": "WRR",
}


class Sheet:
    """A table that never cuts a number: if it is too narrow, it has one line per number.

    `left` columns are texts that may wrap, others are numbers; headings wrap first.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: tuple[str, ...] = ("method",),
    ) -> None:
        self.columns, self.rows, self.left = columns, rows, left

    def _least(self, place: int) -> int:
        """The width below which a column would be cut."""
        name = self.columns[place]
        width = max((len(row[place]) for row in self.rows), default=0)
        heading = min(8, max(len(word) for word in name.split(" ")))
        return max(heading, min(width, 10) if name in self.left else width)

    def _table(self, room: int) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        lengths = [[len(row[place]) for row in self.rows] for place in range(len(self.columns))]
        natural = [
            max(len(name), *found) for name, found in zip(self.columns, lengths, strict=True)
        ]
        is_tight = sum(natural) + 2 * (len(natural) - 1) > room
        for place, name in enumerate(self.columns):
            least = self._least(place)
            if name in self.left:
                table.add_column(name, overflow="fold", min_width=least)
            else:
                # A fixed width; otherwise it would be cut before a text wraps.
                width = least if is_tight else None
                table.add_column(name, justify="right", overflow="fold", width=width)
        for row in self.rows:
            table.add_row(*row)
        return table

    def _stacked(self, room: int) -> Iterator[Text]:
        cells = [len(cell) for row in self.rows for cell in row[1:]]
        width = max(map(len, self.columns[1:]))
        is_tight = width + 4 + max(cells, default=0) > room
        for place, row in enumerate(self.rows):
            if place:
                yield Text()
            yield Text(row[0], style="bold", overflow="fold")
            for name, cell in zip(self.columns[1:], row[1:], strict=True):
                if cell and is_tight:
                    yield Text(f"  {name}", overflow="fold")
                    yield Text(f"    {cell}", overflow="fold")
                elif cell:
                    yield Text(f"  {name:<{width}}  {cell}", overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = sum(self._least(place) + 2 for place in range(len(self.columns))) - 2
        if needed <= options.max_width:
            yield self._table(options.max_width)
        else:
            yield from self._stacked(options.max_width)


def problem_words(problem: Problem) -> str:
    """The question in a few words."""
    words = [f"k {problem.k:g} × {problem.mad_scale:g}"]
    if problem.k_low is not None:
        words.append(f"low k {problem.k_low:g}")
    sides = " and ".join(problem.sides())
    words += [f"delta {problem.delta:g}", f"{sides} outliers", problem.noise.spec()]
    if problem.tolerance:
        words.append(f"tolerance {problem.tolerance:g}")
    return ", ".join(words)


def question_line(simulation: Simulation) -> str:
    """The instance and the problem of a simulation."""
    about = simulation.instance
    return (
        f"{about['name']}: {plural(about['n_arms'], 'arm')}, threshold {about['threshold']:.4g}, "
        f"gap {about['min_gap']:.4g}; {problem_words(simulation.problem)}"
    )


def pulls_table(simulation: Simulation) -> Sheet:
    """One line per method: its pulls and its errors."""
    columns = (
        "method", "runs", "stopped", "wrong", "mean pulls ± se", "median", "rounds", "seconds",
    )  # fmt: skip
    return Sheet(columns, [_pulls_cells(result) for result in simulation.results])


def _pulls_cells(result: MethodResult) -> list[str]:
    values = result.to_dict()
    mean = count(values["pulls_mean"])
    if values["pulls_se"] is not None:
        mean += f" ± {count(values['pulls_se'])}"
    return [
        result.method,
        count(result.runs),
        count(result.stopped),
        count(result.wrong),
        mean,
        count(values["pulls_median"]),
        count(values["rounds_mean"]),
        f"{values['seconds']:.2f}",
    ]


def probable_table(simulation: Simulation) -> Sheet:
    """Runs that ended on an estimate: how many were wrong, and the expected and true wrong arms."""
    columns = ("method", "probable", "wrong", "expected wrong arms", "actual")
    rows = []
    for result in simulation.results:
        expected, actual = result.wrong_arms()
        rows.append(
            [
                result.method,
                count(result.probable),
                count(result.probable_wrong),
                f"{expected:.3f}" if result.probable else "-",
                f"{actual:.3f}" if result.probable else "-",
            ]
        )
    return Sheet(columns, rows)


def probable_words(found: ProbableForecast) -> str:
    """Pulls to a probable answer, separate from those to a proof."""
    if found.pulls_mean is None:
        return "No simulated run had a probable answer before everything was proved."
    wrong = f"{found.wrong:,} of these {'was' if found.wrong == 1 else 'were'} wrong"
    return (
        f"A probable answer, which is an estimate and not a proof, takes about "
        f"{count(found.pulls_mean)} pulls ({found.method} --until {found.promise}): "
        f"{found.ended:,} of {plural(found.runs, 'run')} ended on it, {wrong}."
    )


def errors_table(simulation: Simulation) -> Sheet:
    """The share of runs with a wrong best guess: one line per checkpoint, one column per method."""
    results = simulation.results
    rates = [result.error_rate for result in results]
    rows = [
        [plural(mark, "pull"), *(f"{rate[place]:.3f}" for rate in rates)]
        for place, mark in enumerate(results[0].checkpoints)
    ]
    return Sheet(["wrong after", *(result.method for result in results)], rows, left=())


def methods_table(methods: Iterable[Method], default: str) -> Table:
    """What each method does and, below, where it comes from; the default has a star."""
    table = Table.grid(padding=(0, 2))
    for method in methods:
        star = "*" if method.name == default else " "
        words = Text(method.summary).append(f"\n{method.reference}", style="dim")
        table.add_row(Text(f"{star} {method.name}", style="bold"), words)
    return table


def side_words(plan: SidePlan, instance: Instance) -> str:
    """Threshold and outliers of one side."""
    gaps, unit = plan.gaps, float(np.abs(instance.means).max())
    means = dict(zip(instance.arms, instance.means.tolist(), strict=True))
    listed = [f"{arm} ({means[arm]:.4g})" for arm in plan.outliers[:6]]
    if len(plan.outliers) > len(listed):
        listed.append(f"and {len(plan.outliers) - len(listed)} more")
    found = ", ".join(listed) or "none"
    return (
        f"Threshold {gaps.threshold:.4g}, from median {gaps.median:.4g} and MAD {gaps.mad:.4g}. "
        f"{str(plan.side).capitalize()} outliers: {found}. "
        f"Nearest to the threshold: {plan.nearest}, {plain(gaps.min_to_threshold, unit)} away."
    )


def gaps_table(plan: SidePlan, instance: Instance) -> Sheet:
    """The arms that cost the most pulls in the upper bound."""
    gaps = plan.gaps
    order = [int(i) for i in np.lexsort((gaps.to_threshold, gaps.hardness))]
    columns = [instance.means, gaps.to_threshold, gaps.to_median, gaps.to_mad, gaps.hardness]
    unit = float(np.abs(instance.means).max())
    rows = [
        [
            instance.arms[arm],
            *(plain(column[arm], unit) for column in columns),
            _share(plan.shares[arm]),
        ]
        for arm in order[:HARDEST]
    ]
    if rest := order[HARDEST:]:
        rows.append(
            [f"{plural(len(rest), 'other')}", *[""] * len(columns), _share(plan.shares[rest].sum())]
        )
    names = ("hardest arms", "mean", "to threshold", "to median", "to MAD", "gap", "share")
    return Sheet(names, rows, left=("hardest arms",))


def plain(value: float, unit: float) -> str:
    """A number with four digits; a value below the rounding error of `unit` is 0."""
    return "0" if abs(value) < 1e-12 * unit else f"{value:.4g}"


def _share(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def bounds_table(plan: SidePlan) -> Sheet:
    """The theory's bounds on the number of pulls."""
    rows = []
    for bound in plan.bounds:
        value = "none" if bound.value is None else big(bound.value)
        words = ": ".join(part for part in (bound.source, bound.remark) if part)
        rows.append([TITLES[bound.name], value, words])
    return Sheet(("by theory", "pulls", "from"), rows, left=("by theory", "from"))


def limit_words(limit: PlannedLimit) -> str:
    """The information limit in a sentence."""
    if limit.lower is None or limit.upper is None:
        return f"No information limit: {limit.remark}."
    least = limit.lower if math.isinf(limit.lower) else math.floor(limit.lower)
    words = f"Information limit: no method can take fewer than {big(least)} pulls on average"
    if limit.remark:
        return f"{words} ({limit.remark})."
    return f"{words} (the exact limit is at most {big(limit.upper)})."


def possible_table(found: Sequence[Possible]) -> Sheet:
    """How narrow the threshold's interval can be, by the number of pulls of every arm."""
    rows = [
        [str(each.side), count(each.per_arm), plain(each.lower, 1), plain(each.upper, 1)]
        for each in found
    ]
    return Sheet(("threshold", "pulls per arm", "from", "to"), rows, left=("threshold",))


def big(value: float) -> str:
    """A count that may be huge or infinite."""
    if not np.isfinite(value):
        return "infinite"
    return count(value) if value < 1e12 else f"{value:.3g}"


def forecast_table(
    forecasts: Sequence[Forecast], ratios: Sequence[float | None], budget: int
) -> Sheet:
    """Simulated pulls, also as multiples of the limit; `>` marks runs that the budget cut short."""
    rows = [
        [
            line.method,
            _at_least(line.pulls_mean, bool(line.capped)),
            _at_least(line.pulls_low, line.pulls_low >= budget),
            _at_least(line.pulls_high, line.pulls_high >= budget),
            count(line.runs),
            count(line.wrong),
            "-" if ratio is None else (">" if line.capped else "") + f"{ratio:.2g}",
        ]
        for line, ratio in zip(forecasts, ratios, strict=True)
    ]
    names = ("by simulation", "mean", "10 %", "90 %", "runs", "wrong", "× limit")
    return Sheet(names, rows, left=("by simulation",))


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
