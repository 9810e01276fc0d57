"""`standout demo`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from standout.cli import console
from standout.cli.options import Json, Seed, check_seed, read_methods
from standout.text import plural

if TYPE_CHECKING:
    from standout.core.method import Method
    from standout.core.problem import Problem
    from standout.results import Identification
    from standout.simulation import Instance, InstanceFamily, MethodResult
    from standout.simulation.runs import RunRecord


PROMISE = "errors=0.5"
"""The promise of the probable answer."""


def demo(
    seed: Seed = 0,
    method: Annotated[
        str | None,
        typer.Option(metavar="M", show_default=False, help="A method other than the default."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Watch standout find the outliers among 123 wines.

    Each wine has a hidden score in [0, 1], its place on the first principal
    component of thirteen chemical measurements. One pull is a yes or no, yes
    with probability equal to the score. Which scores exceed median + 3 MAD? The
    picture shows every interval and the threshold, the pulls compared with
    uniform sampling, and when an answer was probable.

    \b
    Examples:
      standout demo
      standout demo --seed 7 --method roai-lucb
      standout demo --json
    """
    check_seed(seed)
    chosen = read_methods([method] if method is not None else None)[0]

    from standout.simulation import default_problem, parse_instance

    family = parse_instance("wine")
    problem = default_problem(family)
    uniform = same_but_uniform(chosen)
    with console.live_line() as live:
        found = watch_one(live, family, problem, chosen, seed)
        compared = watch_one(live, family, problem, uniform, seed)
        live.add_task(f"until {PROMISE}: looking", total=None)
        early = probable_run(family, problem, seed)

    import numpy as np

    truth = family.draw(np.random.default_rng(0))
    if not as_json:
        show(found, compared, truth, problem, chosen)
        console.say("", probable_line(early.method, early.records[0]))
        return
    estimates = dict(zip(found.arms, found.means.tolist(), strict=True))
    said = {
        "instance": truth.name,
        "problem": problem.to_dict(),
        "seed": seed,
        "method": chosen.label(),
        "identification": found.to_dict(),
        "estimates": {arm: estimates[arm] for arm in found.outliers},
        "is_right": is_right(found, truth, problem),
        "uniform": {"method": uniform.label(), "pulls": compared.pulls},
        "times_fewer_pulls": compared.pulls / found.pulls,
        "probable": {
            "method": early.method,
            "until": PROMISE,
            "pulls": early.records[0].pulls,
            "expected_wrong_arms": early.records[0].expected_wrong,
            "wrong_arms": early.records[0].wrong_arms,
        },
    }
    console.print_json(said)


def same_but_uniform(method: Method) -> Method:
    """Uniform sampling with the same intervals and threshold, in batches to save time.

    A joint bet needs its own rule, so uniform sampling uses the intervals of its fallback.
    """
    from standout.core.methods import METHODS

    uniform = replace(METHODS["random"], batch=100)
    if not method.is_robust:
        return uniform
    alone = method.fallback or method
    return replace(uniform, interval=alone.interval, range=alone.range, refines=alone.refines)


def watch_one(
    live: Any, family: InstanceFamily, problem: Problem, method: Method, seed: int
) -> Identification:
    """One run, with its pulls and undecided arms on the live line."""
    from standout.simulation.runs import watch

    name = "uniform sampling" if method.name == "random" else method.label()
    task = live.add_task(f"{name}: starting", total=None)

    def on_slice(pulls: int, undecided: int) -> None:
        live.update(
            task,
            description=f"{name}: {plural(pulls, 'pull')}, {plural(undecided, 'undecided arm')}",
        )

    return watch(family, problem, method, seed, on_slice=on_slice)


def probable_run(family: InstanceFamily, problem: Problem, seed: int) -> MethodResult:
    """A run that ends on an estimate, of the method for that."""
    from standout.simulation import simulate

    return simulate(family, None, problem, runs=1, seed=seed, until=PROMISE).results[0]


def probable_line(method: str, early: RunRecord) -> str:
    """When an answer was probable, and how wrong it was, without any claim of proof."""
    right = "It is right here" if early.wrong_arms == 0 else f"{early.wrong_arms} are wrong here"
    return (
        f"This is proved. A probable answer (an estimate, with at most half a wine expected on the "
        f"wrong side) took {plural(early.pulls, 'pull')} ({method} --until {PROMISE}). "
        f"{right}, but without a guarantee."
    )


def is_right(found: Identification, truth: Instance, problem: Problem) -> bool:
    """Whether exactly the true outliers were found."""
    right = {truth.arms[int(i)] for i in truth.truth(problem).nonzero()[0]}
    return set(found.outliers) == right


def show(
    found: Identification,
    compared: Identification,
    truth: Instance,
    problem: Problem,
    method: Method,
) -> None:
    """Print the picture and its explanation."""
    from standout.pictures import terminal
    from standout.pictures.arms import picture_of_answer

    glyphs, say = console.glyphs(), console.say
    picture = picture_of_answer(found, problem)
    width = console.results().width
    say(f"Which of {len(found.arms)} wines stand out?", style="bold")
    say(
        f"A pull is one yes or no about one wine. A wine stands out if its chance of a yes "
        f"exceeds median + {problem.k:g} x {problem.mad_scale:g} x MAD of all. The answer may be "
        f"wrong with probability {problem.delta:g}.",
        "",
    )
    say(*terminal.draw(picture, width, glyphs), "", terminal.legend(picture, glyphs), "")
    say(" ".join([answer_words(found, truth, problem), *found.overlap_lines()]), "")
    pulls = {f"{method.label()} pulls": found.pulls, "uniform pulls": compared.pulls}
    say(*terminal.bars(pulls, width, glyphs), "")
    same = "the same intervals and stopping rule"
    if method.fallback is not None:
        same = f"the intervals and stopping rule of {method.fallback.name}"
    say(
        f"Uniform sampling pulls all wines equally often; with {same} it "
        f"takes {compared.pulls / found.pulls:.1f} times the pulls of {method.name}."
    )


def answer_words(found: Identification, truth: Instance, problem: Problem) -> str:
    """The outliers with their estimates, and whether this is the truth."""
    estimates = dict(zip(found.arms, found.means.tolist(), strict=True))
    ranked = sorted(found.outliers, key=lambda arm: -estimates[arm])
    listed = ", ".join(f"{arm} ({estimates[arm]:.3f})" for arm in ranked)
    verdict = (
        "This is the true answer" if is_right(found, truth, problem) else "The true answer differs"
    )
    count = f"{len(ranked)} wine stands" if len(ranked) == 1 else f"{len(ranked)} wines stand"
    return (
        f"{count} out: {listed or 'none'}. {verdict}: the threshold is "
        f"{truth.threshold(problem):.3f}, and its interval is {found.threshold.lower:.3f} to "
        f"{found.threshold.upper:.3f}."
    )
