"""The picture of arms as data: range, order, thresholds, and which arms are left out.

The terminal, the report and the pages draw the same picture. They only turn values into
characters, paths or pixels. A page gets its range and ticks from the service
(`StudyView.scale`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core.kinds import Verdict
from standout.core.problem import Problem, Side
from standout.core.typing import Codes, Flags, Floats, Ints
from standout.pictures.marks import LIKELY, word
from standout.pictures.scale import value_range
from standout.results import Chances, Identification, Interval, StudyView, Threshold
from standout.text import Digits, count, plural, printable

MOST_SINGLE = 400
"""The largest number of arms drawn one by one, side by side."""


@dataclass(frozen=True, eq=False)
class Picture:
    """Arms with one array entry each, and the range of values that is shown.

    `estimate` is NaN for an arm without rewards; ends that are not known are infinite. `guess`
    marks the arms that are called outliers now, certain or not. `bands` are the thresholds'
    intervals that are known at one end at least; `likely` are the estimated ones, while some arm
    is undecided.
    """

    names: Sequence[str]
    estimate: Floats
    lower: Floats
    upper: Floats
    pulls: Ints
    verdict: Codes
    guess: Flags
    bands: tuple[Interval, ...]
    median: float
    side: Side
    low: float
    high: float
    axis: str | None = None
    """What a reward is, with its unit."""
    likely: tuple[Threshold, ...] = ()

    def estimates(self) -> list[float]:
        """The estimated thresholds that lie within the picture."""
        found = [band.estimate for band in self.bands if isinstance(band, Threshold)]
        return [value for value in found if self.low <= value <= self.high]

    def kind(self, arm: int) -> Verdict:
        """The verdict on an arm."""
        return Verdict(int(self.verdict[arm]))

    def is_low(self, arm: int) -> bool:
        """Whether an arm stands out on the low side."""
        if self.side is Side.BOTH:
            return bool(self.estimate[arm] < self.median)
        return self.side is Side.LOW

    def word(self, arm: int) -> str:
        """The verdict on an arm: `outlier`, or `low outlier` where both sides are asked."""
        return word(self.kind(arm), self.is_low(arm), self.side is Side.BOTH)

    @cached_property
    def order(self) -> Ints:
        """The arms sorted from the side of the outliers: the largest first, or the smallest if low.

        Equal arms keep their order; arms without an estimate come last.
        """
        sign = 1.0 if self.side is Side.LOW else -1.0
        key = np.where(np.isnan(self.estimate), np.inf, sign * self.estimate)
        return np.argsort(key, kind="stable")

    @cached_property
    def measured(self) -> Ints:
        """Arms with an estimate, from the smallest to the largest."""
        known = np.flatnonzero(~np.isnan(self.estimate))
        return known[np.argsort(self.estimate[known], kind="stable")]

    @property
    def is_crowded(self) -> bool:
        """Whether there are too many arms to draw them one by one."""
        return len(self.measured) > MOST_SINGLE


def picture_of_view(
    seen: StudyView, guess: Sequence[str] = (), chances: Chances | None = None
) -> Picture:
    """The picture of a study at one moment; `guess` names its likely outliers."""
    guessed = set(guess)
    return _picture(
        seen.names, seen.estimate, seen.lower, seen.upper, seen.pulls, seen.verdict,
        np.fromiter((name in guessed for name in seen.names), np.bool_, len(seen.names)),
        seen.thresholds, seen.median, seen.problem, seen.axis, chances,
    )  # fmt: skip


def picture_of_answer(found: Identification, problem: Problem) -> Picture:
    """The picture of an answer to `problem`."""
    kinds = dict.fromkeys(found.outliers, Verdict.OUTLIER)
    kinds.update(dict.fromkeys(found.undecided, Verdict.UNDECIDED))
    verdict = np.array([kinds.get(name, Verdict.NORMAL) for name in found.arms], dtype=np.int8)
    guessed = set(found.best_guess)
    known = found.means[np.isfinite(found.means)]
    return _picture(
        [str(arm) for arm in found.arms],
        found.means, found.lower, found.upper, found.pulls_by_arm, verdict,
        np.array([name in guessed for name in found.arms], dtype=np.bool_),
        found.thresholds,
        float(np.median(known)) if len(known) else math.nan, problem, chances=found.chances,
    )  # fmt: skip


def _picture(
    names: Sequence[str],
    estimate: Floats,
    lower: Floats,
    upper: Floats,
    pulls: Ints,
    verdict: Codes,
    guess: Flags,
    thresholds: Sequence[Interval],
    median: float,
    problem: Problem,
    axis: str | None = None,
    chances: Chances | None = None,
) -> Picture:
    bands = tuple(
        band for band in thresholds if math.isfinite(band.lower) or math.isfinite(band.upper)
    )
    likely = _likely(chances) if (verdict == Verdict.UNDECIDED).any() else ()
    low, high = value_range(estimate, lower, upper, (*bands, *likely), problem.noise.support)
    return Picture(
        names, estimate, lower, upper, pulls, verdict, guess, bands, median, problem.side,
        low, high, axis, likely,
    )  # fmt: skip


def _likely(chances: Chances | None) -> tuple[Threshold, ...]:
    """The estimated thresholds of each side that have finite ends."""
    if chances is None:
        return ()
    both = (chances.likely_threshold, chances.likely_threshold_low)
    return tuple(one for one in both if one is not None and math.isfinite(one.lower + one.upper))


@dataclass(frozen=True)
class LeftOut:
    """Neighbouring arms without a line of their own."""

    arms: Ints


def lines(picture: Picture, most: int) -> list[int | LeftOut]:
    """The lines of a list of at most `most` lines, in order: arms, and gaps for those left out.

    Outliers come first, then undecided arms (likely outliers before others), then the arms nearest
    to the threshold.
    """
    order, n_arms = picture.order, len(picture.order)
    if n_arms <= most:
        return [int(arm) for arm in order]
    rank = _by_interest(picture)
    for kept in range(min(most, n_arms), -1, -1):
        shown = np.zeros(n_arms, dtype=np.bool_)
        shown[rank[:kept]] = True
        here = shown[order]
        gaps = np.count_nonzero(~here & np.append(True, here[:-1]))
        if kept + gaps <= max(1, most):
            break
    found: list[int | LeftOut] = []
    for run in np.split(order, np.flatnonzero(here | np.append(False, here[:-1]))):
        if len(run) and shown[run[0]]:
            found.append(int(run[0]))
        elif len(run):
            found.append(LeftOut(run))
    return found


def _by_interest(picture: Picture) -> Ints:
    places = [band.lower / 2 + band.upper / 2 for band in picture.bands]
    places = [place for place in places if math.isfinite(place)] or [0.0]
    distance = np.min([np.abs(picture.estimate - place) for place in places], axis=0)
    distance = np.where(np.isnan(distance), np.inf, distance)
    rank = np.array([2, 3, 0])[picture.verdict.astype(np.int64)]
    rank[(picture.verdict == Verdict.UNDECIDED) & picture.guess] = 1
    return np.lexsort((distance, rank))


def singled_out(picture: Picture) -> Flags:
    """Which of `measured` are drawn one by one: all if they are few, else those that matter.

    These are outliers and undecided arms; of too many undecided arms, the likely outliers; of too
    many outliers, an evenly spaced subset.
    """
    order = picture.measured
    if not picture.is_crowded:
        return np.ones(len(order), dtype=np.bool_)
    verdict = picture.verdict[order]
    single: Flags = verdict == Verdict.OUTLIER
    found = np.flatnonzero(single)
    if len(found) > MOST_SINGLE:
        # Evenly spaced, so that the picture keeps its shape.
        single[:] = False
        single[found[np.linspace(0, len(found) - 1, MOST_SINGLE).round().astype(np.int64)]] = True
        return single
    undecided: Flags = verdict == Verdict.UNDECIDED
    for more in (undecided, undecided & picture.guess[order]):
        if len(found) + np.count_nonzero(more) <= MOST_SINGLE:
            return single | more
    return single


def describe(picture: Picture, digits: Digits) -> str:
    """A text alternative for the picture."""
    undecided, normal, outliers = np.bincount(picture.verdict, minlength=3).tolist()
    words = [
        f"{plural(len(picture.names), 'arm')} sorted by estimate, each with its interval: "
        f"{plural(outliers, 'outlier')}, {count(normal)} normal, {count(undecided)} undecided."
    ]
    titles = ("High threshold", "Low threshold") if len(picture.bands) > 1 else ("Threshold",)
    words += [
        f"{title} between {digits(band.lower)} and {digits(band.upper)}."
        for title, band in zip(titles, picture.bands, strict=False)
    ]
    words += [
        f"{LIKELY.name.capitalize()} between {digits(band.lower)} and {digits(band.upper)}."
        for band in picture.likely
    ]
    return " ".join(words)


def arm_words(picture: Picture, arm: int, digits: Digits) -> str:
    """One arm in words: the tooltip of its mark."""
    interval = digits.interval(float(picture.lower[arm]), float(picture.upper[arm]))
    return (
        f"{printable(picture.names[arm])}: {picture.word(arm)}, "
        f"{digits(float(picture.estimate[arm]))} ({interval}), "
        f"{plural(int(picture.pulls[arm]), 'pull')}"
    )
