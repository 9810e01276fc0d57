"""Answers and pictures made up for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from standout.core.noise import Gaussian, Noise
from standout.core.problem import Problem, Side
from standout.pictures.arms import Picture, picture_of_answer
from standout.results import Identification, Interval, StopReason

THRESHOLD = Interval(0.55, 0.65)


def found(
    n: int = 40, outliers: int = 3, undecided: int = 0, radius: float = 0.02
) -> Identification:
    """Outliers between 0.8 and 0.9, the others between 0 and 0.4, the threshold near 0.6."""
    means = np.linspace(0.0, 0.4, n)
    means[:outliers] = np.linspace(0.8, 0.9, outliers)
    names = tuple(f"arm-{i:02d}" for i in range(n))
    return answer(
        means, names, names[:outliers], names[outliers : outliers + undecided], radius=radius
    )


def answer(
    means: Any,
    names: Sequence[str],
    outliers: Sequence[str] = (),
    undecided: Sequence[str] = (),
    *,
    radius: float = 0.02,
    threshold: Interval = THRESHOLD,
    threshold_low: Interval | None = None,
) -> Identification:
    """An answer with these means, and intervals of this radius around them."""
    means = np.array(means, dtype=np.float64)
    rest = [name for name in names if name not in {*outliers, *undecided}]
    return Identification(
        outliers=tuple(outliers),
        normal=tuple(rest),
        undecided=tuple(undecided),
        best_guess=tuple(outliers),
        threshold=threshold,
        threshold_low=threshold_low,
        threshold_estimate=(threshold.lower + threshold.upper) / 2,
        pulls=len(names) * 10,
        rounds=10,
        reason=StopReason.BUDGET if undecided else StopReason.DECIDED,
        arms=tuple(names),
        means=means,
        lower=means - radius,
        upper=means + radius,
        pulls_by_arm=np.full(len(names), 10),
    )


def picture(answer: Identification, side: Side = Side.HIGH, noise: Noise | None = None) -> Picture:
    """Its picture."""
    return picture_of_answer(answer, Problem(noise=noise or Gaussian(1.0), side=side))
