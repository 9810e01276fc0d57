"""The candidates of ROAILUCB, as sets of all answers that random ties allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.naive.order import highest, lowest, median_rank, possible_tops
from tests.naive.threshold import Ranges, meets

Pairs = set[tuple[int | None, int | None]]
"""Possible pairs: (smallest lower end inside, largest upper end outside)."""


def critical_pairs(
    values: Mapping[int, float] | Sequence[float],
    lower: Mapping[int, float] | Sequence[float],
    upper: Mapping[int, float] | Sequence[float],
    omega: Sequence[int],
    rank: int,
) -> Pairs:
    """For each possible set of the `rank` largest: its lowest arm, the highest of the rest."""
    found: Pairs = set()
    for top in possible_tops(values, omega, rank):
        rest = set(omega) - top
        found |= {(a, b) for a in lowest(lower, top) for b in highest(upper, rest)}
    return found


def boundary_pairs(
    estimate: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    ranges: Ranges,
    omega: Sequence[int],
) -> list[Pairs]:
    """At ranks m - 1 and m of the means, then of the deviations' midpoints."""
    m = median_rank(len(omega))
    l_ad, u_ad = ranges.deviation_lower, ranges.deviation_upper
    centre = {i: (l_ad[i] + u_ad[i]) / 2 for i in omega}
    return [
        critical_pairs(estimate, lower, upper, omega, m - 1),
        critical_pairs(estimate, lower, upper, omega, m),
        critical_pairs(centre, l_ad, u_ad, omega, m - 1),
        critical_pairs(centre, l_ad, u_ad, omega, m),
    ]


def threshold_pairs(
    estimate: Sequence[float], lower: Sequence[float], upper: Sequence[float], theta: float
) -> Pairs:
    """Among all arms, at theta's estimate; None where there is no such arm."""
    inside = {i for i, y in enumerate(estimate) if y > theta}
    outside = set(range(len(estimate))) - inside
    first = lowest(lower, inside) if inside else {None}
    second = highest(upper, outside) if outside else {None}
    return {(a, b) for a in first for b in second}


def still_meeting(
    pairs: Pairs, lower: Sequence[float], upper: Sequence[float], theta: tuple[float, float]
) -> Pairs:
    """The intersection with the arms that meet I_theta: of both arms (erratum 3)."""

    def kept(arm: int | None) -> int | None:
        return arm if arm is not None and meets(lower[arm], upper[arm], theta) else None

    return {(kept(a), kept(b)) for a, b in pairs}


def unions(all_pairs: Sequence[Pairs]) -> set[frozenset[int]]:
    """Every set of arms that one choice from each of `all_pairs` gives."""
    reached = {frozenset[int]()}
    for pairs in all_pairs:
        reached = {
            so_far | {x for x in pair if x is not None} for so_far in reached for pair in pairs
        }
    return reached
