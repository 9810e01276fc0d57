"""The parts of the chances against their slow twins and against known distributions."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from standout.core import robust
from standout.core.problem import Problem
from standout.estimation import draws, prior
from standout.estimation.bins import bins_of
from standout.estimation.draws import Posterior, thresholds
from standout.estimation.evidence import Evidence, readings_of
from standout.estimation.likelihood import likelihood
from standout.estimation.lists import lists_of
from standout.estimation.products import MOST_OF_VECTOR, product, weighted
from tests.naive import chances as naive

MEANS = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=9)


@given(MEANS, st.sampled_from([1.0, 1.4826, 3.0, 4.4478]))
@settings(deadline=None)
def test_what_an_arm_has_to_exceed(means: list[float], factor: float) -> None:
    theta, own = thresholds(np.array([means]), factor)
    assert theta[0] == pytest.approx(naive.threshold(means, factor))
    outliers = robust.outliers(means, factor)
    for arm, mean in enumerate(means):
        assert own[0, arm] == pytest.approx(naive.to_exceed(means, factor, arm))
        # Rounding may move a mean that lies on its threshold; elsewhere both must agree.
        if abs(mean - own[0, arm]) > 1e-9:
            assert (mean > own[0, arm]) == outliers[arm]


def test_thresholds_of_many_draws_are_those_of_each() -> None:
    means = np.random.default_rng(1).normal(size=(20, 12))
    theta, own = thresholds(means, 2.0)
    for row in range(len(means)):
        alone, own_alone = thresholds(means[row : row + 1], 2.0)
        assert theta[row] == alone[0]
        np.testing.assert_array_equal(own[row], own_alone[0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None)
def test_lists(chance: list[float], false_share: float) -> None:
    found = lists_of(np.array(chance), false_share)
    assert found.flagged.tolist() == naive.flagged(chance, false_share)
    assert found.expected_wrong == pytest.approx(sum(min(c, 1 - c) for c in chance))
    assert sorted(found.probable) == [i for i, c in enumerate(chance) if c > 0.5]
    if sum(chance) > 0:
        missed = sum(c for i, c in enumerate(chance) if i not in found.flagged)
        assert found.missed_share == pytest.approx(missed / sum(chance), abs=1e-12)


def small() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    pulls = rng.integers(1, 30, 6)
    evidence = Evidence(pulls, rng.normal(size=6), np.full(6, np.nan), np.zeros(6, dtype=bool))
    readings = readings_of(evidence, Problem(noise="gaussian:1").noise)
    bins = bins_of(readings, 3.0)
    rows = likelihood(readings, bins)
    bumps = prior.bumps_of(bins, 0.2)
    return rows, bumps, rows @ bumps.T, rng.exponential(size=6), bins


def test_steps_of_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, bumps, fits, weights, bins = small()
    base = bins.width / bins.width.sum()
    monkeypatch.setattr(prior, "ROUNDS", 0)
    start = prior.second_layer(fits, base, weights, bumps)
    assert start.sum() == pytest.approx(prior.STRENGTH)
    monkeypatch.setattr(prior, "ROUNDS", 2)
    found = prior.second_layer(fits, base, weights, bumps)
    slow = naive.em_step(fits, start, start, weights)
    slow = naive.em_step(fits, start, slow, weights)
    np.testing.assert_allclose(found, slow, rtol=1e-9)
    masses = prior.posterior_masses(rows, fits, found, weights, bumps)
    for arm in range(len(rows)):
        alone = naive.posterior(rows[arm], fits[arm], slow, weights[arm], bumps)
        np.testing.assert_allclose(masses[arm], alone, rtol=1e-7, atol=1e-12)
    score = sum(
        weight * naive.log_predicted(fit, slow, weight)
        for fit, weight in zip(fits, weights, strict=True)
    )
    assert prior.predicted(fits, found, weights) == pytest.approx(score, rel=1e-7)


def test_the_first_layer_as_a_mixture_of_bumps() -> None:
    """A bell that is wider than the bumps is one, nearly; each bin's mass is kept in sum."""
    _, _, _, _, bins = small()
    bell = np.exp(-0.5 * ((bins.middle - bins.centre) / bins.spread) ** 2) * bins.width
    bell /= bell.sum()
    for width in (0.1, 0.65):
        bumps = prior.bumps_of(bins, width * bins.spread)
        mixed = prior._shares_of(bell, bumps) @ bumps
        assert mixed.sum() == pytest.approx(1.0)
        assert np.abs(np.cumsum(mixed) - np.cumsum(bell)).max() < 0.02


