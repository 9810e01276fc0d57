"""Lists of arms with a stated error, from their chances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.typing import Floats, Ints

FALSE_SHARE = 0.05
"""The default for the largest expected share of wrong arms among flagged ones."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Positions of arms, the highest chance first, and their expected errors.

    A share of an empty list is NaN.
    """

    flagged: Ints
    flagged_false_share: float
    missed_share: float
    probable: Ints
    expected_wrong: float


def lists_of(chance: Floats, false_share: float) -> Lists:
    """The longest list with at most this expected share of wrong arms, and the best guess.

    An arm is wrong with 1 minus its chance. The mean of this over the first arms grows with their
    number.
    """
    order = np.argsort(-chance, kind="stable")
    ranked = chance[order]
    share = np.cumsum(1.0 - ranked) / np.arange(1, len(chance) + 1)
    # Slightly more, so that 19 chances of 1 and one of 0 make a list of 20 at 5 %.
    length = int(np.count_nonzero(share <= false_share + 1e-12))
    total = float(chance.sum())
    return Lists(
        flagged=order[:length],
        flagged_false_share=float(share[length - 1]) if length else float("nan"),
        missed_share=float(ranked[length:].sum()) / total if total > 0 else float("nan"),
        probable=order[: int(np.count_nonzero(ranked > 0.5))],
        expected_wrong=float(np.minimum(chance, 1.0 - chance).sum()),
    )
