"""`standout simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli import console
from standout.cli.options import (
    Dask,
    GoalText,
    InstanceText,
    IntervalText,
    Jobs,
    Json,
    Methods,
    NoiseText,
    QuestionOptions,
    RangeText,
    Seed,
    Until,
    check_seed,
    cluster,
    expanded,
    read_checkpoints,
    read_methods,
)
from standout.errors import ProblemError

if TYPE_CHECKING:
    from standout.core.problem import Problem
    from standout.simulation import InstanceFamily


@expanded
def simulate(
    instance: InstanceText,
    method: Methods = None,
    *,
    question: QuestionOptions,
    noise: NoiseText = None,
    runs: Annotated[int, typer.Option(help="Runs per method.")] = 100,
    seed: Seed = 0,
    budget: Annotated[
        int | None,
        typer.Option(show_default="none", help="End a run after this many pulls, decided or not."),
    ] = None,
    until: Until = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...|START:STOP:STEP",
            show_default=False,
            help="Pulls at which to compare the best guess with the truth.",
        ),
    ] = None,
    interval: IntervalText = None,
    threshold_range: RangeText = None,
    goal: GoalText = None,
    batch: Annotated[
        int | None,
        typer.Option(show_default="the method's", help="Pulls per chosen arm and round."),
    ] = None,
    growth: Annotated[
        float | None,
        typer.Option(
            show_default="the method's",
            help="Batches grow to this share of an arm's pulls so far. Faster, but roai-lucb pulls "
            "some arms much more often and needs many times the pulls.",
        ),
    ] = None,
    jobs: Jobs = None,
    dask: Dask = None,
    as_json: Json = False,
) -> None:
    """Compare methods on known means.

    It counts pulls, and how often the answer or the best guess was wrong. With
    --until, a run may end on an estimate; such runs are counted separately.
    INSTANCE sets the means: one of the paper's experiments, any number of random
    means, or your own table. All methods see the same draws.

    \b
    Examples:
      standout simulate fig1:gap=0.4 --method roai-lucb --method random --runs 20
      standout simulate fig4 --goal anytime --budget 10000 --checkpoints 1000:10000:1000
      standout simulate fig4 --until errors=0.5 --runs 20
      standout simulate means.csv --noise gaussian:0.5 --side low --json
    """
    family, problem = question.of_instance(instance, noise)
    chosen = read_methods(
        method, batch, growth, interval=interval, threshold_range=threshold_range, goal=goal,
        ends=(budget, until),
    )  # fmt: skip
    marks = read_checkpoints(checkpoints)
    check_seed(seed)
    if budget is None and until is None:
        check_ends(family, problem)

    from standout.simulation import simulate as play

    bars = console.run_bars([each.label() for each in chosen], runs)
    with cluster(dask, jobs) as (executor, count), bars as show:
        simulation = play(
            family,
            chosen,
            problem,
            runs=runs,
            seed=seed,
            budget=budget,
            until=until,
            checkpoints=marks,
            jobs=count,
            executor=executor,
            progress=show.done,
            on_slice=show.within,
        )
    if as_json:
        console.print_json(simulation.to_dict())
        return

    from standout.cli import tables

    console.say(tables.question_line(simulation), style="bold")
    console.say("", tables.pulls_table(simulation))
    if until is not None:
        console.say("", tables.probable_table(simulation))
    if marks:
        console.say("", tables.errors_table(simulation))


def check_ends(family: InstanceFamily, problem: Problem) -> None:
    """Refuse a question that no method can decide, unless a budget or a promise ends the runs."""
    import numpy as np

    if family.is_random:
        return
    truth = family.draw(np.random.default_rng(0))
    if truth.min_gap(problem) == 0 and problem.tolerance == 0:
        raise ProblemError(
            f"{family.name}: a mean lies exactly on the threshold {truth.threshold(problem):g}, "
            "so no run would ever end; give a budget or a tolerance, or change k"
        )
