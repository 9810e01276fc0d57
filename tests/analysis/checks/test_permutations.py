"""Probabilities by reordering: against all orders, and in corners where formulas fail."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import chisquare, norm

from standout.analysis.checks import order as order_checks
from standout.analysis.checks import permutations
from standout.analysis.checks import ranks as checks
from standout.analysis.checks import workers as worker_checks
from standout.analysis.checks.ranks import ALPHA, Arms, sort_rewards
from tests.analysis.checks.measure_checks import p_values
from tests.naive import checks as naive
from tests.report.corners import CORNERS, log_of

DRAWS = 20_000
ONE_ARM = [0, 0, 0, 0, 1, 0]
OTHER_ARM = [2, 2, 1, 0, 2]


def small() -> tuple[Arms, list[list[float]]]:
    """Two arms of 6 and 5 rewards: 86,400 orders. The places of the second lie apart."""
    arm = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    reward = np.array([*ONE_ARM, *OTHER_ARM], dtype=float)
    return sort_rewards(arm, reward, 2), [naive.scores(ONE_ARM), naive.scores(OTHER_ARM)]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try orders whatever the formula says, and to the end; nothing is let pass."""
    monkeypatch.setattr(permutations, "WORTH_TRYING", 2.0)
    monkeypatch.setattr(permutations, "DRAWS", DRAWS)
    monkeypatch.setattr(permutations, "ENOUGH", DRAWS)
    for module in (order_checks, worker_checks):
        monkeypatch.setattr(module, "LEEWAY", 0.0)
    monkeypatch.setattr(order_checks, "ALIKE", 0.0)
    monkeypatch.setattr(worker_checks, "SLIGHT", 0.0)
    monkeypatch.setattr(worker_checks, "MORE_SPREAD", 1.0)
    monkeypatch.setattr(worker_checks, "FEWEST_OF_ONE", 2)


def near(share: float) -> float:
    """Off by more than this with probability 6e-7, were the seed drawn anew."""
    return 5 * math.sqrt(share * (1 - share) / DRAWS) + 2 / DRAWS


@pytest.mark.usefixtures("always")
def test_neighbours_are_as_likely_as_the_share_of_all_orders() -> None:
    arms, scores = small()

    def odd(order: Sequence[Sequence[float]]) -> float:
        return sum(naive.neighbour_sum(values) for values in order)

    exact = naive.share_as_odd(scores, odd, odd(scores))
    assert order_checks.neighbours(arms)[0] == pytest.approx(exact, abs=near(exact))


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("alone", [False, True])
def test_a_trend_is_as_likely_as_the_share_of_all_orders(alone: bool) -> None:
    arms, scores = small()
    other = [[0.0, 1, 2, 3, 4, 20], [5.0, 6, 7, 30, 31]]

    def odd(order: Sequence[Sequence[float]]) -> float:
        z, _ = naive.trend(list(zip(order, other, strict=True)), 0.0)
        together = 2 * norm.sf(abs(z))
        if not alone:
            return -float(together)
        single = [naive.trend([(s, list(map(float, range(len(s)))))], 0.0)[0] for s in order]
        return -min(1.0, 2 * min(together, 2 * 2 * norm.sf(max(map(abs, single)))))

    # scipy is slow for single numbers: a part of the orders would do, but is not exact.
    rng = np.random.default_rng(3)
    sample = [[list(rng.permutation(s)) for s in scores] for _ in range(8000)]
    share = float(np.mean([odd(order) >= odd(scores) - 1e-9 for order in sample]))
    found = order_checks.trend_of(arms, np.array([*other[0], *other[1]]), alone=alone).p
    # Both are drawn: off by more than 5 standard errors with probability 6e-7.
    assert found == pytest.approx(share, abs=5 * math.sqrt(share / 8000 + share / DRAWS) + 1e-3)


@pytest.mark.usefixtures("always")
def test_workers_are_as_likely_as_the_share_of_orders() -> None:
    arms, scores = small()
    worker = np.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1])
    rng = np.random.default_rng(4)

    def p_of(order: Sequence[Sequence[float]]) -> float:
        """The formula on rewards in another order; ranks stand for them."""
        again = sort_rewards(np.array([0] * 6 + [1] * 5), np.concatenate(order), 2)
        cells = worker_checks._cells(again, worker, 2)
        total = np.bincount(cells.of, again.score)
        together, single = worker_checks._differ(cells, total, np.zeros(2))
        repeat = worker_checks._repeat(cells, total, 1.0)
        return worker_checks._p(worker_checks._differ_p(together, single), repeat)

    seen = p_of(scores)
    share = np.mean(
        [p_of([rng.permutation(s) for s in scores]) <= seen + 1e-9 for _ in range(4000)]
    )
    found = worker_checks.compare_workers(arms, worker, 2).p
    # As above: 6e-7.
    assert found == pytest.approx(share, abs=5 * math.sqrt(share / 4000 + share / DRAWS) + 1e-3)


