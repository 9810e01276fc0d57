"""Lists of arms with a stated error, from their chances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Floats, Ints

FALSE_SHARE = 0.05
"""Of flagged arms, unless asked otherwise, at most so many are expected to be wrong."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Positions of arms, the highest chance first, and what is expected of them.

    The shares are NaN where there is nothing to have a share of.
    """

    flagged: Ints
    flagged_false_share: float
    missed_share: float
    probable: Ints
    expected_wrong: float


def lists_of(chance: Floats, false_share: float) -> Lists:
    """The longest list with at most this share of wrong arms expected, and the best guess.

    Wrong arms are expected with 1 less their chance; the mean of that over the
    first so many arms only grows with their number.
    """
    order = np.argsort(-chance, kind="stable")
    ranked = chance[order]
    share = np.cumsum(1.0 - ranked) / np.arange(1, len(chance) + 1)
    # A hair more, so that 19 times 1 and once 0 make a list of 20 at 5 %.
    length = int(np.count_nonzero(share <= false_share + 1e-12))
    total = float(chance.sum())
    return Lists(
        flagged=order[:length],
        flagged_false_share=float(share[length - 1]) if length else float("nan"),
        missed_share=float(ranked[length:].sum()) / total if total > 0 else float("nan"),
        probable=order[: int(np.count_nonzero(ranked > 0.5))],
        expected_wrong=float(np.minimum(chance, 1.0 - chance).sum()),
    )
