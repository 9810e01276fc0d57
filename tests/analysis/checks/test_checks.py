"""The data checks against their plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm, t

from standout.analysis.checks import noise as noise_checks
from standout.analysis.checks import order as order_checks
from standout.analysis.checks import ranks as checks
from standout.analysis.checks import workers as worker_checks
from standout.analysis.checks.ranks import LEEWAY, sort_rewards
from tests.naive import checks as naive


def small_log(seed: int, kind: str = "mixed") -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Arms of various sizes in a mixed order, some too small or without variation."""
    rng = np.random.default_rng(seed)
    arm = np.concatenate([rng.integers(0, 7, 90), [7, 7, 8, 8, 8, 8, 8, 8]]).astype(np.int64)
    rng.shuffle(arm)
    reward = {
        "mixed": rng.normal(arm, 1.0),
        "binary": (rng.random(len(arm)) < 0.3).astype(float),
        "ties": np.round(rng.normal(0, 1.5, len(arm))),
    }[kind]
    reward[arm == 8] = 1.0
    return arm, reward, rng.integers(0, 4, len(arm)), 9


@pytest.mark.parametrize("kind", ["mixed", "binary", "ties"])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_ranks_within_arms(seed: int, kind: str) -> None:
    arm, reward, _, n_arms = small_log(seed, kind)
    arms = sort_rewards(arm, reward, n_arms)
    places = naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist())
    assert arms.kept.tolist() == list(places)
    assert arms.number.tolist() == [len(found) for found in places.values()]
    assert arms.place.tolist() == [p for found in places.values() for p in found]
    expected = [s for found in places.values() for s in naive.scores(reward[found].tolist())]
    np.testing.assert_allclose(arms.score, expected, atol=1e-12)
    np.testing.assert_array_equal(arms.reward, reward[arms.place])


@pytest.mark.parametrize("kind", ["mixed", "binary", "ties"])
def test_a_trend_is_the_sum_over_arms(kind: str) -> None:
    arm, reward, _, n_arms = small_log(3, kind)
    arms = sort_rewards(arm, reward, n_arms)
    places = naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist())
    groups = [
        (naive.scores(reward[found].tolist()), [float(p) for p in found])
        for found in places.values()
    ]
    z, room = naive.trend(groups, LEEWAY)
    found = order_checks.trend_of(arms, arms.place.astype(float))
    assert found.z == pytest.approx(z)
    assert found.p == pytest.approx(min(1.0, 2 * norm.sf(max(0.0, abs(z) - room))))
    tolerant = order_checks.trend_of(arms, arms.place.astype(float), ignored=0.01)
    room += 0.01 * math.sqrt(len(arms.arm))
    assert tolerant.p == pytest.approx(min(1.0, 2 * norm.sf(max(0.0, abs(z) - room))))
    # Alone: the steepest arm in its own order, corrected for their number.
    singles = [naive.trend([(s, [*map(float, range(len(s)))])], LEEWAY) for s, _ in groups]
    each = [min(1.0, 2 * norm.sf(max(0.0, abs(z) - room))) for z, room in singles]
    both = order_checks.trend_of(arms, arms.place.astype(float), alone=True)
    assert both.p == pytest.approx(min(1.0, 2 * min(found.p, len(each) * min(each))))


def test_the_change_of_a_trend_is_least_squares() -> None:
    arm, reward, _, n_arms = small_log(5)
    arms = sort_rewards(arm, reward, n_arms)
    when = arms.place / len(arm)
    design = np.zeros((len(when), arms.n_arms + 1))
    design[np.arange(len(when)), arms.arm] = 1.0
    design[:, -1] = when
    slope = np.linalg.lstsq(design, arms.reward, rcond=None)[0][-1]
    assert order_checks.trend_of(arms, when).change == pytest.approx(slope * np.ptp(when))


