"""A run in single steps: ask which arm to pull, tell its reward."""

from __future__ import annotations

import math
import operator
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from standout.core import engine
from standout.core.arms import check_arms as check_arms  # noqa: PLC0414  read here by others
from standout.core.arms import labels_of
from standout.core.identification import identification
from standout.core.intervals import MOMENTS
from standout.core.kinds import RangeKind
from standout.core.method import Method
from standout.core.methods import as_method
from standout.core.prior import PriorFacts
from standout.core.problem import Problem, ProblemLike, Side, as_problem
from standout.core.state import NEVER, PULLS, UNDECIDED, State, new_state
from standout.core.threshold.sample import draw_stages
from standout.core.typing import Floats
from standout.core.undecidable import doubt
from standout.errors import ProblemError
from standout.results import Identification, StopReason

NO_LIMIT = 2**62


def start_state(
    problem: Problem,
    method: Method,
    n_arms: int,
    rng: np.random.Generator,
    costs: Floats | None = None,
) -> State:
    """A new state; draws the subset that makes the threshold, if the method has one."""
    sides = problem.sides()
    size = method.subset_size(n_arms)
    stage = None
    if size < n_arms:
        stage = np.full(n_arms, NEVER, dtype=np.int8)
        stage[rng.permutation(n_arms)[:size]] = 0
    elif method.samples(n_arms):
        stage = draw_stages(n_arms, rng)
    n_moments = MOMENTS.get(method.interval_for(problem), 0)
    return new_state(
        n_arms,
        signs=tuple(-1.0 if side is Side.LOW else 1.0 for side in sides),
        factors=tuple(problem.factor_of(side) for side in sides),
        stage=stage,
        n_moments=n_moments,
        costs=costs,
        # Our intervals are clipped to the range of the rewards; the paper's are not.
        joins=method.joins(problem, n_arms),
        has_stages=method.range == RangeKind.JOINT,
        crosses=method.has_stages(problem, n_arms),
        learns=method.learns,
        support=problem.noise.support if method.refines else (-math.inf, math.inf),
    )


