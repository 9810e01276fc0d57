"""Upper bounds on the pulls of ROAIElim and ROAILUCB (Theorem 2, Corollary 1)."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from standout.core.typing import Floats
from standout.theory.gaps import Gaps


class LogForm(StrEnum):
    """The logarithm in the bound.

    `PAPER` is log(n k / (delta Delta)) as printed; `RELEASED` is log(n k^2 / (delta Delta^2)), with
    which the paper's Fig. 3 was drawn. Outside a subset, k is 1 in both.
    """

    PAPER = "paper"
    RELEASED = "released"


def upper_bound_per_arm(
    gaps: Gaps,
    *,
    k: float,
    delta: float,
    constant: float = 1.0,
    form: LogForm = LogForm.PAPER,
) -> Floats:
    """Each arm's term of the bound; infinite where the gap is 0.

    An arm of the subset (by default every arm) has
    C k^2 log(n k / (delta Delta^*_i)) / (Delta^*_i)^2, Theorem 2; one outside has
    C log(n / (delta Delta^theta_i)) / (Delta^theta_i)^2, Corollary 1.

    `constant` is C, which the theory leaves open (10 in Fig. 1b, 1 in Fig. 3).
    `k` enters the paper's pictures without the MAD's scale, while the gaps are
    those of the scaled threshold. With gaps beyond n k / delta the logarithm
    would be negative; such a term counts as 0.
    """
    weight = np.where(gaps.in_subset, k, 1.0)
    power = 2.0 if form is LogForm.RELEASED else 1.0
    terms = np.full(gaps.n_arms, np.inf)
    apart = gaps.hardness > 0
    ratio = weight[apart] / gaps.hardness[apart]
    # A sum of logarithms, because the ratio itself may overflow for tiny gaps.
    logs = np.log(gaps.n_arms / delta) + power * np.log(ratio)
    with np.errstate(over="ignore"):
        terms[apart] = constant * np.maximum(logs, 0.0) * ratio**2
    return terms


def upper_bound(
    gaps: Gaps,
    *,
    k: float,
    delta: float,
    constant: float = 1.0,
    form: LogForm = LogForm.PAPER,
) -> float:
    """Pulls that suffice with probability 1 - delta: the sum of `upper_bound_per_arm`.

    It is Theorem 2, or Corollary 1 when `gaps` were computed with a subset.
    """
    return float(upper_bound_per_arm(gaps, k=k, delta=delta, constant=constant, form=form).sum())
