"""What a terminal picture of an answer shows: which arms, and what is left out. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Flags, Floats
from standout.results import Identification, Interval


@dataclass(frozen=True)
class ArmLine:
    """One arm with its interval; `verdict` is `outlier`, `normal` or `undecided`."""

    name: str
    mean: float
    lower: float
    upper: float
    pulls: int
    verdict: str


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Neighbouring arms that are only counted, with their means for a small histogram."""

    verdicts: dict[str, int]
    means: Floats


@dataclass(frozen=True, eq=False)
class Picture:
    """Lines from the largest mean to the smallest, and the range that they cover."""

    lines: tuple[ArmLine | LeftOut, ...]
    threshold: Interval
    low: float
    high: float


def make_picture(found: Identification, lines: int = 18) -> Picture:
    """Give `lines` arms a line: outliers, then undecided ones, then those nearest to it."""
    means = np.asarray(found.means)
    verdicts = _verdicts(found)
    shown = _shown(found, verdicts, lines)
    order = np.argsort(-np.where(np.isnan(means), -np.inf, means), kind="stable")
    chosen: list[ArmLine | LeftOut] = []
    run: list[int] = []
    for arm in (int(i) for i in order):
        if not shown[arm]:
            run.append(arm)
            continue
        _close(run, chosen, verdicts, means)
        chosen.append(
            ArmLine(
                name=found.arms[arm],
                mean=float(means[arm]),
                lower=float(found.lower[arm]),
                upper=float(found.upper[arm]),
                pulls=int(found.pulls_by_arm[arm]),
                verdict=verdicts[arm],
            )
        )
    _close(run, chosen, verdicts, means)
    low, high = _range(chosen, means, found.threshold)
    return Picture(tuple(chosen), found.threshold, low, high)


def _verdicts(found: Identification) -> list[str]:
    outliers, undecided = set(found.outliers), set(found.undecided)
    return [
        "outlier" if name in outliers else "undecided" if name in undecided else "normal"
        for name in found.arms
    ]


def _shown(found: Identification, verdicts: list[str], lines: int) -> Flags:
    """The arms that get a line of their own."""
    centre = found.threshold_estimate
    distance = np.abs(found.means - (centre if np.isfinite(centre) else 0.0))
    distance = np.where(np.isnan(distance), np.inf, distance)
    rank = {"outlier": 0, "undecided": 1, "normal": 2}
    order = sorted(range(len(verdicts)), key=lambda i: (rank[verdicts[i]], distance[i]))
    shown = np.zeros(len(verdicts), dtype=np.bool_)
    # A single arm left out would cost the same line as the arm itself.
    shown[order if len(order) <= lines + 1 else order[:lines]] = True
    return shown


def _close(
    run: list[int], lines: list[ArmLine | LeftOut], verdicts: list[str], means: Floats
) -> None:
    if not run:
        return
    counts: dict[str, int] = {}
    for arm in run:
        counts[verdicts[arm]] = counts.get(verdicts[arm], 0) + 1
    lines.append(LeftOut(counts, means[run]))
    run.clear()


def _range(
    lines: list[ArmLine | LeftOut], means: Floats, threshold: Interval
) -> tuple[float, float]:
    """All means, and intervals as far as they do not make the rest tiny."""
    inner = [float(x) for x in (*means, threshold.lower, threshold.upper) if np.isfinite(x)]
    if not inner:
        return 0.0, 1.0
    low, high = min(inner), max(inner)
    room = (high - low) / 4 or 0.5
    ends = [x for line in lines if isinstance(line, ArmLine) for x in (line.lower, line.upper)]
    ends = [x for x in ends if low - room <= x <= high + room]
    return min([low, *ends]), max([high, *ends])