@pytest.mark.kernel
def test_places_are_dealt_evenly() -> None:
    """All 5 * 4 ordered pairs of places of an arm of five; another arm has none to deal."""
    deck, slots = np.arange(12), np.empty(2, dtype=np.int64)
    first, number, count = np.array([0, 7]), np.array([7, 5]), np.array([0, 2])
    rng = np.random.default_rng(5)
    hits = np.zeros((12, 12))
    for _ in range(4000):
        permutations.deal(deck, first, number, count, slots, rng)
        hits[slots[0], slots[1]] += 1
    assert sorted(deck) == list(range(12))
    pairs = [hits[a, b] for a in range(7, 12) for b in range(7, 12) if a != b]
    assert sum(pairs) == 4000
    # Fails once in 10,000 seeds.
    assert chisquare(pairs).pvalue > 1e-4


def test_the_same_rewards_have_the_same_probability() -> None:
    rng = np.random.default_rng(6)
    arm, reward = rng.integers(0, 3, 300), (rng.random(300) < 0.05).astype(float)
    reward[:40] = np.sort(reward[:40])
    found = [order_checks.neighbours(sort_rewards(arm, reward, 3)) for _ in range(2)]
    assert found[0] == found[1]


def test_arms_without_room_are_drawn_from_normal_distributions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where formulas are good, all three ways agree: formula, dealt, drawn."""
    rng = np.random.default_rng(7)
    arm, worker = rng.integers(0, 8, 4000), rng.integers(0, 6, 4000)
    reward = rng.normal(arm, 1.0)
    arms = sort_rewards(arm, reward, 8)
    monkeypatch.setattr(permutations, "WORTH_TRYING", 2.0)
    monkeypatch.setattr(permutations, "DRAWS", 2000)
    monkeypatch.setattr(permutations, "ENOUGH", 2000)
    for leeway in (order_checks, worker_checks):
        monkeypatch.setattr(leeway, "LEEWAY", 0.0)
    found = []
    for most in (10**9, 2000, 0):
        monkeypatch.setattr(permutations, "MOST_DEALT", most)
        found.append(
            [
                order_checks.neighbours(arms)[0],
                order_checks.trend_of(arms, arms.place / 4000, alone=True).p,
                worker_checks.compare_workers(arms, worker, 6).p,
            ]
        )
    # Two shares of 2000: off by more than 5 standard errors of at most 0.016 with 6e-7.
    np.testing.assert_allclose(found[1], found[0], atol=0.08)
    np.testing.assert_allclose(found[2], found[0], atol=0.08)


STUDIES, MOST_ALARMS = 500, 4
"""More alarms than this have probability 2e-4 for a check that warns with probability 0.001."""


@pytest.mark.parametrize(
    "name",
    [
        "3 x 500, p .004",
        "3 x 100, p .03",
        "10 workers of ten, one of 900",
        "100 workers in passing",
        "one pull long after the rest",
    ],
)
def test_rare_values_are_no_false_alarm(name: str) -> None:
    alarms: dict[str, int] = {}
    for seed in range(STUDIES):
        log = log_of(name, seed)
        if sort_rewards(log.arm, log.reward, log.n_arms).is_enough:
            for check, p in p_values(log, CORNERS[name][0]).items():
                alarms[check] = alarms.get(check, 0) + (p < ALPHA)
    assert max(alarms.values()) <= MOST_ALARMS, alarms


def test_dependence_among_rare_successes_is_still_seen() -> None:
    """Successes that come in pairs, one in a hundred rewards: the check has not gone blind."""
    rng = np.random.default_rng(8)
    reward = np.zeros(3000)
    starts = rng.choice(1500, 15, replace=False) * 2
    reward[starts] = reward[starts + 1] = 1.0
    p, _ = order_checks.neighbours(sort_rewards(np.repeat([0, 1, 2], 1000), reward, 3))
    assert p < ALPHA


def test_nothing_but_two_values_and_one_arm() -> None:
    arms = sort_rewards(np.zeros(60, dtype=np.int64), np.append(np.zeros(59), 1.0), 1)
    assert order_checks.neighbours(arms)[0] > ALPHA
    assert order_checks.trend_of(arms, arms.place / 60, alone=True).p > ALPHA
    assert worker_checks.compare_workers(arms, np.arange(60) % 2, 2).p > ALPHA
    assert checks.FEWEST_IN_ALL <= 60
