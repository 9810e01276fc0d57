"""Lower bounds of the cost of all means with a median and a MAD from a box."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.core.population_bet.bets import DEAR, Regions, region_costs
from standout.core.population_bet.bound import least_costs
from tests.naive import population_bet as naive


def _bound(top: np.ndarray, means: np.ndarray, sizes: list[int], boxes: np.ndarray) -> np.ndarray:
    """Of arms in groups; `top` has a row per group."""
    regions = Regions(np.zeros(len(boxes), dtype=np.int64), *boxes.T)
    costs = np.array([region_costs(row[None, :], means, regions) for row in top])
    n = sum(sizes)
    return least_costs(costs, np.array(sizes, dtype=np.float64), (n + 1) // 2)


@pytest.mark.parametrize("sizes", [[3], [4], [5], [2, 3], [1, 2, 2], [3, 3]])
def test_bound_is_no_more_than_the_cheapest_means(sizes: list[int]) -> None:
    rng = np.random.default_rng(11)
    places = np.linspace(0.0, 1.0, 7 if sum(sizes) < 6 else 5)
    for _ in range(12):
        # Costs that go up and down: -log g is not unimodal.
        values = rng.normal(0, 1, (len(sizes), len(places)))
        top = np.full((len(sizes), len(places) + 1), -9.0)
        for g in range(len(sizes)):
            top[g, :-1] = np.maximum(top[g, :-1], values[g])
            top[g, 1:] = np.maximum(top[g, 1:], values[g])
        ends = np.sort(rng.uniform(0, 1, 2)), np.sort(rng.uniform(0, 0.6, 2))
        box = np.array([[*ends[0], *ends[1]]])
        costs = [-values[g] for g, size in enumerate(sizes) for _ in range(size)]
        least = naive.cheapest(costs, places.tolist(), box[0].tolist())
        assert _bound(top, places, sizes, box)[0] <= least + 1e-9


def test_bound_of_one_group_is_the_cheapest_labelling() -> None:
    rng = np.random.default_rng(5)
    for n in (3, 4, 7, 100):
        rank = (n + 1) // 2
        costs = rng.normal(0, 1, (1, 1, 4))
        low_far, low_near, high_near, high_far = costs[0, 0]
        least = math.inf
        for far in range(max(0, 2 * rank - n), rank + 1):  # high and far
            parts = far * high_far + (rank - far) * (high_near + low_far)
            least = min(least, parts + (n - 2 * rank + far) * low_near)
        found = least_costs(costs, np.array([float(n)]), rank)[0]
        assert least - 1e-5 * n <= found <= least + 1e-9


def test_empty_regions_are_dear_and_open_ones_reach_the_ends() -> None:
    means = np.linspace(-1.0, 1.0, 9)
    top = np.linspace(0.0, 1.0, 10)[None, :]
    boxes = np.array([[0.0, 0.1, 0.5, math.inf], [-math.inf, 0.0, 0.0, math.inf]])
    regions = Regions(np.zeros(2, dtype=np.int64), *boxes.T)
    costs = region_costs(top, means, regions)
    assert costs[0, 3] == -1.0  # up to infinity
    assert costs[1].tolist() == [-top[0, 5], -top[0, 5], -1.0, -1.0]
    narrow = Regions(np.zeros(1, dtype=np.int64), *np.array([[0.5], [0.2], [0.0], [0.0]]))
    assert (region_costs(top, means, narrow)[0, 1:3] == DEAR).all()


def test_every_mean_of_a_region_is_looked_at() -> None:
    rng = np.random.default_rng(3)
    means = np.sort(rng.normal(0, 1, 40))
    top = rng.normal(0, 1, (3, 41))
    for _ in range(300):
        m1, m2 = np.sort(rng.normal(0, 1, 2))
        d1, d2 = np.sort(np.abs(rng.normal(0, 1, 2)))
        bet = int(rng.integers(3))
        regions = Regions(np.array([bet]), *np.array([[m1], [m2], [d1], [d2]]))
        lower, upper = (each[0] for each in regions.spans())
        costs = region_costs(top, means, regions)[0]
        for label in range(4):
            if lower[label] > upper[label]:
                continue
            for x in rng.uniform(max(lower[label], -4), min(upper[label], 4), 5):
                if lower[label] <= x <= upper[label]:
                    assert costs[label] <= -top[bet, np.searchsorted(means, x)]
