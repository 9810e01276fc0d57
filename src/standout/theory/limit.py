"""The information limit: the fewest pulls that any method needs, computed with its accuracy.

A method that is right with probability at least 1 - delta on all means takes, on
the given ones, E[T] >= kl(delta, 1 - delta) T*, where

    1 / T* = max over shares w of inf over means with another answer of sum_a w_a KL_a

(Garivier & Kaufmann 2016, Theorem 1). It is a game: one player allocates the pulls, the other
chooses means with another answer. T* is bounded from both sides:

- *below*: any finite set of means with another answer, mixed in any proportions p, gives
  1 / T* <= max_a sum_j p_j KL_a of the j-th. So `Limit.lower` is a limit for every method, even if
  the search missed a better set. Each of these means is checked to have another answer.
- *above*: branch and bound (`boxes`) proves, for the shares found, that no other answer costs less
  than a target. So T* is at most the inverse of the target, and the limit at most `Limit.upper`.

Both hold up to rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from standout.core import robust
from standout.core.joint.bounds import IN, OUT
from standout.core.problem import Problem, Side
from standout.core.typing import Flags, Floats
from standout.errors import ProblemError
from standout.theory.alternatives import Starts, beyond, settle
from standout.theory.boxes import Flips
from standout.theory.branch_and_bound import latest, revisit, search
from standout.theory.divergences import (
    HUGE,
    Divergence,
    GaussianDivergence,
    divergence_of,
)
from standout.theory.matrix_game import GameSolution, solve_game

MOST_ARMS = 300
"""The largest number of arms. The search takes seconds for 20, 15 seconds for 100."""
ON_THE_EDGE = 1e-12
"""A mean this close to the threshold, in units of the means' range, counts as on it."""
FINEST = 1e-70
"""The smallest sigma, in units of the means' range, whose square is representable."""
STAGES = (0.6, 0.3, 0.1)
"""Intermediate accuracies: rough ones keep the shares in the middle of the possible range."""
MOST_ROUNDS = 400
MOST_BOXES, FEW_BOXES = 40_000, 1_000
SLACK = 1.3
"""Unused alternatives that cost more than this multiple of the value are dropped."""
MOST_NEW = 6
"""Alternatives per arm to add after a search; more of them slow the game down."""


@dataclass(frozen=True, eq=False)
class Limit:
    """The expected pulls that no method can beat; infinite if no number suffices.

    The exact limit lies between `lower` and `upper`; `lower` is itself a valid limit.
    """

    lower: float
    upper: float
    """Infinite if no accuracy was reached"""
    shares: Floats
    """The shares of pulls per arm of a best method, to that accuracy"""
    delta: float

    @property
    def accuracy(self) -> float:
        """upper / lower - 1; 0 for an infinite limit, infinite if it is not known."""
        if self.lower == self.upper:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    def at(self, delta: float) -> Limit:
        """The limit for another delta: only a factor changes."""
        if self.delta >= 0.5 or math.isinf(self.lower):
            raise ValueError("a limit of 0 or infinity says nothing about another delta")
        ratio = evidence(delta) / evidence(self.delta)
        return replace(self, lower=ratio * self.lower, upper=ratio * self.upper, delta=delta)


def evidence(delta: float) -> float:
    """kl(delta, 1 - delta), in nats; 0 for delta of at least 1/2, where a guess suffices.

    >>> round(evidence(0.05), 3)
    2.65
    """
    if delta >= 0.5:
        return 0.0
    return (1 - 2 * delta) * (math.log1p(-delta) - math.log(delta))


