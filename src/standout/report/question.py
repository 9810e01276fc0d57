"""The question, the guarantee and the assumptions, in plain words."""

from __future__ import annotations

import math

from standout.core.method import Method
from standout.core.noise import Bernoulli, Bounded, GaussianUnknown, HeavyTailed, Noise
from standout.core.problem import MAD_SCALE, Problem, Side
from standout.estimation.until import Until
from standout.report.facts import Facts
from standout.study.events.changing import NOTE
from standout.text import count, moment, plural, printable

INTERVALS = {
    "hoeffding": "Hoeffding's inequality at every number of pulls (the paper's)",
    "released": "Hoeffding's inequality, with the constants of the paper's code",
    "zhuang": "the interval of Zhuang et al. (2017)",
    "mixture": "a normal mixture for a known scale of the noise",
    "bernoulli": "a beta-binomial mixture for rewards of 0 and 1",
    "bernstein": "an empirical Bernstein bound, which learns the spread from the rewards",
    "betting": "a mixture of bets, which learns the rewards' whole distribution",
    "student": "a sequential t-interval, which learns each arm's scale from its rewards",
    "heavy": "a Catoni-type bound for heavy tails",
}


def question(facts: Facts) -> list[str]:
    """The question, in sentences."""
    problem, n_arms = facts.seen.problem, facts.seen.counts.arms
    subset = facts.method.subset_size(n_arms)
    lines = [
        f"Each of the {count(n_arms)} arms has a mean: the average reward over endless pulls. A "
        "pull is one measurement of one arm; its result is a reward.",
        _threshold(problem, facts.method),
    ]
    if subset < n_arms:
        lines.append(
            f"The threshold is computed from {plural(subset, 'arm')}, drawn at random before the "
            "first pull."
        )
    if problem.tolerance > 0:
        lines.append(
            f"For an arm whose mean lies within {problem.tolerance:g} of the threshold, either "
            "verdict counts as right (the tolerance)."
        )
    return lines


def _threshold(problem: Problem, method: Method) -> str:
    if method.rho is not None:
        return (
            "An arm stands out when wide gaps part it, or a small group with it, from all others; "
            f"the first {(1 - method.rho) * 100:g} % of the arms that part are the answer."
        )
    if not method.is_robust:
        middle, unit, words = "average", "standard deviation", ""
        scale = ""
    else:
        middle, unit = "median", "MAD"
        words = " The MAD is the median distance of the means from their median"
        scale = f" × {problem.mad_scale:g}" if problem.mad_scale != 1 else ""
        if math.isclose(problem.mad_scale, MAD_SCALE):
            words += (
                f"; times {MAD_SCALE} it corresponds to a standard deviation, but extreme arms "
                "cannot inflate it"
            )
        words += "."
    sides = []
    for side in problem.sides():
        k = problem.factor_of(side) / problem.mad_scale
        sign, where = ("+", "above") if side is Side.HIGH else ("−", "below")
        sides.append(f"{where} the {middle} of all means {sign} {k:g}{scale} × {unit}")
    return f"An arm stands out when its mean lies {', or '.join(sides)}.{words}"


def guarantee(facts: Facts) -> list[str]:
    """The guarantee, in sentences."""
    sure = f"{(1 - facts.seen.problem.delta) * 100:g} %"
    return [
        f"With a probability of at least {sure}, every arm called an outlier is one and every "
        "arm called normal is normal, all of them together.",
        "This holds for any choice of pulls, however often the results were looked at, and for any "
        "time of stopping: the intervals are valid at all times.",
        "There is no claim about undecided arms.",
    ]


def assumptions(facts: Facts) -> list[str]:
    """The assumptions of the guarantee."""
    lines = [
        "The rewards of an arm are independent and have the same mean from the first pull to the "
        "last.",
        _noise_words(facts.seen.problem.noise),
    ]
    if facts.log.is_ordered:
        lines.append("Rewards were counted in the order in which their pulls were handed out.")
    else:
        lines.append(
            "The duration of a measurement does not depend on its value, or measurements were made "
            "one after the other."
        )
    lines.append("No reward was left out, repeated or changed because of its value.")
    if any(change.kind == "void" for change in facts.changes):
        lines.append(
            "Voided rewards (below) were not what was measured; none was voided for being too high "
            "or too low."
        )
    return lines


def notes(facts: Facts) -> list[str]:
    """The remarks on the study, one line each."""
    return [
        f"{moment(one.time)}, {printable(one.worker)}: {printable(one.reason, 2000)}"
        for one in facts.changes
        if one.kind == NOTE
    ]


def changes(facts: Facts) -> list[str]:
    """The changes made by hand, one line each."""
    return [
        f"{moment(one.time)}: {one.words}, by {printable(one.worker)}"
        + (f" ({printable(one.reason, 300)})" if one.reason else "")
        for one in facts.changes
        if one.kind != NOTE
    ]


def _noise_words(noise: Noise) -> str:
    if isinstance(noise, Bernoulli):
        return "A reward is 0 or 1 (no or yes)."
    if isinstance(noise, Bounded):
        return f"A reward lies between {noise.low:g} and {noise.high:g}; nothing else is assumed."
    if isinstance(noise, HeavyTailed):
        return (
            f"Around its arm's mean a reward has a standard deviation of at most {noise.sigma:g}, "
            "with any distribution."
        )
    if isinstance(noise, GaussianUnknown):
        return "Around its arm's mean a reward is Gaussian (bell-shaped), with any spread."
    return (
        f"Around its arm's mean a reward is Gaussian with a standard deviation of {noise.sigma:g}, "
        "or scatters less (sub-Gaussian)."
    )


def settings(facts: Facts) -> list[tuple[str, str]]:
    """The question as a list of settings."""
    seen = facts.seen
    problem, method = seen.problem, facts.method
    k = f"{problem.k:g}"
    if problem.k_low is not None:
        k += f" (low side {problem.k_low:g})"
    until = "no"
    if seen.until is not None:
        until = f"once estimates promise {Until.parse(seen.until).words}"
    sides = {Side.HIGH: "high", Side.LOW: "low", Side.BOTH: "high and low"}
    rows = [
        ("Outliers looked for", sides[problem.side]),
        ("k", k),
        ("Scale of the MAD", f"{problem.mad_scale:g}"),
        ("Accepted probability of a wrong answer (δ)", f"{problem.delta:g}"),
        ("Tolerance", f"{problem.tolerance:g}" if problem.tolerance else "none"),
        ("Noise family", problem.noise.spec()),
        ("Interval of an arm", INTERVALS.get(facts.interval, facts.interval)),
        ("Method", f"{seen.method}: {method.summary} ({method.reference})"),
        ("Budget", plural(seen.budget, "pull") if seen.budget is not None else "none"),
        ("Ends early", until),
        ("Order of counting", "as handed out" if facts.log.is_ordered else "as told"),
    ]
    if seen.room is not None:
        rows.append(("Room for arms", f"{count(seen.room)} in all, which share δ"))
    if method.rho is not None:
        rows = rows[3:]
    elif not method.is_robust:
        rows.pop(2)
    return rows
