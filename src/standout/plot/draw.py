"""The drawings: data onto matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from standout.core.kinds import Verdict
from standout.core.problem import ProblemLike
from standout.extras import require
from standout.pictures.arms import LeftOut
from standout.pictures.marks import LIKELY, MARKS, THRESHOLD, Mark
from standout.plot import data
from standout.plot.course import side_names
from standout.text import plural, printable

SHAPES = {"outlier": "^", "undecided": "s", "normal": "o"}
BAND = {"color": THRESHOLD.line.light, "alpha": 0.22, "lw": 0}
LIKELY_BAND = {"fc": "none", "ec": THRESHOLD.line.light, "hatch": "////", "lw": 0.8, "ls": ":"}
NAME = 30
"""The largest number of characters of an arm's name."""
MOST_BARS = 40


def _axes(ax: Any, height: float, width: float = 7.5) -> Any:
    """The given axes, or new axes of this size in inches."""
    require("plot", "a plot")
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _shown(name: str) -> str:
    """An arm's name as a label: short, and without a dollar that would begin a formula."""
    return printable(name, NAME).replace("$", r"\$")


def _mean_label(source: Any) -> str:
    """The label of the axis of means: a study may say what its rewards are."""
    what = getattr(source, "axis", None)
    return f"{what}: mean, with its interval" if what else "mean, with its interval"


def _finish(ax: Any, columns: int = 4) -> Any:
    """The axes without a frame, with a legend above them."""
    if columns and len(ax.get_legend_handles_labels()[0]):
        ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize="small",
            frameon=False, borderaxespad=0.2,
        )  # fmt: skip
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _look(mark: Mark) -> dict[str, Any]:
    colour = mark.colour.light
    return {
        "marker": SHAPES[mark.name], "color": colour, "ls": "", "ms": 5,
        "mfc": "none" if mark.is_open else colour,
    }  # fmt: skip