def information_limit(
    means: ArrayLike,
    problem: Problem,
    sigmas: ArrayLike | None = None,
    *,
    accuracy: float = 0.02,
) -> Limit:
    """The limit for arms whose true means (and own `sigmas`, which no method knows) are given.

    `accuracy` is the largest relative difference of `upper` and `lower`. Raises `ProblemError` for

    - noise that does not determine the distribution of the rewards (`bounded`, `heavy`);
    - `gaussian` noise of unknown scale without `sigmas`;
    - a tolerance, with which several answers are right;
    - more than `MOST_ARMS` arms.

    >>> limit = information_limit([0, 1, 9], Problem(noise="gaussian:1", k=2), accuracy=0.1)
    >>> limit.lower < limit.upper < 1.11 * limit.lower
    True
    """
    values = np.asarray(means, dtype=np.float64)
    problem.check_arms(values.size)
    if problem.tolerance > 0:
        raise ProblemError(
            "no limit is known with a tolerance, since several answers are right; leave it out"
        )
    if values.size > MOST_ARMS:
        raise ProblemError(
            f"the limit is computed for at most {MOST_ARMS} arms, not {values.size}: it would "
            "take too long"
        )
    own = None if sigmas is None else np.asarray(sigmas, dtype=np.float64)
    _check_numbers(values, problem, own)
    divergence = _rescaled(divergence_of(values, problem.noise, own))
    questions = _questions(divergence, problem)
    alike = np.full(values.size, 1 / values.size)
    if any(_is_on_the_edge(flips) for flips in questions):
        return Limit(math.inf, math.inf, alike, problem.delta)
    if problem.delta >= 0.5:
        return Limit(0.0, 0.0, alike, problem.delta)
    game = _Game(questions)
    game.solve(accuracy)
    nats = evidence(problem.delta)
    upper = nats / game.proved if game.proved > 0 else math.inf
    return Limit(nats / game.value, upper, game.shares, problem.delta)


def _check_numbers(means: Floats, problem: Problem, sigmas: Floats | None) -> None:
    for place, mean in enumerate(means.tolist(), start=1):
        problem.noise.check_mean(str(place), mean)
    if sigmas is None:
        return
    if sigmas.shape != means.shape:
        raise ProblemError(f"{means.size} means need as many sigmas, not {sigmas.size}")
    good = (sigmas > 0) & (sigmas <= problem.noise.sigma) & np.isfinite(sigmas)
    if not good.all():
        wrong = float(sigmas[~good][0])
        raise ProblemError(f"sigma {wrong:g} cannot be with {problem.noise.spec()} noise")


def _rescaled(divergence: Divergence) -> Divergence:
    """Gaussian means relative to their median, in units of their range; the limit is the same."""
    if not isinstance(divergence, GaussianDivergence):
        return divergence
    means = divergence.means
    unit = float(np.ptp(means)) or 1.0
    ratios = divergence.sigmas / unit
    if not (ratios.min() >= FINEST and ratios.max() <= 1 / FINEST):
        raise ProblemError(
            f"a sigma of {float(divergence.sigmas.min()):g} and means that spread over {unit:g} "
            "are too far apart to compute a limit"
        )
    around = (means - robust.median(means)) / unit
    return GaussianDivergence(around, ratios, divergence.cap / unit)


def _questions(divergence: Divergence, problem: Problem) -> list[Flips]:
    """The questions of the sides and directions of a flip, in terms of high outliers."""
    found = []
    truth = _answer(divergence.means, problem)
    for side in problem.sides():
        sign = 1.0 if side is Side.HIGH else -1.0
        turned = divergence if side is Side.HIGH else divergence.mirrored()
        factor = problem.factor_of(side)
        found += [Flips(turned, factor, way, _checker(truth, problem, sign)) for way in (OUT, IN)]
    return found


def _answer(means: Floats, problem: Problem) -> Flags:
    masks = [beyond(means, problem.factor_of(side), side) for side in problem.sides()]
    union: Flags = np.logical_or.reduce(masks)
    return union


def _checker(truth: Flags, problem: Problem, sign: float) -> Callable[[Floats], bool]:
    return lambda means: not np.array_equal(_answer(sign * means, problem), truth)


def _is_on_the_edge(flips: Flips) -> bool:
    """Whether a mean on the threshold can be flipped by an arbitrarily small change."""
    means = flips.divergence.means
    near = ON_THE_EDGE * max(float(np.ptp(means)), float(np.abs(means).max()))
    gaps = np.abs(means - robust.threshold(means, flips.factor))
    on = np.flatnonzero(gaps <= near)
    on = on[flips.may_flip[on]]
    return any(settle(flips, means, int(arm)) is not None for arm in on)


