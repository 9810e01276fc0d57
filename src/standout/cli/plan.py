"""`standout plan`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli import console
from standout.cli.options import (
    InstanceText,
    Jobs,
    Json,
    Methods,
    NoiseText,
    QuestionOptions,
    Seed,
    check_seed,
    expanded,
    read_jobs,
    read_methods,
)
from standout.errors import MethodError, ProblemError
from standout.text import plural

if TYPE_CHECKING:
    from standout.analysis.forecast import Forecast, ProbableForecast
    from standout.core.problem import Problem
    from standout.simulation import Instance

POSSIBLE = (
    "Narrowest interval of the threshold that any method could prove, without assuming how the "
    "means lie (an estimate):"
)
JOINT_HINT = (
    "To decide every arm, combined often takes fewer pulls, with more computing "
    "(docs/combined.md): compare with --method focus --method combined."
)


@expanded
def plan(
    instance: InstanceText,
    noise: NoiseText = None,
    method: Methods = None,
    *,
    question: QuestionOptions,
    runs: Annotated[int, typer.Option(help="Simulated runs per method; 0 for none.")] = 20,
    budget: Annotated[
        int, typer.Option(help="End a simulated run after this many pulls.")
    ] = 5_000_000,
    constant: Annotated[
        float,
        typer.Option(
            help="The constant C of the upper bounds, which the theory does not determine."
        ),
    ] = 1.0,
    subset: Annotated[
        str | None,
        typer.Option(
            metavar="LAMBDA,EPSILON",
            show_default=False,
            help="Also the bound for a threshold from a random subset (Corollary 1).",
        ),
    ] = None,
    limit: Annotated[
        bool,
        typer.Option(
            help="Compute the information limit, proved to 2 % (2 s for 17 arms, 15 s for 120; at "
            "most 300), and how narrow the threshold's interval can be (20 arms or more)."
        ),
    ] = True,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Forecast how many pulls a question will take.

    From guessed or pilot means it computes the gaps that make the question hard,
    the bounds of the theory, the information limit that no method can beat, the
    narrowest possible interval of the threshold, and the pulls of simulated
    runs, for a proof and for a probable answer.
    The means are taken as exact, so try several guesses.

    \b
    Examples:
      standout plan fig1:gap=0.4
      standout plan pilot.csv --noise bounded:0,10 --method focus --method random
      standout plan wine --subset 2,0.1 --runs 0
    """
    family, problem = question.of_instance(instance, noise)
    chosen = read_methods(method)
    pair = read_subset(subset)
    check_numbers(runs, budget, constant, seed)

    from standout.analysis.forecast import forecast, forecast_probable
    from standout.analysis.limit import PlannedLimit, plan_limit, plan_possible
    from standout.analysis.plan import plan_side
    from standout.cli import tables
    from standout.core.methods import METHODS
    from standout.simulation import simulate
    from standout.simulation.runs import streams

    drawn = family.draw(streams(seed, 0)[0])
    sides = [
        plan_side(drawn, problem, each, constant=constant, subset=pair, seed=seed)
        for each in problem.sides()
    ]
    least = plan_limit(drawn, problem) if limit else PlannedLimit(None, None, "not requested")
    possible = plan_possible(drawn, problem) if limit else ()
    skipped = why_no_forecast(runs, drawn, problem)
    forecasts: tuple[Forecast, ...] = ()
    probable: ProbableForecast | None = None
    if not skipped:
        with console.run_bars([each.label() for each in chosen], runs) as bars:
            simulation = simulate(
                family, chosen, problem,
                runs=runs, seed=seed, budget=budget, jobs=read_jobs(jobs), progress=bars.done,
                on_slice=bars.within,
            )  # fmt: skip
        forecasts = forecast(simulation)
        # No run to a probable answer is longer than the longest run to a proof.
        most = int(max(result.pulls.max() for result in simulation.results))
        probable = forecast_probable(family, problem, drawn.n_arms, runs, seed, most)
    # If every run has other means, there is no single limit to compare with.
    ratios = [
        None if family.is_random else least.ratio(each, line.pulls_mean)
        for each, line in zip(chosen, forecasts, strict=False)
    ]
    if as_json:
        console.print_json(
            {
                "instance": {"name": drawn.name, "n_arms": drawn.n_arms},
                "is_random": family.is_random,
                "problem": problem.to_dict(),
                "sides": [each.to_dict(drawn) for each in sides],
                "limit": least.to_dict(),
                "possible": [each.to_dict() for each in possible],
                "budget": budget,
                "forecast": [
                    {**line.to_dict(), "times_limit": ratio}
                    for line, ratio in zip(forecasts, ratios, strict=True)
                ],
                "probable": None if probable is None else probable.to_dict(),
                "forecast_skipped": skipped,
            }
        )
        return
    words = tables.problem_words(problem)
    console.say(f"{drawn.name}: {plural(drawn.n_arms, 'arm')}; {words}", style="bold")
    if family.is_random:
        console.say("Every run draws new means; the following describes one draw.")
    for each in sides:
        console.say(tables.side_words(each, drawn), "")
        console.say(tables.gaps_table(each, drawn), "")
        console.say(tables.bounds_table(each), "")
    console.say(tables.limit_words(least), "")
    if possible:
        console.say(POSSIBLE, "", tables.possible_table(possible), "")
    if skipped:
        console.say(f"No forecast by simulation: {skipped}.")
        return
    table = tables.forecast_table(forecasts, ratios, budget)
    console.say(table, *tables.capped_words(forecasts, budget))
    if probable is not None:
        console.say("", tables.probable_words(probable))
    combined = METHODS["combined"]
    is_compared = any(line.method.startswith((combined.name, "joint")) for line in forecasts)
    if combined.flips(problem, drawn.n_arms) and not is_compared:
        console.say("", JOINT_HINT)


def read_subset(text: str | None) -> tuple[float, float] | None:
    """Read `LAMBDA,EPSILON`."""
    if text is None:
        return None
    from dataclasses import replace

    from standout.core.methods import METHODS

    try:
        multiple, epsilon = (float(part) for part in text.split(","))
    except ValueError:
        raise MethodError(f"subset {text!r} must be LAMBDA,EPSILON, e.g. 2,0.1") from None
    replace(METHODS["roai-lucb"], subset=(multiple, epsilon))  # raises for invalid values
    return multiple, epsilon


def check_numbers(runs: int, budget: int, constant: float, seed: int) -> None:
    """Refuse invalid numbers before any work is done."""
    check_seed(seed)
    if runs < 0:
        raise ProblemError(f"runs must not be negative, not {runs}; 0 leaves the forecast out")
    if budget < 1:
        raise ProblemError(f"budget must be a whole number of at least 1 pull, not {budget}")
    if not (math.isfinite(constant) and constant > 0):
        raise ProblemError(f"constant must be a positive number, not {constant:g}")


def why_no_forecast(runs: int, instance: Instance, problem: Problem) -> str:
    """The reason to skip the simulation, or an empty text."""
    if runs == 0:
        return "no runs were requested"
    if instance.min_gap(problem) == 0 and problem.tolerance == 0:
        return "a mean lies exactly on the threshold, so no run would ever end"
    return ""