class Run:
    """One run of a method in memory: `ask` for an arm, measure it, and `tell` its reward.

    For a run that outlives the program or has several workers, use `Study`.

    Args:
        problem: A `Problem`, a mapping of its fields, or its noise alone (`"bernoulli"`).
        arms: At least three distinct texts, numbers or other hashable values. The answer holds the
            same values, except that blanks around a text are removed.
        method: A name of `METHODS`, with options after a colon, or a `Method`.
        rng: Drives the random choices of the method.
        budget: The largest number of pulls; by default the run ends with certainty only.
        given: What is known before the first pull.

    Raises:
        ProblemError: The problem or the arms are not valid.
        MethodError: There is no such method, or it does not work for this problem.

    Example:
        >>> import numpy as np
        >>> problem = Problem(noise="gaussian:0.1", k=2)
        >>> run = Run(problem, ["a", "b", "c", "d", "e"], "roai-lucb", np.random.default_rng(1))
        >>> truth = {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.3, "e": 5.0}
        >>> rewards = np.random.default_rng(2)
        >>> while (arm := run.ask()) is not None:
        ...     run.tell(arm, rewards.normal(truth[arm], 0.1))
        >>> run.identification().outliers, str(run.reason)
        (('e',), 'decided')
    """

    def __init__(
        self,
        problem: ProblemLike,
        arms: Sequence[Any],
        method: str | Method,
        rng: np.random.Generator,
        *,
        budget: int | None = None,
        given: PriorFacts | None = None,
    ) -> None:
        self.problem = problem = as_problem(problem)
        self.method = as_method(method)
        arms = list(arms)
        self.arms = labels_of(arms)
        names = check_arms(self.arms)
        # With a budget of 0, the answer is what was known before.
        self.budget = check_budget(budget, 0)
        self.spec = self.method.spec(problem, len(self.arms))
        self.rng = rng
        # An arm is found by its name and by the given value: 7 as "7", "yew" as "yew ".
        forms = (names, arms, self.arms)
        self._index = {key: i for keys in forms for i, key in enumerate(keys)}
        given = given or PriorFacts()
        costs = given.cost_array(self._index)
        self.state = start_state(problem, self.method, len(self.arms), rng, costs)
        self._known = given.apply(problem, self.method, self.state, self._index)
        self._earlier = np.where(self.state.costs < math.inf, self.state.pulls, 0)
        if given.prior or given.known:
            # Prior knowledge may decide some arms, or all of them.
            engine.refresh(self.spec, self.state)
        self._is_stuck = False
        self._planned: deque[Any] = deque()
        self._owed: Counter[Any] = Counter()

    @overload
    def ask(self, n: None = None) -> Any: ...

    @overload
    def ask(self, n: int) -> list[Any]: ...

    def ask(self, n: int | None = None) -> Any:
        """The arm to pull next; with `n`, a list of at most `n` pulls.

        Args:
            n: The largest number of pulls; an arm may occur several times. By default, one arm
                instead of a list.

        Returns:
            An arm, or None if the run has ended, or if all pulls of the round are handed out and
            some rewards are missing: the method plans the next round from them. With `n` a list,
            which may be empty.

        Raises:
            ProblemError: `n` is below 1.

        Example:
            >>> run.ask(), run.ask(5)
            ('a', ['b', 'c'])
            >>> print(run.ask())
            None
        """
        try:
            count = 1 if n is None else operator.index(n)
        except TypeError:
            count = 0
        if count < 1:
            raise ProblemError(f"ask for a whole number of at least 1 pull, not {n}")
        if not self._planned and not self._owed:
            for arm, amount in self.choose():
                self._planned.extend([arm] * amount)
        found = [self._planned.popleft() for _ in range(min(count, len(self._planned)))]
        self._owed.update(found)
        if n is not None:
            return found
        return found[0] if found else None

    def tell(self, arm: Any, reward: float) -> None:
        """Count one reward of an arm, whether it was asked for or not.

        When every pull that `ask` handed out in a round has its reward, intervals and verdicts are
        updated; otherwise call `update`.

        Args:
            arm: The arm.
            reward: The reward, in the rewards' unit.

        Raises:
            ProblemError: The arm is not part of this run; nothing is counted.
            RewardError: The noise cannot produce this number; nothing is counted.

        Example:
            >>> run.tell("a", 1)
            >>> run.pulls
            1
        """
        index = self._index.get(arm)
        if index is None:
            raise ProblemError(f"no arm {arm!r} in this run")
        arm = self.arms[index]
        engine.observe(self.spec, self.state, index, self.problem.noise.check_reward(reward))
        if self._owed[arm]:
            self._owed[arm] -= 1
            if not self._owed[arm]:
                del self._owed[arm]
            if not self._owed and not self._planned:
                self.update()

    def choose(self) -> list[tuple[Any, int]]:
        """The whole next round, for callers who measure a round at once.

        Tell all of its rewards, then call `update`. `ask` does the same pull by pull; use one or
        the other.

        Returns:
            Pairs of an arm and its number of pulls; empty at the end.
        """
        if self.reason is not StopReason.RUNNING:
            return []
        room = NO_LIMIT if self.budget is None else self.budget - self.pulls
        count = engine.begin_round(self.spec, self.state, room, self.rng)
        self._is_stuck = count == 0
        return [(self.arms[self.state.chosen[j]], int(self.state.amount[j])) for j in range(count)]

    def update(self) -> None:
        """End the round: update intervals, threshold and verdicts."""
        engine.end_round(self.spec, self.state)

    @property
    def pulls(self) -> int:
        """The number of rewards that count."""
        return int(self.state.counters[PULLS])

    @property
    def is_decided(self) -> bool:
        """Whether every arm is decided."""
        return bool(self.state.counters[UNDECIDED] == 0)

    @property
    def reason(self) -> StopReason:
        """Why the run has ended, or `running`."""
        if self.is_decided:
            return StopReason.DECIDED
        if self.budget is not None and self.pulls >= self.budget:
            return StopReason.BUDGET
        return StopReason.STUCK if self._is_stuck else StopReason.RUNNING

    def identification(self, reason: StopReason | None = None) -> Identification:
        """The answer as of the last complete round, or of the last `update`.

        Args:
            reason: Why the run ended, if the run itself cannot know it (`StopReason.INTERRUPTED`).

        Returns:
            The answer.

        Example:
            >>> run.identification().undecided
            ('a', 'b', 'c')
        """
        guess = np.zeros(len(self.arms), dtype=np.bool_)
        engine.best_guess(self.spec, self.state, guess)
        found = identification(
            self.state,
            self.arms,
            guess,
            reason or self.reason,
            known=self._known,
            earlier=self._earlier,
            note=self.doubt(),
        )
        return replace(found, problem=self.problem.question())

    def doubt(self) -> str | None:
        """Why this run may never end without a tolerance or a budget.

        Returns:
            A sentence, or None.
        """
        return doubt(self.spec, self.state, self.arms)


def check_budget(budget: int | None, least: int = 1) -> int | None:
    """A budget as a whole number of at least `least` pulls."""
    if budget is None:
        return None
    if not math.isfinite(budget) or budget != int(budget) or budget < least:
        pulls = "1 pull" if least == 1 else f"{least} pulls"
        raise ProblemError(f"budget must be a whole number of at least {pulls}, not {budget}")
    return int(budget)
