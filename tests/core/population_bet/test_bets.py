"""Bets whose average is at most 1, whatever the means are, compared with sums by hand."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from standout.core.population_bet import Sums
from standout.core.population_bet.bets import gains, places_of, ratios, tops
from standout.core.population_bet.estimate import estimate
from standout.core.population_bet.interval import judge
from standout.core.population_bet.law import NormalMean, Ones, bin_of
from standout.core.population_bet.plan import error_of, make_cells, small_regions
from standout.core.population_bet.rivals import ANY, UP, Boxes, Solver
from standout.core.population_bet.sample import Split, split, typical_law
from tests.naive import population_bet as naive

FACTOR = 3.0


@functools.cache
def _planned(noise: str) -> tuple[Split, np.ndarray]:
    """Sixty arms, split; and their means."""
    rng = np.random.default_rng(8)
    n = 60
    if noise == "ones":
        means = rng.uniform(0.1, 0.6, n)
        counts = np.repeat([40, 60], n // 2)
        sums = Sums(counts, rng.binomial(counts, means) / counts, np.zeros(n), math.nan)
    else:
        means, counts = rng.normal(0, 2, n), np.full(n, 50)
        sigma = math.sqrt(50) if noise == "normal" else math.inf
        squares = 50 * rng.chisquare(49, n)
        sums = Sums(counts, means + rng.normal(0, 1, n), squares, sigma)
    return split(sums, rng, 0.01), means


@functools.cache
def _bets(noise: str):
    """A few bets for the planned arms: edges, r and the bounds of log g, for each group."""
    parts, _ = _planned(noise)
    found = estimate(parts.pilot, typical_law(parts.rest))
    solver = Solver(found, parts.rest)
    m, d = found.median, found.mad
    error = error_of(solver)
    low = m + np.array([0.6, -0.6, 2.0]) * error
    mads = np.array([d + 2.5 * error, 0.2 * error, 0.0])
    boxes = Boxes(low, low + 0.1 * error, np.array([UP, -UP, ANY]), mads)
    rivals = solver.solve(boxes)
    assert (rivals.nats > 0.05).all()
    made = []
    for group, place in zip(parts.rest, solver.class_of, strict=True):
        edges, r = ratios(solver, rivals, group, place)
        means = places_of(solver, group)
        made.append((group, edges, r, means, tops(group, means, edges, r)))
    return made


@pytest.mark.parametrize("noise", ["ones", "normal", "unknown"])
def test_g_is_nowhere_below_the_average_of_r(noise: str) -> None:
    rng = np.random.default_rng(4)
    for group, edges, r, means, top in _bets(noise)[:3]:
        spread = float(means[-1] - means[0])
        tries = rng.uniform(means[0] - spread, means[-1] + spread, 60)
        tries = np.concatenate([tries, means[:3], rng.uniform(means[0], means[-1], 60)])
        for x in tries.tolist():
            if noise == "ones" and not 0 <= x <= 1:
                continue
            column = int(np.searchsorted(means, x))
            for bet in range(len(r)):
                if noise == "ones":
                    count = group.law.count
                    each = r[bet][bin_of(edges, np.arange(count + 1.0))]
                    average = naive.binomial_mean(count, x, each.tolist())
                else:
                    # Between the scales that were looked at, too.
                    ends = group.laws[0].spread, group.laws[-1].spread
                    spread_ = float(rng.uniform(*ends))
                    average = naive.normal_mean(spread_, x, edges.tolist(), r[bet].tolist())
                assert math.log(average) <= top[bet, column]


@pytest.mark.parametrize("noise", ["ones", "normal"])
def test_average_of_a_bet_is_close_to_one_at_the_true_means(noise: str) -> None:
    """4,000 draws of all readings, given the pilot, for each of three bets.

    The average of E(x) is at most 1, and not much less: g is sharp to .2 nats for all arms
    together. Both sides are tested at 4.5 standard errors: correct code fails with probability
    2e-5.
    """
    rng = np.random.default_rng(77)
    draws = 4000
    logs = np.zeros((3, draws))
    _, truth = _planned(noise)
    for group, edges, r, means, top in _bets(noise):
        x = truth[group.arms]
        if noise == "ones":
            readings = rng.binomial(group.law.count, x[:, None], (len(x), draws)).astype(float)
        else:
            readings = x[:, None] + group.law.spread * rng.standard_normal((len(x), draws))
        bins = bin_of(edges, readings)
        column = np.searchsorted(means, x)
        for bet in range(3):
            logs[bet] += np.log(r[bet])[bins].sum(axis=0) - top[bet, column].sum()
    values = np.exp(logs)
    error = values.std(axis=1) / math.sqrt(draws)
    assert (values.mean(axis=1) <= 1 + 4.5 * error).all()
    assert (values.mean(axis=1) >= math.exp(-0.3) - 4.5 * error).all()
    # By Markov's inequality; and a factor of 2 in E(x) would be seen.
    assert ((values >= 1 / 0.3).mean(axis=1) <= 0.3).all()


@pytest.mark.parametrize("noise", ["ones", "normal"])
def test_evidence_of_a_box_is_no_more_than_that_of_any_means_in_it(noise: str) -> None:
    parts, truth = _planned(noise)
    evidence, regions, cells = judge(parts, FACTOR)
    found = estimate(parts.pilot, typical_law(parts.rest))
    solver = Solver(found, parts.rest)
    again = make_cells(solver, FACTOR)
    assert np.array_equal(again.near, cells.near)  # the same plan
    rivals = solver.solve(cells.boxes)
    made = [
        (group, *ratios(solver, rivals, group, place))
        for group, place in zip(parts.rest, solver.class_of, strict=True)
    ]
    rng = np.random.default_rng(2)
    tried = 0
    for _ in range(400):
        x = truth * rng.uniform(0.5, 1.5) + rng.normal(0, 0.1) * np.std(truth)
        if noise == "ones":
            x = np.clip(x, 0.0, 1.0)
        median, mad = naive.median_and_mad(x.tolist())
        inside = (regions.m1 <= median) & (median <= regions.m2)
        inside &= (regions.d1 <= mad) & (mad <= regions.d2)
        assert inside.any()  # every pair is judged
        row = int(np.flatnonzero(inside)[0])
        bet = int(regions.bet[row])
        exact = 0.0
        for group, edges, r in made:
            exact += float(gains(group, edges, r[bet : bet + 1])[0])
            masses = group.law.masses(np.clip(x[group.arms], 1e-12, None), edges)
            exact -= float(np.log(masses @ r[bet]).sum())
        assert evidence[row] <= exact + 1e-6
        tried += 1
    assert tried == 400


def test_cells_cover_every_pair_once() -> None:
    parts, _ = _planned("normal")
    found = estimate(parts.pilot, typical_law(parts.rest))
    cells = make_cells(Solver(found, parts.rest), FACTOR)
    regions = small_regions(cells)
    rng = np.random.default_rng(1)
    for _ in range(2000):
        m, d = found.median + 3 * rng.standard_cauchy(), abs(rng.standard_cauchy()) * 2
        inside = (cells.low <= m) & (m <= cells.high)
        low, high = np.minimum(cells.near, cells.far), np.maximum(cells.near, cells.far)
        inside &= (low <= d) & (d <= high)
        assert inside.sum() == 1
        small = (regions.m1 <= m) & (m <= regions.m2) & (regions.d1 <= d) & (d <= regions.d2)
        assert (regions.bet[small] == cells.bet[inside][0]).all()
        assert small.sum() == 1


def test_laws_are_those_of_counts_and_means() -> None:
    law = Ones(7)
    masses = law.masses(np.array([0.3]), np.array([0.0, 2.0]))[0]
    share = [math.comb(7, s) * 0.3**s * 0.7 ** (7 - s) for s in range(8)]
    assert masses == pytest.approx([share[0], share[1] + share[2], sum(share[3:])])
    bell = NormalMean(2.0).masses(np.array([1.0]), np.array([1.0, 3.0]))[0]
    assert bell == pytest.approx([0.5, 0.3413447, 0.1586553], abs=1e-6)