def test_widths_of_bumps() -> None:
    """Narrow where nothing hides the means; else also as wide as the noise, but not the means."""
    assert prior.widths_of(1.0, 0.0, 32) == pytest.approx([0.15])
    assert prior.widths_of(1.0, 0.6, 32) == pytest.approx([0.15, 0.3, 0.6])
    assert prior.widths_of(1.0, 9.0, 32) == pytest.approx([0.15, 0.65])


def test_a_normal_prior_gives_the_normal_posterior() -> None:
    noise, none = Problem(noise="gaussian:1").noise, np.full(7, np.nan)
    places = np.array([1.0, 0.0, 1.0, -1.0, 2.0, -2.0, 0.0])
    evidence = Evidence(np.full(7, 4), places, none, np.zeros(7, dtype=bool))
    readings = readings_of(evidence, noise)
    bins = bins_of(readings, 3.0)
    readings = readings.take(np.array([0]))
    bell = np.exp(-0.5 * bins.middle**2) * bins.width
    masses = likelihood(readings, bins) * bell
    posterior = Posterior(masses / masses.sum(), readings, bins)
    # Prior N(0, 1), four rewards of mean 1 with variance 1: N(4/5, 1/5).
    at = np.array([[-0.5], [0.5], [0.8], [1.5]])
    exact = stats.norm.sf(at, 0.8, math.sqrt(0.2))
    np.testing.assert_allclose(posterior.tail(at), exact, atol=0.003)
    drawn = posterior.draw(np.random.default_rng(0), 20_000)
    # Standard errors .0032 and about .0022: off by more than five of them once in millions.
    assert drawn.mean() == pytest.approx(0.8, abs=0.016)
    assert drawn.std() == pytest.approx(math.sqrt(0.2), abs=0.011)


def test_tails() -> None:
    """Against SciPy's slow distributions; nearly normal ones to the error that is stated."""
    dof = np.array([3.0, 8.0, 50.0, draws.NEARLY_NORMAL, 1e6, math.inf])
    t = np.append(np.linspace(-9, 9, 201), [math.inf, -math.inf])
    found = draws._student_tail(np.repeat(t[:, None], len(dof), axis=1), dof)
    np.testing.assert_allclose(found[:, :3], stats.t.sf(t[:, None], dof[:3]), rtol=1e-9)
    np.testing.assert_allclose(found[:, 3:], stats.t.sf(t[:, None], dof[3:]), atol=0.001)


def test_variances_are_shared_by_as_much_as_they_are_alike() -> None:
    rng = np.random.default_rng(4)
    noise = Problem(noise="gaussian").noise
    pulls, means = np.full(400, 5), np.zeros(400)
    known = np.zeros(400, dtype=bool)
    alike = 4.0 * rng.chisquare(4, 400)
    readings = readings_of(Evidence(pulls, means, alike, known), noise)
    # All errors come near 2/sqrt(5), although each estimate alone is off by a third or more.
    assert np.abs(readings.error / (2 / math.sqrt(5)) - 1).max() < 0.35
    apart = np.where(rng.random(400) < 0.5, 1.0, 100.0) * rng.chisquare(24, 400)
    readings = readings_of(Evidence(5 * pulls, means, apart, known), noise)
    assert np.quantile(readings.error, 0.9) > 2 * np.quantile(readings.error, 0.1)
    assert readings.dof.min() >= 3


def test_bounded_rewards_that_are_only_counted_scatter_as_much_as_they_can() -> None:
    noise = Problem(noise="bounded:0,10").noise
    none = np.full(3, np.nan)
    means = np.array([5.0, 9.0, np.nan])
    found = readings_of(Evidence(np.array([4, 4, 0]), means, none, np.zeros(3, dtype=bool)), noise)
    np.testing.assert_allclose(found.error[:2], [2.5, 1.5])
    assert found.error[2] == np.inf


def test_arms_that_are_alike_are_counted_together() -> None:
    """The first layer's likelihood is that of all arms, though it looks at each kind once."""
    rng = np.random.default_rng(4)
    seen = rng.binomial(3, rng.uniform(0.2, 0.6, 60)) / 3
    evidence = Evidence(np.full(60, 3), seen, np.full(60, np.nan), np.zeros(60, dtype=bool))
    readings = readings_of(evidence, Problem(noise="bernoulli").noise)
    readings = readings.take(np.argsort(readings.place))
    bins = bins_of(readings, 3.0)
    rows = likelihood(readings, bins)
    few, weights = prior._fewer(rows, readings)
    assert len(few) == 4
    masses = rng.dirichlet(np.ones(len(bins.width)), (1, 2, 3))
    found = prior._log_likelihood(few, weights, masses)
    for place in np.ndindex(masses.shape[:-1]):
        slow = sum(math.log(float(row @ masses[place])) for row in rows)
        assert found[place] == pytest.approx(slow)


