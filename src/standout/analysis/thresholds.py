"""The threshold of past measurements whose numbers were fixed before their rewards were known.

Three certificates share delta: the arms' own intervals, the joint bet, and the population bet. Each
has an interval of the threshold, and their intersection counts. The population bet assumes that
the numbers of rewards do not depend on the rewards.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from standout.core import engine
from standout.core.joint.costs import EVIDENCE
from standout.core.kinds import RangeKind
from standout.core.method import MANY_SHARE, Method
from standout.core.methods import METHODS
from standout.core.noise import Bernoulli, Gaussian, GaussianUnknown, Noise
from standout.core.population_bet import Sums, population_interval, possible_interval
from standout.core.problem import SMALLEST_DELTA, Problem, Side
from standout.core.run import Run, start_state
from standout.core.state import PULLS, THRESHOLD_LOWER, THRESHOLD_UPPER, TOUCHED, State
from standout.core.typing import Floats
from standout.errors import ProblemError
from standout.results import Interval

BOXES, JOINT, POPULATION = 0.6, 0.2, 0.2
"""Shares of delta of the arms' intervals, of the joint bet and of the population bet."""
FEWEST, MOST = 40, 20_000
"""The smallest and largest number of arms for a population bet."""
FEWEST_POSSIBLE = 20
_KINDS = (Bernoulli, Gaussian, GaussianUnknown)


def can_bet(problem: Problem, method: Method, n_arms: int) -> bool:
    """Whether there is a population bet for this noise, method and number of arms."""
    return (
        isinstance(problem.noise, _KINDS)
        and FEWEST <= n_arms < MOST
        and method.refines
        and method.range in (RangeKind.EXACT, RangeKind.JOINT)
        and problem.delta * min(JOINT, POPULATION) >= SMALLEST_DELTA
    )


def with_delta(problem: Problem, delta: float) -> Problem:
    """The same question at another level."""
    given = {each.name: getattr(problem, each.name) for each in dataclasses.fields(problem)}
    return Problem(**given | {"delta": delta})


def for_kept(problem: Problem, kept: int, left_out: int) -> Problem:
    """The question about the arms of a table that were kept, at their share of delta.

    An arm's number of rewards may depend on them, so an interval fails with probability at most
    delta / n for each of all n arms, kept or not.
    """
    if not kept:
        raise ProblemError("the table has no reward")
    if not left_out:
        return problem
    return with_delta(problem, problem.delta * kept / (kept + left_out))


def narrow(run: Run, problem: Problem, seed: int) -> list[str]:
    """Narrow the thresholds of a run that has `BOXES` of the delta; return remarks."""
    joint = _joint_bounds(run, problem)
    notes = []
    for side, each in enumerate(problem.sides()):
        bounds = run.state.bounds[side]
        boxes = float(bounds[THRESHOLD_LOWER]), float(bounds[THRESHOLD_UPPER])
        sign = -1.0 if each is Side.LOW else 1.0
        sums, shift = _oriented(sums_of(run.state, problem.noise), problem.noise, sign)
        part = POPULATION * problem.delta / len(problem.sides())
        rng = np.random.default_rng([seed, side])
        bet = population_interval(sums, problem.factor_of(each), part, rng)
        found = {"population bet": (bet[0] + shift, bet[1] + shift)}
        if joint is not None:
            found["joint bet"] = joint[side]
        lower = max(boxes[0], *(low for low, _ in found.values()))
        upper = min(boxes[1], *(high for _, high in found.values()))
        # They are disjoint only if a certificate failed, which has probability delta.
        if lower <= upper:
            bounds[THRESHOLD_LOWER], bounds[THRESHOLD_UPPER] = lower, upper
        notes += [_words("arms' own intervals", boxes, sign)]
        notes += [_words(name, ends, sign) for name, ends in found.items()]
    engine.judge(run.spec, run.state)
    return notes


def _words(name: str, ends: tuple[float, float], sign: float) -> str:
    low, high = sorted(sign * end for end in ends)
    return f"threshold by the {name}: {low:.5g} to {high:.5g}"


def _joint_bounds(run: Run, problem: Problem) -> list[tuple[float, float]] | None:
    """The threshold's ends by the joint bet, for each side; None if there is no bet."""
    joint, n = METHODS["joint"], len(run.arms)
    interval = joint.interval_for(problem)
    if interval not in EVIDENCE or not joint.joins(problem, n):
        return None
    spec = dataclasses.replace(
        joint.spec(problem, n),
        flips=False,
        alpha=BOXES * problem.delta / n,
        joint_delta=JOINT * problem.delta,
        share=MANY_SHARE / math.sqrt(n),
    )
    state = start_state(problem, joint, n, np.random.default_rng(0))
    for name in ("pulls", "origin", "sums"):
        getattr(state, name)[:] = getattr(run.state, name)
    if state.moments.shape[1] > 0:  # student's, the only interval for its noise
        state.moments[:] = run.state.moments
    seen = np.flatnonzero(state.pulls > 0)
    state.touched[: len(seen)] = seen
    state.is_touched[seen] = True
    state.counters[TOUCHED], state.counters[PULLS] = len(seen), state.pulls.sum()
    engine.refresh(spec, state)
    return [(float(row[THRESHOLD_LOWER]), float(row[THRESHOLD_UPPER])) for row in state.bounds]


def sums_of(state: State, noise: Noise) -> Sums:
    """The sums that a run has counted for each arm."""
    counts = state.pulls.copy()
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0, state.origin + state.sums / np.maximum(counts, 1), 0.0)
    unknown = isinstance(noise, GaussianUnknown)
    squares = state.moments[:, 0].copy() if unknown else np.zeros(len(counts))
    sigma = math.nan if isinstance(noise, Bernoulli) else float(noise.sigma)
    return Sums(counts, means, squares, sigma)


def _oriented(sums: Sums, noise: Noise, sign: float) -> tuple[Sums, float]:
    """The sums with outliers on the high side, and what is to be added to thresholds then."""
    if sign > 0:
        return sums, 0.0
    shift = -1.0 if isinstance(noise, Bernoulli) else 0.0
    means: Floats = -sums.means - shift
    return dataclasses.replace(sums, means=means), shift


def possible(run: Run, problem: Problem) -> tuple[Interval, ...]:
    """The narrowest intervals that any method could prove from these rewards, one per side."""
    if not (isinstance(problem.noise, _KINDS) and FEWEST_POSSIBLE <= len(run.arms) < MOST):
        return ()
    unknown = isinstance(problem.noise, GaussianUnknown)
    if unknown and not run.state.moments.shape[1]:
        return ()
    found = []
    for side in problem.sides():
        sign = -1.0 if side is Side.LOW else 1.0
        sums, shift = _oriented(sums_of(run.state, problem.noise), problem.noise, sign)
        factor = problem.factor_of(side)
        ends = possible_interval(sums, factor, math.log(1.0 / problem.delta))
        if ends is not None:
            low, high = sorted(sign * (end + shift) for end in ends)
            found.append(Interval(low, high))
    return tuple(found)