class _Game:
    """The alternatives found so far, and the bounds that they and the searches prove."""

    def __init__(self, questions: list[Flips]) -> None:
        self.questions = questions
        self.costs = np.concatenate([_first_costs(flips) for flips in questions])
        self.starts: list[list[Starts]] = [[] for _ in questions]
        self.value = math.inf
        self.proved = 0.0
        self.shares = np.full(self.costs.shape[1], 1 / self.costs.shape[1])

    def solve(self, accuracy: float) -> None:
        """Play until `value` and `proved` agree to this accuracy, or until it takes too long."""
        stages = [stage for stage in STAGES if stage > accuracy] + [accuracy]
        solution = solve_game(self.costs, stages[0] / 4)
        self._lower_value(solution)
        weights = solution.columns
        place = rounds = 0
        while rounds < MOST_ROUNDS:
            rounds += 1
            is_last = place == len(stages) - 1
            goal = self._goal(solution, stages[place], is_last)
            weights = (weights + solution.columns) / 2
            weights = (1 - 1e-6) * weights + 1e-6 / weights.size
            is_refuted = self._attack(weights, goal, MOST_BOXES if is_last else FEW_BOXES)
            if not is_refuted and is_last:
                return
            place += not is_refuted
            solution = solve_game(self.costs, stages[place] / 4)
            self._lower_value(solution)

    def _goal(self, solution: GameSolution, stage: float, is_last: bool) -> float:
        """The target for the shares: at the end, measured by the best known value."""
        ceiling = float((solution.rows @ self.costs).max())
        return (self.value if is_last else ceiling) / (1 + stage)

    def _lower_value(self, solution: GameSolution) -> None:
        self.value = min(self.value, float((solution.rows @ self.costs).max()))

    def _attack(self, weights: Floats, goal: float, most: int) -> bool:
        """Add alternatives that matter for these weights; whether one costs less than `goal`."""
        found = []
        for flips, known in zip(self.questions, self.starts, strict=True):
            last = latest(known)
            if last is not None:
                found.append((flips, known, revisit(flips, weights, goal, last)))
        if not any(each.is_refuted for *_, each in found):
            pairs = zip(self.questions, self.starts, strict=True)
            found = [(flips, own, search(flips, weights, goal, most)) for flips, own in pairs]
            if all(each.is_proved for *_, each in found) and goal > self.proved:
                self.proved, self.shares = goal, weights
        self._forget(weights)
        for flips, known, each in found:
            known += each.starts
            if each.means:
                costs = flips.divergence.cost(np.array(each.means))
                costs = costs[_are_finite(costs)]
                cheapest = np.argsort(costs @ weights, kind="stable")[: MOST_NEW * weights.size]
                self.costs = np.concatenate([self.costs, costs[cheapest]])
        return any(each.is_refuted for *_, each in found)

    def _forget(self, weights: Floats) -> None:
        cost = self.costs @ weights
        keep = cost <= SLACK * self.value
        # Keep several, because dropping all that determine an arm's share would release it.
        keep[np.argsort(cost, kind="stable")[: 4 * weights.size]] = True
        self.costs = self.costs[keep]


def _first_costs(flips: Flips) -> Floats:
    """The costs of moving one arm alone across the threshold, and of one more alternative.

    The set is never empty: equal means have no outlier, and equal means except one have one.
    """
    means = flips.divergence.means
    low, high = flips.divergence.support
    inside = (low, high) if math.isfinite(low) else (float(means.min()), float(means.max()) + 1)
    alike = np.full(means.size, min(max(robust.median(means), inside[0] + 0.01), inside[1] - 0.01))
    if not flips.is_wrong(alike):
        alike[int(np.argmax(means))] = (alike[0] + inside[1]) / 2
    rows = [settle(flips, means, int(arm)) for arm in np.flatnonzero(flips.may_flip)] + [alike]
    costs = np.array([flips.divergence.cost(row) for row in rows if row is not None])
    return costs[_are_finite(costs)]


def _are_finite(costs: Floats) -> Flags:
    good: Flags = costs.max(axis=1, initial=0.0) < HUGE / 2
    return good
