"""The answer and the effort of a report, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standout.analysis.uniform_sampling import Uniform
from standout.core.kinds import Verdict
from standout.core.problem import Side
from standout.estimation.until import Until
from standout.report.items import quoted
from standout.results import Forecast, StopReason
from standout.results.overlap import outside_words, overlap_words
from standout.text import count, listed, plural, printable, rounded

if TYPE_CHECKING:
    from standout.report.facts import Facts

MOST_NAMES = 6
LONGEST = 130
"""The largest number of characters of an arm and its item in a sentence."""


def answer(facts: Facts, *, marked: bool = False) -> str:
    """The answer in a sentence or two; with `marked`, names stand between marks."""
    seen = facts.seen
    counts = seen.counts
    if counts.pulls == 0:
        waiting = plural(counts.arms, "arm")
        return f"Nothing has been measured yet: {waiting} wait for their first pulls."
    if counts.rounds == 0:
        return (
            f"It is too early to tell: {plural(counts.pulls, 'pull')} of "
            f"{plural(counts.arms, 'arm')} so far, and some arms have too few."
        )
    if counts.undecided == 0:
        return _standing_out(facts, "", marked)
    ended = _ended(facts)
    if counts.undecided == counts.arms:
        why = f"{ended}, and " if seen.stopped else ""
        return f"No arm is decided yet: {why}all intervals still touch the threshold's."
    found = _standing_out(facts, " for certain", marked)
    normal = ""
    if counts.normal:
        certainly = "" if counts.outliers else "certainly "
        do = "does" if counts.normal == 1 else "do"
        normal = f" {count(counts.normal)} {certainly}{do} not."
    are = "is" if counts.undecided == 1 else "are"
    left = f"{count(counts.undecided)} {are} {'left' if seen.stopped else 'still'} undecided"
    return f"{found}{normal} {left}{f', because {ended}' if seen.stopped else ''}."


def _ended(facts: Facts) -> str:
    """Why a study with undecided arms has stopped."""
    seen = facts.seen
    if seen.reason is StopReason.ESTIMATE and seen.until is not None:
        return f"the answer is as probable as asked ({Until.parse(seen.until).words})"
    return f"the budget of {plural(seen.budget or 0, 'pull')} is used up"


def named(facts: Facts, arm: int) -> str:
    """An arm's name with its item's text, if there is one."""
    name, text = printable(facts.seen.names[arm]), facts.texts.get(arm, "")
    return f"{name} ({quoted(text)})" if text and text != name else name


def guess(facts: Facts) -> str:
    """The best guess, in a sentence; empty if every arm is decided."""
    counts = facts.seen.counts
    if counts.undecided == 0 or counts.rounds == 0:
        return ""
    certain, guessed = facts.seen.counts.outliers > 0, set(facts.guess)
    undecided = facts.positions(Verdict.UNDECIDED).tolist()
    more = [named(facts, i) for i in undecided if facts.seen.names[i] in guessed]
    if not more:
        return "Best guess, without guarantee: none of the undecided arms stands out."
    too = " too" if certain else ""
    shown = listed(more, MOST_NAMES, width=LONGEST)
    return f"Best guess, without guarantee: {shown} would stand out{too}."


def _standing_out(facts: Facts, certain: str, marked: bool) -> str:
    """`3 of 20 arms stand out: a, b and c`."""
    total = f"the {count(facts.seen.counts.arms)} arms"
    found = facts.positions(Verdict.OUTLIER)
    names = [named(facts, int(i)) for i in found]
    if not names:
        return f"None of {total} stands out{certain}."
    verb = "stands" if len(names) == 1 else "stand"
    head = f"{count(len(names))} of {total} {verb} out{certain}"
    if facts.seen.problem.side is not Side.BOTH:
        return f"{head}: {listed(names, MOST_NAMES, marked=marked, width=LONGEST)}."
    by_side = []
    for side, word in (("high", "unusually high"), ("low", "unusually low")):
        here = [named(facts, int(i)) for i in found if facts.side_of(int(i)) == side]
        if here:
            shown = listed(here, MOST_NAMES, marked=marked, width=LONGEST)
            by_side.append(f"{word} {'is' if len(here) == 1 else 'are'} {shown}")
    return f"{head}: {'; '.join(by_side)}."


def confidence(facts: Facts) -> str:
    """The chance of an error, in one sentence."""
    counts, problem = facts.seen.counts, facts.seen.problem
    if counts.undecided == counts.arms:
        return "No arm is decided yet, so nothing can be wrong."
    rest = " There is no claim about undecided arms." if counts.undecided else ""
    near = ""
    if problem.tolerance > 0:
        near = f" (within {problem.tolerance:g} of the threshold, either verdict counts as right)"
    return (
        f"The chance that any of this is wrong{near} is at most {problem.delta * 100:g} %, "
        f"if the assumptions below hold.{rest}"
    )


def effort(facts: Facts) -> str:
    """The pulls used, beside those that uniform sampling would have needed."""
    seen, uniform = facts.seen, facts.uniform
    pulls = seen.counts.pulls
    used = f"This study {'used' if seen.stopped else 'has used'} {plural(pulls, 'pull')}"
    if seen.budget is not None:
        used += f" of a budget of {count(seen.budget)}"
    used += "" if seen.stopped else " so far"
    used += _left(facts.left, None if seen.budget is None else seen.budget - pulls)
    if uniform is None:
        reason = "no arm is decided" if pulls else "nothing has been measured"
        return f"{used}. While {reason}, there is nothing to compare it with."
    return f"{used}. {_uniform(uniform, pulls, len(seen.names))}"


def _left(forecast: Forecast | None, budget: int | None) -> str:
    if forecast is None:
        return ""
    if budget is not None and forecast.lower >= budget:
        return f"; the remaining {count(budget)} will probably not decide every arm"
    more = f"; about {rounded(forecast.pulls_left)} more would decide every arm"
    if forecast.upper is None:
        return f"{more}, or far more"
    return f"{more} (likely {rounded(forecast.lower)} to {rounded(forecast.upper)})"


def _uniform(uniform: Uniform, pulls: int, n_arms: int) -> str:
    goal = "to decide every arm"
    if uniform.undecided:
        goal = f"to decide the same number of arms ({count(n_arms - uniform.undecided)})"
    if uniform.is_capped:
        return (
            f"Pulling all arms equally often would have needed more than {rounded(uniform.pulls)} "
            f"pulls {goal}. The simulation was ended there, because an arm lies very near the "
            "threshold."
        )
    ratio = uniform.pulls / max(1, pulls)
    compared = f"{ratio:.1f} times as many"
    if ratio < 1.15:
        compared = "about the same number, so choosing saved little"
        if ratio <= 0.87:
            compared = "fewer, so choosing saved nothing"
    between = ""
    if rounded(uniform.low) != rounded(uniform.high):
        between = f" (from {rounded(uniform.low)} to {rounded(uniform.high)} in "
        between += f"{uniform.runs} simulated runs)"
    return (
        f"Pulling all arms equally often would have needed about {rounded(uniform.pulls)} pulls "
        f"{goal}: {compared}{between}."
    )


def undecided_reason(facts: Facts) -> str:
    """Why the remaining arms are undecided."""
    seen = facts.seen
    if seen.counts.undecided == 0 or seen.counts.rounds == 0:
        return ""
    if seen.note:
        return seen.note[0].upper() + seen.note[1:] + "."
    return (
        "Undecided arms are those whose interval still touches the threshold's band; "
        "more pulls would make both narrower."
    )


def caption(facts: Facts) -> str:
    """The caption of the picture of the arms."""
    words = (
        "Marks are estimates, lines the intervals in which the means lie. An arm is decided when "
        "its interval lies clear of the threshold's band"
    )
    tolerance = facts.seen.problem.tolerance
    words += f", up to the tolerance of {tolerance:g}." if tolerance else "."
    seen = facts.seen
    why = overlap_words(
        seen.verdict, seen.estimate, seen.lower, seen.upper, seen.thresholds, seen.median,
        seen.problem.side, tolerance,
    )  # fmt: skip
    words += f" {why}" if why else ""
    odd = outside_words(seen.names, seen.estimate, seen.lower, seen.upper)
    words += f" {odd}" if odd else ""
    if facts.picture.is_crowded:
        words += " There are too many arms to draw each of them: most are drawn as a band."
    return words
