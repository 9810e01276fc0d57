"""The course of a run: intervals, threshold and undecided arms over the pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.analysis.analyse import check_rewards
from standout.analysis.columns import Layout
from standout.analysis.tables import Rewards, read_table
from standout.core.identification import arm_ends, side_interval
from standout.core.many_rewards import observe_many
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD, as_method
from standout.core.problem import Problem, ProblemLike, Side, as_problem
from standout.core.run import Run
from standout.core.state import UNDECIDED, means_of
from standout.core.typing import Floats, Ints
from standout.errors import ProblemError
from standout.study_interface import StudyInterface

MOMENTS = 200
"""The smallest number of moments kept; the largest is twice this."""
CELLS = 2**24
"""The largest number of values kept for all arms together."""


@dataclass(frozen=True, eq=False)
class Course:
    """A run at some moments, in the order of its pulls.

    Attributes:
        arms: The arms.
        problem: What is asked.
        pulls: Pulls of all arms together, one entry per moment.
        undecided: The number of undecided arms at each moment.
        lower: The threshold's lower end; one column per side, the high side first.
        upper: The threshold's upper end, likewise.
        arm_pulls: Pulls of each arm: one row per moment, one column per arm.
        mean: The mean of each arm's rewards, likewise; NaN without rewards.
        arm_lower: The lower end of each arm's interval, likewise.
        arm_upper: The upper end of each arm's interval, likewise.

    Example:
        >>> course = course_of({"ash": [0, 1], "elm": [1, 0], "yew": [1, 1]}, "bernoulli")
        >>> course.arms, int(course.pulls[-1])
        (('ash', 'elm', 'yew'), 6)
    """

    arms: tuple[Any, ...]
    problem: Problem
    pulls: Ints
    undecided: Ints
    lower: Floats
    upper: Floats
    arm_pulls: Ints
    mean: Floats
    arm_lower: Floats
    arm_upper: Floats

    def __len__(self) -> int:
        return len(self.pulls)

    def place(self, arm: Any) -> int:
        """The column of an arm.

        Args:
            arm: The arm.

        Returns:
            Its position in `arms`.

        Raises:
            ProblemError: There is no such arm.
        """
        for place, each in enumerate(self.arms):
            if each == arm or str(each) == str(arm):
                return place
        raise ProblemError(f"no arm {arm!r} here")


@dataclass(frozen=True, eq=False)
class _Moment:
    pulls: int
    undecided: int
    lower: list[float]
    upper: list[float]
    arm_pulls: Ints
    mean: Floats
    arm_lower: Floats
    arm_upper: Floats


class Recorder:
    """Keeps the course of a run: pass it to `identify` as `progress`, then to a plot.

    Each kept moment has at least 1 % more pulls than the one before; at most 400 moments are kept.

    Example:
        >>> recorder = Recorder()
        >>> rng = np.random.default_rng(1)
        >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "yew": 5.0}
        >>> found = identify(
        ...     lambda arm: rng.normal(means[arm], 0.1), means, "gaussian:0.1", progress=recorder
        ... )
        >>> recorder.course().undecided.tolist()[-1]
        0
    """

    def __init__(self) -> None:
        self._run: Run | None = None
        self._moments: list[_Moment] = []
        self._next = 0.0

    def __call__(self, run: Run) -> None:
        """Keep the present moment of a run, unless it is too near to the last one."""
        if self._run is not run:
            self._run, self._moments, self._next = run, [], 0.0
        if run.pulls >= self._next or not run.state.counters[UNDECIDED]:
            self._keep(run)

    def _keep(self, run: Run) -> None:
        state = run.state
        bands = [side_interval(state, side) for side in range(len(state.signs))]
        lower, upper = arm_ends(state)
        mean = np.where(state.pulls > 0, means_of(state), np.nan)
        self._moments.append(
            _Moment(
                run.pulls, int(state.counters[UNDECIDED]),
                [band.lower for band in bands], [band.upper for band in bands],
                state.pulls.copy(), mean, lower, upper,
            )
        )  # fmt: skip
        most = max(2, min(2 * MOMENTS, CELLS // (4 * len(run.arms))))
        if len(self._moments) > most:
            self._moments = self._moments[::2]
        self._next = run.pulls * (1 + 2 / most)

    def course(self) -> Course:
        """The recorded course.

        Returns:
            The course so far.

        Raises:
            ProblemError: No round was recorded yet.
        """
        if self._run is None:
            raise ProblemError("nothing was recorded: give the recorder to identify as progress=")
        if self._run.pulls > self._moments[-1].pulls:
            self._keep(
                self._run
            )  # The last moment is always kept, even if it is near the one before.
        moments = self._moments
        columns = {
            name: np.array([getattr(moment, name) for moment in moments])
            for name in _Moment.__dataclass_fields__
        }
        return Course(arms=self._run.arms, problem=self._run.problem, **columns)


def course_of(
    source: Any,
    problem: ProblemLike | None = None,
    method: str | Method = DEFAULT_METHOD,
    *,
    arm: str | None = None,
    value: str | None = None,
) -> Course:
    """The course of a recorded run, of a study, or of a table of past rewards.

    Args:
        source: A `Recorder` or a `Course`; a `Study`; or a table as for `analyse`, with one row
            per reward, in the order of measurement.
        problem: What is asked, for a table.
        method: The method whose intervals are computed, for a table.
        arm: The table's column of arms.
        value: The table's column of rewards.

    Returns:
        The course. The rewards of a study or a table are replayed in 200 blocks.

    Raises:
        ProblemError: The source has no course, or a table comes without a problem.

    Example:
        >>> course_of({"ash": [0, 1], "elm": [1, 0], "yew": [1, 1]}, "bernoulli").undecided[-1]
        np.int64(3)
    """
    if isinstance(source, Course):
        return source
    if isinstance(source, Recorder):
        return source.course()
    if isinstance(source, StudyInterface):
        if not hasattr(source, "history"):
            raise ProblemError("a course needs the study's log: open the study where it is kept")
        study: Any = source
        return _played_again(rewards_of(study), study.problem, study.method)
    if problem is None:
        raise ProblemError(
            "an answer does not keep its history: pass progress=Recorder() to identify and "
            "plot the recorder, or plot a study, or a table with its problem"
        )
    return _played_again(rewards_of(source, arm, value), as_problem(problem), as_method(method))


def rewards_of(source: Any, arm: str | None = None, value: str | None = None) -> Rewards:
    """Every reward of a study or a table, in order."""
    if isinstance(source, StudyInterface):
        if not hasattr(source, "history"):
            raise ProblemError("rewards are in the study's log: open the study where it is kept")
        columns = source.history().columns
        log = read_table(
            {name: columns[name] for name in ("seq", "arm", "reward", "status", "turn")}
        )
        assert isinstance(log, Rewards)
        index = {name: place for place, name in enumerate(source.arms)}  # type: ignore[attr-defined]
        places = np.array([index[str(name)] for name in log.arms], dtype=np.int64)
        return Rewards(tuple(index), places[log.codes] if len(places) else log.codes, log.values)
    found = read_table(source, Layout(arm=arm, value=value))
    if not isinstance(found, Rewards):
        raise ProblemError("a plot of rewards needs a table with one row per reward")
    return found


def _played_again(rewards: Rewards, problem: Problem, method: Method) -> Course:
    check_rewards(problem.noise, rewards)
    run = Run(problem, rewards.arms, method, np.random.default_rng(0))
    recorder = Recorder()
    for block in np.array_split(np.arange(rewards.total), min(MOMENTS, rewards.total) or 1):
        observe_many(run.spec, run.state, rewards.codes[block], rewards.values[block])
        run.update()
        recorder(run)
    return recorder.course()


def side_names(problem: Problem) -> tuple[str, ...]:
    """The names of a problem's thresholds."""
    if problem.side is Side.BOTH:
        return ("high threshold", "low threshold")
    return ("threshold",)