def arms(source: Any, *, most: int = data.MOST, ax: Any = None) -> Any:
    """Draw arms with their intervals against the threshold.

    The top arms and those near the threshold have a line with their name. Lines between them stand
    for the other arms, drawn as small ticks.

    Args:
        source: An answer: an `Identification`, an `Analysis`, a `Run` or a `Study`.
        most: The largest number of lines; 30 by default.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: No arm has a reward.

    Example:
        >>> arms(found).get_xlabel()
        'mean, with its interval'
    """
    shown = data.arms(source, most)
    picture, rows = shown.picture, shown.rows
    ax = _axes(ax, 1.3 + 0.21 * len(rows))
    for band, name in zip(picture.bands, _band_names(len(picture.bands)), strict=True):
        ends = np.clip([band.lower, band.upper], picture.low, picture.high)
        ax.axvspan(*ends, **BAND, label=name)
    for number, band in enumerate(picture.likely):
        ends = np.clip([band.lower, band.upper], picture.low, picture.high)
        ax.axvspan(*ends, **LIKELY_BAND, label=LIKELY.name if number == 0 else None)
    named = [(place, row) for place, row in enumerate(rows) if isinstance(row, int)]
    for verdict, mark in MARKS.items():
        own = [(place, arm) for place, arm in named if picture.kind(arm) is verdict]
        if not own:
            continue
        places, chosen = [list(each) for each in zip(*own, strict=True)]
        ends = np.clip([picture.lower[chosen], picture.upper[chosen]], picture.low, picture.high)
        ax.hlines(places, *ends, color=mark.colour.light, lw=1.5)
        ax.plot(picture.estimate[chosen], places, label=mark.name, **_look(mark))
    for place, row in enumerate(rows):
        if isinstance(row, LeftOut):
            colours = [MARKS[picture.kind(int(arm))].colour.light for arm in row.arms]
            ax.scatter(
                picture.estimate[row.arms], np.full(len(row.arms), place),
                marker="|", s=40, c=colours, alpha=0.5, lw=1,
            )  # fmt: skip
    ax.set_yticks(range(len(rows)), [_row_name(shown, row) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(picture.low, picture.high)
    ax.set_xlabel(_mean_label(source))
    ax.tick_params(axis="y", length=0)
    return _finish(ax)


def _band_names(count: int) -> list[str]:
    return ["threshold"][:count] if count < 2 else ["high threshold", "low threshold"]


def _row_name(shown: data.ArmLines, row: int | LeftOut) -> str:
    if isinstance(row, int):
        return _shown(shown.picture.names[row])
    kinds = set(shown.picture.verdict[row.arms].tolist())
    word = f"more {MARKS[Verdict(kinds.pop())].name} arm" if len(kinds) == 1 else "more arm"
    return plural(len(row.arms), word)


def intervals(
    source: Any,
    arms: Sequence[Any] | None = None,
    *,
    problem: ProblemLike | None = None,
    most: int = 3,
    ax: Any = None,
) -> Any:
    """Draw how intervals narrow over the pulls, with the threshold's band.

    Args:
        source: A `Recorder`, a `Study`, a `Course`, or a table with one row per reward.
        arms: The arms to draw; by default the `most` arms nearest to the threshold at the end.
        problem: What is asked, for a table.
        most: The number of arms if none are named; 3 by default.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: The source has no course, or there is no such arm.

    Example:
        >>> intervals(study, ["fir"]).get_xlabel()
        'pulls of all arms'
    """
    shown = data.intervals(source, arms, problem=problem, most=most)
    course, places = shown.course, shown.places
    ax = _axes(ax, 4.0)
    low, high = _value_limits(shown)
    x = course.pulls
    for side, name in enumerate(side_names(course.problem)):
        ends = np.clip([course.lower[:, side], course.upper[:, side]], low, high)
        ax.fill_between(x, *ends, step="post", label=name, **BAND)
    for number, (place, arm) in enumerate(zip(places, shown.names, strict=True)):
        colour = f"C{number % 10}"
        ends = np.clip([course.arm_lower[:, place], course.arm_upper[:, place]], low, high)
        ax.fill_between(x, *ends, step="post", color=colour, alpha=0.18, lw=0)
        ax.plot(
            x, np.clip(course.mean[:, place], low, high),
            drawstyle="steps-post", color=colour, lw=1.5, label=_shown(arm),
        )  # fmt: skip
    if x[-1] > 50 * x[0]:
        ax.set_xscale("log")
    ax.set_ylim(low, high)
    ax.set_xlabel("pulls of all arms")
    ax.set_ylabel(_mean_label(source))
    return _finish(ax)


def _value_limits(shown: data.Intervals) -> tuple[float, float]:
    """The range of the last third of the course, with a margin; wider intervals are cut off."""
    course, late = shown.course, 2 * len(shown.course) // 3
    own = [each[late:, shown.places] for each in (course.arm_lower, course.arm_upper, course.mean)]
    ends = np.concatenate(
        [each.ravel() for each in (*own, course.lower[late:], course.upper[late:])]
    )
    ends = ends[np.isfinite(ends)]
    if not len(ends):
        return 0.0, 1.0
    low, high = float(ends.min()), float(ends.max())
    room = 0.08 * (high - low) or 0.5
    return low - room, high + room


def undecided(source: Any, *, problem: ProblemLike | None = None, ax: Any = None) -> Any:
    """Draw the number of undecided arms over the pulls.

    Args:
        source: A `Recorder`, a `Study`, a `Course`, or a table with one row per reward.
        problem: What is asked, for a table.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: The source has no course.

    Example:
        >>> undecided(study).get_ylabel()
        'undecided arms'
    """
    shown = data.undecided(source, problem=problem)
    ax = _axes(ax, 3.2)
    colour = MARKS[Verdict.UNDECIDED].colour.light
    ax.step(shown.pulls, shown.undecided, where="post", color=colour, lw=1.5)
    ax.fill_between(shown.pulls, shown.undecided, step="post", color=colour, alpha=0.1, lw=0)
    ax.plot(shown.pulls[-1:], shown.undecided[-1:], "o", color=colour, ms=5)
    ax.set_ylim(0, 1.05 * shown.n_arms)
    ax.set_xlim(left=0)
    ax.set_xlabel("pulls of all arms")
    ax.set_ylabel("undecided arms")
    return _finish(ax)


def pulls(source: Any, *, ax: Any = None) -> Any:
    """Draw the pulls of each arm, the most pulled first.

    Up to 40 arms have a bar and a name each. More are drawn as a curve, with the first names.

    Args:
        source: An answer: an `Identification`, an `Analysis`, a `Run` or a `Study`.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: The answer has no pulls per arm.

    Example:
        >>> pulls(found).get_ylabel()
        'pulls'
    """
    shown = data.pulls(source)
    ax = _axes(ax, 3.6)
    x = np.arange(len(shown.names))
    for verdict, mark in MARKS.items():
        own = shown.verdict == verdict
        if own.any():
            width = 0.8 if len(x) <= MOST_BARS else 1.0
            ax.bar(x[own], shown.pulls[own], width, color=mark.colour.light, label=mark.name)
    names = [_shown(name) for name in shown.names]
    if len(x) <= MOST_BARS:
        ax.set_xticks(x, names, rotation=90, fontsize="small")
    else:
        ax.set_xlabel(f"{len(x):,} arms, the most pulled first: {', '.join(names[:3])}, …")
    ax.set_xlim(-0.6, len(x) - 0.4)
    ax.set_ylabel("pulls")
    return _finish(ax)


def chances(source: Any, *, most: int = data.MOST, ax: Any = None) -> Any:
    """Draw the chance of each arm that it stands out: an estimate, not a certificate.

    Args:
        source: `Chances`, a `Study`, or an answer with undecided arms.
        most: The largest number of arms, those with the highest chances; 30 by default.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: The answer has no chances.

    Example:
        >>> chances(study).get_xlabel()
        'chance of standing out (an estimate)'
    """
    shown = data.chances(source, most)
    ax = _axes(ax, 1.2 + 0.2 * len(shown.names))
    y = np.arange(len(shown.names))
    outlier, normal = (MARKS[each].colour.light for each in (Verdict.OUTLIER, Verdict.NORMAL))
    labels = (f"flagged: at most {shown.false_share:.0%} expected to be wrong", "not flagged")
    for own, colour, label in zip(
        (shown.flagged, ~shown.flagged), (outlier, normal), labels, strict=True
    ):
        if own.any():
            ax.hlines(y[own], 0, shown.chance[own], color=colour, lw=1.5)
            ax.plot(shown.chance[own], y[own], "o", color=colour, ms=5, clip_on=False, label=label)
    ax.axvline(0.5, color="0.7", lw=0.8, ls=(0, (3, 3)), zorder=0)
    ax.set_yticks(y, [_shown(name) for name in shown.names])
    ax.set_ylim(len(y) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.set_xlabel("chance of standing out (an estimate)")
    ax.tick_params(axis="y", length=0)
    return _finish(ax)


def rewards(
    source: Any,
    arm: Any,
    *,
    arm_column: str | None = None,
    value: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the rewards of one arm in order, with their running mean.

    Args:
        source: A `Study`, or a table with one row per reward.
        arm: The arm.
        arm_column: The table's column of arms; `arm` or `name` by default.
        value: The table's column of rewards; `value` or `reward` by default.
        ax: Axes to draw on; new axes by default.

    Returns:
        The axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ProblemError: There is no such arm, or it has no reward.

    Example:
        >>> rewards({"fir": [0, 1, 1]}, "fir").get_ylabel()
        'reward of fir'
    """
    shown = data.rewards(source, arm, arm_column=arm_column, value=value)
    ax = _axes(ax, 3.2)
    x = np.arange(1, len(shown.rewards) + 1)
    normal, outlier = MARKS[Verdict.NORMAL].colour.light, MARKS[Verdict.OUTLIER].colour.light
    size = 4 if len(x) <= 2000 else 1.5
    ax.plot(x, shown.rewards, "o", color=normal, ms=size, mew=0, alpha=0.5, label="reward")
    ax.plot(x, shown.mean, color=outlier, lw=1.5, label="mean so far")
    ax.set_xlabel("pulls of the arm")
    what = getattr(source, "axis", None) or "reward"
    ax.set_ylabel(f"{what} of {_shown(shown.name)}")
    return _finish(ax)