@pytest.mark.parametrize("kind", ["mixed", "binary", "ties"])
def test_neighbours_against_all_reorderings(kind: str) -> None:
    rng = np.random.default_rng(8)
    arm = np.repeat([0, 1, 2], [5, 6, 7])
    rng.shuffle(arm)
    reward = {
        "mixed": rng.normal(size=len(arm)),
        "binary": np.resize([0.0, 1.0, 1.0], len(arm)),
        "ties": np.resize([0.0, 2.0, 1.0, 2.0], len(arm)),
    }[kind]
    arms = sort_rewards(arm, reward, 3)
    places = naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist())
    total = variance = 0.0
    for found in places.values():
        score = naive.scores(reward[found].tolist())
        mean, spread = naive.moments_over_orders(score, naive.neighbour_sum)
        total += naive.neighbour_sum(score) - mean
        variance += spread
    p, correlation = order_checks.neighbours(arms)
    pairs = sum(len(f) - 1 for f in places.values())
    assert correlation == pytest.approx(total / pairs)
    assert p == pytest.approx(norm.sf((total - checks.ALIKE * pairs) / math.sqrt(variance)))


@pytest.mark.parametrize("seed", range(4))
def test_workers_against_their_whole_covariance(seed: int) -> None:
    arm, reward, worker, n_arms = small_log(seed)
    arms = sort_rewards(arm, reward, n_arms)
    places = naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist())
    table = np.array(naive.worker_covariance([worker[f].tolist() for f in places.values()], 4))
    sums, room = np.zeros(4), np.zeros(4)
    for found in places.values():
        score = naive.scores(reward[found].tolist())
        steps = np.array(naive.centred([float(k) for k in range(len(found))]))
        steps /= math.sqrt((steps**2).sum())
        for w, s, step in zip(worker[found], score, steps, strict=True):
            sums[w] += s
            room[w] += LEEWAY * step
    room = np.abs(room) + worker_checks.SLIGHT * np.diag(table)
    length = max(0.0, float(np.linalg.norm(sums) - np.linalg.norm(room)))
    mean, variance = table.trace(), 2 * (table**2).sum()
    freedom = 2 * mean**2 / variance
    together = chi2.sf(length**2 * freedom / mean, freedom)
    z = np.maximum(0, np.abs(sums) - room) / np.sqrt(np.diag(table))
    counted = worker_checks.compare_workers(arms, worker, 4)
    assert counted.p_differ == pytest.approx(min(together, 4 * (2 * norm.sf(z)).min()))


def test_the_covariance_of_workers_is_that_of_all_reorderings() -> None:
    """What the twin's covariance says, seen by trying every order of one arm."""
    score = naive.scores([0.0, 3.0, 1.0, 1.0, 7.0])
    workers = [0, 1, 0, 2, 1]

    def sum_of(w: int) -> float:
        _, variance = naive.moments_over_orders(
            score, lambda order: sum(s for s, who in zip(order, workers, strict=True) if who == w)
        )
        return variance

    table = naive.worker_covariance([workers], 3)
    assert [table[w][w] for w in range(3)] == pytest.approx([sum_of(w) for w in range(3)])


def test_repeating_workers_by_hand() -> None:
    """Two arms, cells of two and more; mean and variance of the squared sums from the table."""
    rng = np.random.default_rng(4)
    arm = np.repeat([0, 1], [9, 11])
    worker = np.concatenate([[0, 0, 0, 1, 1, 2, 3, 3, 4], [0, 0, 1, 1, 1, 1, 2, 3, 4, 4, 4]])
    reward = rng.normal(size=20)
    arms = sort_rewards(arm, reward, 2)
    total = mean = square = 0.0
    for i in (0, 1):
        own = worker[arm == i]
        score = np.array(naive.scores(reward[arm == i].tolist()))
        again = [w for w in range(5) if (own == w).sum() > 1]
        table = np.array(naive.worker_covariance([own.tolist()], 5))[np.ix_(again, again)]
        mean += table.trace()
        square += (table**2).sum()
        total += sum(score[own == w].sum() ** 2 for w in again)
    freedom = mean**2 / square
    expected = chi2.sf(total / checks.MORE_SPREAD * freedom / mean, freedom)
    assert worker_checks.compare_workers(arms, worker, 5).p_repeat == pytest.approx(expected)


