"""Tables of simulations and methods, as Rich renderables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from standout.core.method import Method
from standout.core.problem import Problem
from standout.simulation import MethodResult, Simulation


def new_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], left: tuple[str, ...] = ("method",)
) -> Table:
    """A table without vertical lines; `left` columns are texts that may be folded, others numbers.

    Where it gets tight, headings are wrapped and texts folded, but no number.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(columns):
        width = max((len(row[place]) for row in rows), default=0)
        if name in left:
            table.add_column(name, overflow="fold", min_width=min(width, 10))
        else:
            table.add_column(name, justify="right", overflow="fold", min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


def count(value: float) -> str:
    """A large number for people: 12,345."""
    return f"{value:,.0f}"


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
    """What was simulated."""
    about = simulation.instance
    return (
        f"{about['name']}: {about['n_arms']} arms, threshold {about['threshold']:.4g}, "
        f"gap {about['min_gap']:.4g}; {problem_words(simulation.problem)}"
    )


def pulls_table(simulation: Simulation) -> Table:
    """One line per method: how many pulls, how many errors."""
    columns = (
        "method", "runs", "stopped", "wrong", "mean pulls ± se", "median", "rounds", "seconds",
    )  # fmt: skip
    return new_table(columns, [_pulls_cells(result) for result in simulation.results])


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


def errors_table(simulation: Simulation) -> Table:
    """Share of runs whose best guess is wrong: a line per checkpoint, a column per method."""
    results = simulation.results
    rates = [result.error_rate for result in results]
    rows = [
        [f"{count(mark)} pulls", *(f"{rate[place]:.3f}" for rate in rates)]
        for place, mark in enumerate(results[0].checkpoints)
    ]
    return new_table(["wrong after", *(result.method for result in results)], rows, left=())


def methods_table(methods: Iterable[Method], default: str) -> Table:
    """What each method does and, below, where it comes from; the default has a star."""
    table = Table.grid(padding=(0, 2))
    for method in methods:
        star = "*" if method.name == default else " "
        words = Text(method.summary).append(f"\n{method.reference}", style="dim")
        table.add_row(Text(f"{star} {method.name}", style="bold"), words)
    return table