def test_the_first_layer_finds_the_centre_of_a_few_rewards_of_0_and_1() -> None:
    """Of five rewards the median estimate is one of six values, here 15 standard errors off.

    The mean of what the first layer may be has a standard error of about .007: off by five of
    them about once in a million seeds.
    """
    rng = np.random.default_rng(2)
    means = np.clip(rng.normal(0.3, 0.075, 1000), 0.01, 0.99)
    seen = rng.binomial(5, means) / 5
    evidence = Evidence(np.full(1000, 5), seen, np.full(1000, np.nan), np.zeros(1000, dtype=bool))
    readings = readings_of(evidence, Problem(noise="bernoulli").noise)
    readings = readings.take(np.argsort(readings.place))
    bins = bins_of(readings, 3.0)
    assert abs(bins.centre - np.arcsin(np.sqrt(0.3))) > 0.06
    bases = prior.first_layer(likelihood(readings, bins), readings, bins)
    found = float(bases.chance @ bases.masses @ bins.middle)
    assert found == pytest.approx(np.arcsin(np.sqrt(means)).mean(), abs=0.035)
    assert bases.chance.sum() == pytest.approx(1.0)
    every = bases.spread_out(1000)
    for position in np.flatnonzero(bases.chance > 0.01):
        share = float((every == position).mean())
        assert share == pytest.approx(bases.chance[position], abs=0.0011)


def test_groups_are_among_the_shapes() -> None:
    """A fifth of the arms six scales above the others, plainly: no single bell is likely."""
    rng = np.random.default_rng(6)
    means = rng.normal(np.where(np.arange(200) < 40, 6.0, 0.0), 1.0)
    evidence = Evidence(np.full(200, 100), means, np.full(200, np.nan), np.zeros(200, dtype=bool))
    readings = readings_of(evidence, Problem(noise="gaussian:1").noise)
    readings = readings.take(np.argsort(readings.place))
    bins = bins_of(readings, 3.0)
    bases = prior.first_layer(likelihood(readings, bins), readings, bins)
    beyond = float(bases.chance @ bases.masses[:, bins.middle > 3.5].sum(axis=1))
    between = float(
        bases.chance @ bases.masses[:, (bins.middle > 2.5) & (bins.middle < 3.5)].sum(1)
    )
    assert beyond == pytest.approx(0.2, abs=0.06)
    assert between < 0.02
    assert bases.usual_scale == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [
        (0, 9, 9),
        (1, 700, 900),
        (3, 2, 5),
        (31, 90, 400),
        (33, 200, 83),
        (64, 128, 64),
        (70, 20_000, 3),
    ],
)
def test_a_product_in_parts_is_the_product(rows: int, depth: int, columns: int) -> None:
    rng = np.random.default_rng(rows)
    left, right = rng.random((rows, depth)), rng.random((columns, depth)).T
    np.testing.assert_allclose(product(left, right), left @ right, rtol=1e-12)
    np.testing.assert_allclose(product(left, right.copy()), left @ right, rtol=1e-12)


@pytest.mark.parametrize("rows", [0, 1, 2, 999, 1000, 1001, 2500])
def test_weighted_rows_in_parts_are_the_product(rows: int) -> None:
    rng = np.random.default_rng(rows)
    weights, matrix = rng.random(rows), rng.random((rows, MOST_OF_VECTOR // 1000))
    np.testing.assert_allclose(weighted(weights, matrix), weights @ matrix, rtol=1e-12)


_OTHER_THREADS = """
import time
import numpy as np
from standout import Problem
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence

def others():
    return time.process_time() - time.thread_time()

rng = np.random.default_rng(1)
for n, noise in ((123, "bernoulli"), (2000, "gaussian:0.3")):
    pulls = rng.integers(5, 200, n)
    seen = rng.binomial(pulls, 0.3) / pulls
    evidence = Evidence(pulls, seen, np.ones(n), np.zeros(n, dtype=np.bool_))
    before = others()
    estimate(Problem(noise=noise), evidence, [str(i) for i in range(n)])
    print(others() - before)
"""


def test_chances_take_no_processor_time_of_other_threads() -> None:
    """However many OpenBLAS has: they would wait at full speed from one product to the next."""
    done = subprocess.run(
        [sys.executable, "-c", _OTHER_THREADS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
    )
    # Two clocks, read one after the other: a machine that halts in between is no thread.
    assert [float(line) for line in done.stdout.split()] == pytest.approx([0.0, 0.0], abs=0.005)