def test_many_workers_and_arms_are_taken_by_their_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    arm, reward, _, n_arms = small_log(2)
    worker = np.random.default_rng(0).integers(0, 60, len(arm))
    arms = sort_rewards(arm, reward, n_arms)
    exact = worker_checks.compare_workers(arms, worker, 60)
    monkeypatch.setattr(worker_checks, "MOST", 1)
    rough = worker_checks.compare_workers(arms, worker, 60)
    assert rough.p_differ == pytest.approx(exact.p_differ, rel=0.5)


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_spread_against_its_bound(seed: int) -> None:
    arm, reward, _, n_arms = small_log(seed)
    arms = sort_rewards(arm, 2 * reward, n_arms)
    slopes = noise_checks.SLOPES.tolist()
    squares = {
        i: sum(x * x for x in naive.centred((2 * reward[found] / noise_checks.CLOSE).tolist()))
        for i, found in naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist()).items()
    }
    numbers = {i: int((arm == i).sum()) for i in squares}
    together = naive.sub_gaussian_bound(sum(squares.values()), sum(numbers.values()), slopes)
    each = [naive.sub_gaussian_bound(squares[i], numbers[i], slopes) for i in squares]
    found = noise_checks.gaussian_spread(arms, 1.0)
    assert found.far == 0
    assert found.p == pytest.approx(min(1.0, 3 * min(together, len(each) * min(each))))
    freedom = sum(numbers.values()) - len(numbers)
    assert found.ratio == pytest.approx(noise_checks.CLOSE**2 * sum(squares.values()) / freedom)


@pytest.mark.parametrize("bet", noise_checks.BETS)
def test_the_least_wealth_is_found(bet: float) -> None:
    rng = np.random.default_rng(1)
    arm = np.repeat(np.arange(5), 30)
    reward = np.concatenate([rng.standard_t(2, 30) * scale for scale in (0.3, 1, 2, 5, 9)])
    arms = sort_rewards(arm, reward, 5)
    found = noise_checks._least_wealth(arms, 1.5, bet)
    grid = [naive.least_log_wealth(reward[arm == i].tolist(), 1.5, bet) for i in range(5)]
    assert (found <= np.array(grid) + 0.02).all()
    np.testing.assert_allclose(found, grid, atol=0.05)


def test_the_shape_uses_students_t_of_every_reward() -> None:
    arm, reward, _, n_arms = small_log(0)
    arms = sort_rewards(arm, reward, n_arms)
    shares, extreme = [], []
    for found in naive.by_arm(arm.tolist(), checks.FEWEST, reward.tolist()).values():
        values = naive.studentized(reward[found].tolist())
        shares += [t.cdf(value, len(found) - 2) for value in values]
        extreme += [2 * t.sf(abs(value), len(found) - 2) for value in values]
    hits = np.bincount([int(share * 10) for share in shares], minlength=10)
    distance = ((hits - len(shares) / 10) ** 2 / (len(shares) / 10)).sum()
    from scipy.stats import ncx2

    shape = ncx2.sf(distance, 9, len(shares) * noise_checks.TOO_SMALL**2)
    expected = min(1.0, 2 * min(shape, len(shares) * min(extreme)))
    assert noise_checks.gaussian_shape(arms).p == pytest.approx(expected)


def test_overtaking_is_counted_per_arm() -> None:
    rng = np.random.default_rng(2)
    arm = rng.integers(0, 4, 60)
    ticket = np.where(rng.random(60) < 0.2, 0, rng.permutation(60) + 1)
    assert checks.overtaken(arm, ticket) == naive.overtaken(arm.tolist(), ticket.tolist())


def test_nothing_to_look_at_is_no_alarm() -> None:
    nothing = sort_rewards(np.zeros(0, dtype=np.int64), np.zeros(0), 3)
    assert not nothing.is_enough
    alike = sort_rewards(np.repeat([0, 1], 40), np.ones(80), 2)
    assert not alike.is_enough
