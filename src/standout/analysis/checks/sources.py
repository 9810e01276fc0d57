"""Do a few sources, or a burst of answers, dominate a rating campaign?

A source is one rating link during one stretch of time. A person who wants to push an arm must
give many answers by one link in a short time. Such answers differ from the other answers about
the same arms, or are too much alike. A test within arms finds both (`workers`), even if the arms
were asked unevenly over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from standout.analysis.checks.ranks import Arms
from standout.analysis.checks.workers import compare_workers
from standout.core.typing import Flags, Floats, Ints
from standout.study.names import link_of

STRETCH = 600.0
"""Seconds of one stretch."""
FEWEST = 20
"""The smallest number of raters' answers for a test."""
BUSIEST, MANY_RATERS, MOST_SHARE = 3, 10, 0.5
"""With this many raters, the busiest may give this share of the answers without a warning."""
QUICK, MOST_QUICK = 0.7, 0.05
"""Seconds that are too short to read an item, and the allowed share of such answers."""


@dataclass(frozen=True, eq=False)
class Sources:
    """The sources of raters' answers."""

    raters: int
    links: int
    busiest: float
    """The share of answers by the busiest raters."""
    quick: float
    """The share of answers that came faster than a person can read."""
    p: float | None
    """The probability of such differences by chance; None with too little data."""
    odd: tuple[tuple[str, float, int], ...] = ()
    """The conspicuous sources: link, begin (seconds since 1970) and number of answers."""

    @property
    def is_narrow(self) -> bool:
        """Whether a few of many raters gave most answers."""
        return self.raters >= MANY_RATERS and self.busiest > MOST_SHARE

    @property
    def is_too_quick(self) -> bool:
        """Whether too many answers came faster than a person can read."""
        return self.quick > MOST_QUICK


def look_at_sources(
    arms: Arms, worker: Ints, workers: Sequence[str], time: Floats, delay: Floats
) -> Sources | None:
    """The sources of raters' answers; None for a study with too few of them.

    `worker` (a position in `workers`), `time` (seconds since 1970) and `delay` (seconds from asking
    to telling) are in the log's order.
    """
    links = [link_of(name) for name in workers]
    codes = {link: number for number, link in enumerate(dict.fromkeys(links))}
    by_raters = np.array([link is not None for link in links], dtype=np.bool_)[worker]
    if int(np.count_nonzero(by_raters)) < FEWEST:
        return None
    counts = np.sort(np.bincount(worker[by_raters]))[::-1]
    link = np.array([codes[each] for each in links], dtype=np.int64)[worker]
    p, odd = _test(arms, link, time, by_raters, list(codes))
    return Sources(
        raters=int(np.count_nonzero(counts)),
        links=len(codes) - (None in codes),
        busiest=float(counts[:BUSIEST].sum() / counts.sum()),
        quick=float(np.mean(delay[by_raters] < QUICK)),
        p=p,
        odd=odd,
    )


def _test(
    arms: Arms, link: Ints, time: Floats, by_raters: Flags, links: Sequence[str | None]
) -> tuple[float | None, tuple[tuple[str, float, int], ...]]:
    """Compare links and stretches on the same arms."""
    stretch = np.floor(time / STRETCH).astype(np.int64)
    first = int(stretch.min())
    pairs, source = np.unique(link * (stretch.max() - first + 1) + stretch - first,
                              return_inverse=True)  # fmt: skip
    if not arms.is_enough or len(pairs) < 2:
        return None, ()
    found = compare_workers(arms, source.astype(np.int64), len(pairs))
    odd = []
    for number in found.odd.tolist():
        mine = np.flatnonzero(source == number)
        name = links[int(link[mine[0]])]
        if name is not None and by_raters[mine].all():
            odd.append((name, float(time[mine].min()), len(mine)))
    return found.p, tuple(odd)


@dataclass(frozen=True)
class Agreement:
    """How far raters of the same item answer alike."""

    alpha: float
    """Krippendorff's alpha with the interval metric; of yes and no it is the nominal one, too."""
    answers: int
    items: int


def agreement_of(arm: Ints, reward: Floats, is_rater: Flags) -> Agreement | None:
    """Krippendorff's alpha of the raters' answers; None where nothing can be compared.

    It is 1 - D/E (Krippendorff, *Content Analysis*, 2004, chapter 11). D is the mean squared
    difference of two answers to the same item, E that of two answers to any items. Only items with
    at least two answers count. An item with m answers has m - 1 degrees of freedom, so D and E
    follow from sums of squares.
    """
    arm, reward = arm[is_rater], reward[is_rater]
    size = np.bincount(arm, minlength=1)
    kept = size[arm] > 1
    arm, reward = arm[kept], reward[kept]
    if not len(arm):
        return None
    total = float(((reward - reward.mean()) ** 2).sum()) / (len(reward) - 1)
    if total == 0:
        return None
    mean = np.bincount(arm, reward) / np.maximum(np.bincount(arm), 1)
    squares = (reward - mean[arm]) ** 2 * size[arm] / (size[arm] - 1)
    return Agreement(1 - float(squares.mean()) / total, len(arm), len(np.unique(arm)))
