"""The gaps of a question, and the bounds of theory on its pulls. Pure data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from standout import theory
from standout.core import robust
from standout.core.methods import METHODS
from standout.core.problem import Problem, Side
from standout.core.typing import Floats
from standout.results import Result
from standout.simulation import Instance

SUBSET_DRAWS = 200


@dataclass(frozen=True)
class Bound(Result):
    """A number of pulls with its meaning; without a value, the reason why."""

    name: str
    value: float | None
    source: str
    remark: str = ""


@dataclass(frozen=True, eq=False)
class SidePlan:
    """One side's threshold, gaps and bounds."""

    side: Side
    outliers: tuple[str, ...]
    nearest: str
    gaps: theory.Gaps
    shares: Floats
    """Each arm's part of the upper bound, summing to 1"""
    bounds: tuple[Bound, ...]

    def to_dict(self, instance: Instance) -> dict[str, Any]:
        """Plain values, ready for JSON; gaps are in the order of the arms."""
        gaps = self.gaps
        names = ("to_threshold", "to_median", "to_mad", "hardness")
        columns = [instance.means, *(getattr(gaps, name) for name in names)]
        rows = zip(instance.arms, *(column.tolist() for column in columns), strict=True)
        return {
            "side": str(self.side),
            "median": gaps.median,
            "mad": gaps.mad,
            "threshold": gaps.threshold,
            "outliers": list(self.outliers),
            "nearest": self.nearest,
            "min_gap": gaps.min_to_threshold,
            "bounds": [bound.to_dict() for bound in self.bounds],
            "gaps": [dict(zip(("arm", "mean", *names), row, strict=True)) for row in rows],
        }


def plan_side(
    instance: Instance,
    problem: Problem,
    side: Side,
    *,
    constant: float = 1.0,
    subset: tuple[float, float] | None = None,
    seed: int = 0,
) -> SidePlan:
    """Gaps and bounds of one side's question about known means."""
    factor = problem.factor_of(side)
    gaps = theory.compute_gaps(instance.means, factor, side)
    asked = _Asked(instance, problem, side, reward_scale(instance), constant)
    bounds = [_lower(asked)]
    shares = np.full(instance.n_arms, np.nan)
    if asked.sigma is None:
        bounds.append(Bound("upper", None, "Theorem 2", "the scale of the noise is unknown"))
    else:
        terms = _upper_terms(asked, asked.sigma)
        bounds.append(_upper(float(terms.sum()), constant, gaps))
        shares = terms / terms.sum() if 0 < terms.sum() < math.inf else shares
        if subset is not None:
            bounds.append(_corollary(asked, asked.sigma, subset, seed))
    bounds += _mean_std(asked)
    standing_out = robust.outliers(instance.means, factor, side)
    return SidePlan(
        side=side,
        outliers=tuple(instance.arms[int(i)] for i in np.flatnonzero(standing_out)),
        nearest=instance.arms[int(np.argmin(gaps.to_threshold))],
        gaps=gaps,
        shares=shares,
        bounds=tuple(bounds),
    )


def reward_scale(instance: Instance) -> float | None:
    """sigma of the noisiest arm, or None if it is unknown."""
    if math.isfinite(instance.noise.sigma):
        return float(instance.noise.sigma)
    return None if instance.sigmas is None else float(instance.sigmas.max())


@dataclass(frozen=True)
class _Asked:
    """One side's question, with C of the theory's bounds."""

    instance: Instance
    problem: Problem
    side: Side
    sigma: float | None
    constant: float

    @property
    def factor(self) -> float:
        return self.problem.factor_of(self.side)

    @property
    def k(self) -> float:
        """k without the MAD's scale, as in the theory's sums."""
        return self.factor / self.problem.mad_scale


def _lower(asked: _Asked) -> Bound:
    if asked.sigma is None:
        return Bound("lower", None, "Theorem 3", "the scale of the noise is unknown")
    means, delta, noise = asked.instance.means, asked.problem.delta, asked.instance.noise.name
    bound = theory.lower_bound(means, asked.factor, delta, asked.sigma, asked.side)
    if bound.theorem is theory.LowerTheorem.NONE:
        return Bound("lower", None, "", bound.reason)
    remark = bound.reason
    if noise != "gaussian":
        rough = f"proved for gaussian rewards; with {noise} ones a rough guide"
        remark = f"{remark}; {rough}" if remark else rough
    return Bound("lower", bound.value, str(bound.theorem), remark)


def _upper_terms(asked: _Asked, sigma: float, chosen: robust.Indexes | None = None) -> Floats:
    # The theorem's radius is for sigma = 1/2: scale the rewards to it.
    means = asked.instance.means / (2 * sigma)
    gaps = theory.compute_gaps(means, asked.factor, asked.side, subset=chosen)
    return theory.upper_bound_per_arm(
        gaps, k=asked.k, delta=asked.problem.delta, constant=asked.constant
    )


def _upper(value: float, constant: float, gaps: theory.Gaps) -> Bound:
    remark = (
        f"of roai-elim and roai-lucb, with C = {constant:g}, which the theory does not determine"
    )
    if gaps.min_to_threshold == 0:
        remark = "a mean lies on the threshold: no number of pulls suffices"
    return Bound("upper", value, "Theorem 2", remark)


def _corollary(asked: _Asked, sigma: float, subset: tuple[float, float], seed: int) -> Bound:
    """The median of the bound over random subsets, since it depends on the drawn arms."""
    means, n_arms = asked.instance.means, asked.instance.n_arms
    size = replace(METHODS["roai-lucb"], subset=subset).subset_size(n_arms)
    whole = robust.outliers(means, asked.factor, asked.side)
    rng = np.random.default_rng(seed)
    values, same = [], 0
    for _ in range(SUBSET_DRAWS):
        chosen = rng.permutation(n_arms)[:size]
        values.append(float(_upper_terms(asked, sigma, chosen).sum()))
        found = robust.outliers(means, asked.factor, asked.side, chosen)
        same += bool((found == whole).all())
    return Bound(
        "subset",
        float(np.median(values)),
        "Corollary 1",
        f"lambda {subset[0]:g}, epsilon {subset[1]:g}: {size} arms make the threshold; median of "
        f"{SUBSET_DRAWS} random subsets, {same / SUBSET_DRAWS:.0%} of them with the same outliers",
    )


def _mean_std(asked: _Asked) -> list[Bound]:
    """Bounds of RR and WRR, which use the mean-std threshold."""
    instance, side, k, delta = asked.instance, asked.side, asked.k, asked.problem.delta
    low, high = instance.noise.support
    names = ("rr", "wrr")
    source = "Zhuang et al. 2017"
    if not (math.isfinite(low) and math.isfinite(high)):
        return [Bound(name, None, source, "for bounded rewards only") for name in names]
    means = (instance.means - low) / (high - low)
    theta = robust.mean_std_threshold(means, k, side)
    beyond = means > theta if side is Side.HIGH else means < theta
    same = bool((beyond == robust.outliers(means, asked.factor, side)).all())
    remark = "" if same else f", which has other outliers ({int(beyond.sum())})"
    remark = (
        f"with C = 1; its threshold is mean {'+' if side is Side.HIGH else '-'} {k:g} std" + remark
    )
    values = (bound(means, k, delta, side) for bound in (theory.rr_bound, theory.wrr_bound))
    return [Bound(name, value, source, remark) for name, value in zip(names, values, strict=True)]
