"""The data of each plot, as plain arrays.

Each function takes the same source as the plot of the same name in `standout.plot`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout.core.kinds import Verdict
from standout.core.problem import ProblemLike
from standout.core.typing import Codes, Flags, Floats, Ints
from standout.errors import ProblemError
from standout.pictures.answers import picture_of
from standout.pictures.arms import LeftOut, Picture, lines
from standout.plot.course import Course, course_of, rewards_of
from standout.results import Chances, Identification

MOST = 30
"""The default number of arms with a line and a name of their own."""


def answer_of(source: Any) -> Identification:
    """The `Identification` of a run, a study, an analysis or a status."""
    for name in ("found", "identification"):
        inner = getattr(source, name, None)
        if inner is not None:
            source = inner() if callable(inner) else inner
    if not isinstance(source, Identification):
        raise ProblemError(
            "a plot of arms needs an answer: an Identification, an Analysis, a Run or a Study, "
            f"not a {type(source).__name__}"
        )
    return source


@dataclass(frozen=True, eq=False)
class ArmLines:
    """Arms from the side of the outliers, each on a line of its own.

    `rows` are positions in `picture`; a `LeftOut` stands for the arms between two of them.
    """

    picture: Picture
    rows: list[int | LeftOut]


def arms(source: Any, most: int = MOST) -> ArmLines:
    """The top arms and those near the threshold, at most `most` lines."""
    if most < 3:
        raise ProblemError(f"most must be at least 3 lines, not {most}")
    picture = picture_of(answer_of(source))
    if picture is None:
        raise ProblemError("there is nothing to draw: no arm has a reward")
    return ArmLines(picture, lines(picture, most))


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of some arms over the pulls of all, one row per moment."""

    course: Course
    places: Ints

    @property
    def names(self) -> list[str]:
        """The arms' names."""
        return [str(self.course.arms[place]) for place in self.places]


def intervals(
    source: Any,
    arms: Sequence[Any] | None = None,
    *,
    problem: ProblemLike | None = None,
    most: int = 3,
) -> Intervals:
    """The intervals of `arms`, or of the arms that end highest or nearest to the threshold."""
    course = course_of(source, problem)
    if arms is not None:
        chosen = [arms] if isinstance(arms, str) or not isinstance(arms, Sequence) else arms
        return Intervals(course, np.array([course.place(arm) for arm in chosen], dtype=np.int64))
    last = course.mean[-1]
    edges = (course.lower[-1] + course.upper[-1]) / 2
    edges = edges[np.isfinite(edges)]
    near = np.abs(last[:, None] - edges).min(axis=1) if len(edges) else -last
    order = np.argsort(np.where(np.isnan(last), math.inf, near), kind="stable")[:most]
    return Intervals(course, order[np.argsort(-last[order], kind="stable")])


@dataclass(frozen=True, eq=False)
class Undecided:
    """The number of undecided arms over the pulls."""

    pulls: Ints
    undecided: Ints
    n_arms: int


def undecided(source: Any, *, problem: ProblemLike | None = None) -> Undecided:
    """The undecided arms over the pulls of a run, a study or a table."""
    course = course_of(source, problem)
    return Undecided(
        np.concatenate([[0], course.pulls]),
        np.concatenate([[len(course.arms)], course.undecided]),
        len(course.arms),
    )


@dataclass(frozen=True, eq=False)
class Pulls:
    """The pulls of each arm, the most pulled first."""

    names: list[str]
    pulls: Ints
    verdict: Codes


def pulls(source: Any) -> Pulls:
    """The pulls of each arm with its verdict."""
    found = answer_of(source)
    counts = np.asarray(found.pulls_by_arm)
    if not len(counts):
        raise ProblemError("this answer has no pulls per arm")
    kinds = dict.fromkeys(found.outliers, Verdict.OUTLIER)
    kinds.update(dict.fromkeys(found.undecided, Verdict.UNDECIDED))
    verdict = np.array([kinds.get(arm, Verdict.NORMAL) for arm in found.arms], dtype=np.int8)
    order = np.argsort(-counts, kind="stable")
    return Pulls([str(found.arms[i]) for i in order], counts[order], verdict[order])


@dataclass(frozen=True, eq=False)
class ArmChances:
    """The chance of each arm that it stands out, the highest first."""

    names: list[str]
    chance: Floats
    flagged: Flags
    false_share: float


def chances(source: Any, most: int = MOST) -> ArmChances:
    """The `most` highest chances of a study, of `Chances`, or of an answer with chances."""
    found = source if isinstance(source, Chances) else _chances_of(source)
    order = np.argsort(-found.chance, kind="stable")[:most]
    flagged = set(found.flagged)
    return ArmChances(
        [str(found.arms[i]) for i in order],
        found.chance[order],
        np.array([found.arms[i] in flagged for i in order], dtype=np.bool_),
        found.false_share,
    )


def _chances_of(source: Any) -> Chances:
    ask = getattr(source, "chances", None)
    found = ask() if callable(ask) else answer_of(source).chances
    if found is None:
        raise ProblemError(
            "this answer has no chances: every arm is decided, or there are too many arms"
        )
    return found


@dataclass(frozen=True, eq=False)
class ArmRewards:
    """The rewards of one arm in order, and their running mean."""

    name: str
    rewards: Floats
    mean: Floats


def rewards(
    source: Any, arm: Any, *, arm_column: str | None = None, value: str | None = None
) -> ArmRewards:
    """The rewards of one arm of a study or of a table."""
    found = rewards_of(source, arm_column, value)
    places = [i for i, each in enumerate(found.arms) if each == arm or str(each) == str(arm)]
    own = found.values[found.codes == places[0]] if places else np.zeros(0)
    if not len(own):
        raise ProblemError(f"there is no arm {arm!r}, or it has no reward")
    return ArmRewards(str(arm), own, np.cumsum(own) / np.arange(1, len(own) + 1))
