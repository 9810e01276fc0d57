"""The joint certificate against its definition: brute force, random alternatives, random truths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import Problem
from standout.core import robust
from standout.core.compile import IS_COMPILED
from standout.core.joint import bounds
from standout.core.joint.costs import (
    CENTRE,
    LEAST,
    _cost,
    cost_at,
    count_scales,
    find_least,
    log_part,
    scaled_rho,
    use_scale,
)
from standout.core.joint.region import joint_limit
from standout.core.kinds import Verdict
from standout.core.prior import PriorFacts
from standout.core.run import Run
from tests.naive import joint as naive

pytestmark = pytest.mark.kernel
as_python = pytest.mark.skipif(
    IS_COMPILED, reason="runs with the kernels as plain Python: three families to compile otherwise"
)


def told(problem: Problem, means: np.ndarray, pulls: np.ndarray, seed: int) -> tuple[Run, list]:
    """A run that was told so many rewards of each arm, and the rewards."""
    rng = np.random.default_rng(seed)
    run = Run(problem, [str(i) for i in range(len(means))], "joint", rng)
    rewards = []
    for arm, (mean, count) in enumerate(zip(means, pulls, strict=True)):
        noise = problem.noise.spec()
        if noise == "bernoulli":
            drawn = rng.binomial(1, mean, count).astype(float)
        elif noise.startswith("bounded"):
            drawn = rng.beta(4 * mean, 4 * (1 - mean), count)
        else:
            drawn = rng.normal(mean, 0.5, count)
        rewards.append(drawn)
        for reward in drawn:
            run.tell(str(arm), float(reward))
    run.update()
    return run, rewards


def naive_joint(run: Run, rewards: list, means: np.ndarray) -> float:
    noise, spec = run.problem.noise.spec(), run.spec
    rho = scaled_rho(spec, run.state)
    values = []
    for drawn, mean in zip(rewards, means, strict=True):
        if noise == "bernoulli":
            values.append(naive.bernoulli(drawn, mean, rho))
        elif noise.startswith("bounded"):
            values.append(naive.betting(drawn, mean))
        elif noise.startswith("heavy"):
            values.append(naive.heavy_tails(drawn, mean, spec.alpha, spec.sigma, rho))
        elif noise == "gaussian":
            values.append(naive.unknown_scale(drawn, mean, rho))
        else:
            values.append(naive.gaussian(drawn, mean, spec.sigma, rho))
    return naive.joint(values, spec.share)


NOISES = ("gaussian:0.5", "bernoulli", "bounded:0,1", "gaussian", "heavy:0.5")


@as_python
@pytest.mark.parametrize("noise", NOISES)
def test_costs_are_those_of_the_definition(noise: str) -> None:
    problem = Problem(noise=noise, k=2)
    means = np.array([0.2, 0.4, 0.5, 0.6, 0.9])
    run, rewards = told(problem, means, np.array([5, 8, 13, 21, 34]), 3)
    find_least(run.spec, run.state, 0)
    rng = np.random.default_rng(4)
    for _ in range(20):
        there = rng.uniform(0.02, 0.98, 5)
        found = sum(cost_at(run.spec, run.state, 0, arm, there[arm]) for arm in range(5))
        wanted = naive_joint(run, rewards, there)
        if noise.startswith(("bounded", "heavy")):  # one of two bets is left out
            assert found <= wanted + 1e-9
        else:
            assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("n_arms", [3, 4, 17, 300])
def test_what_the_bet_does_not_know_is_paid_for(noise: str, n_arms: int) -> None:
    # The arms' own intervals, and the bets at all scales, have delta together.
    problem = Problem(noise=noise, delta=0.1)
    run = Run(problem, [str(i) for i in range(n_arms)], "joint", np.random.default_rng(0))
    spec, state = run.spec, run.state
    assert spec.joint_delta + spec.alpha * n_arms == pytest.approx(problem.delta)
    parts = []
    for scale in range(count_scales(spec)):
        use_scale(state, scale)
        parts.append(math.exp(log_part(spec, state)))
    assert sum(parts) == pytest.approx(1.0)
    assert 0 < spec.share < 1


@as_python
@pytest.mark.parametrize("noise", NOISES)
def test_costs_grow_away_from_the_estimate(noise: str) -> None:
    run, _ = told(Problem(noise=noise, k=2), np.full(4, 0.3), np.array([3, 10, 40, 200]), 5)
    find_least(run.spec, run.state, 0)
    for arm in range(4):
        centre = run.state.joint[CENTRE, arm]
        for away in (1, -1):
            last = run.state.joint[LEAST, arm]
            for off in np.geomspace(1e-6, 1, 400):
                cost = cost_at(run.spec, run.state, 0, arm, centre + away * off)
                assert cost >= last - 1e-6
                last = cost


@as_python
@pytest.mark.parametrize("noise", NOISES)
def test_far_away_a_cost_is_at_most_what_it_is(noise: str) -> None:
    # Where it is not worked out any more it is large, and never too large.
    means, pulls = np.array([0.1, 0.5, 0.7, 0.9]), np.array([2000, 700, 300, 1500])
    run, _ = told(Problem(noise=noise, k=2), means, pulls, 6)
    spec, state = run.spec, run.state
    find_least(spec, state, 0)
    cut = 0
    for arm in range(4):
        for place in np.linspace(0.01, 0.99, 99):
            found, wanted = cost_at(spec, state, 0, arm, place), _cost(spec, state, arm, place)
            assert found == wanted or 40 <= found <= wanted
            cut += found != wanted
    assert cut > 20


@as_python
def test_other_rewards_of_the_same_number_are_seen() -> None:
    # What was found for an arm belongs to its rewards, not to their number.
    run, _ = told(Problem(noise="gaussian:0.5", k=2), np.full(4, 0.3), np.full(4, 20), 8)
    find_least(run.spec, run.state, 0)
    run.state.sums[2] += 5.0
    find_least(run.spec, run.state, 0)
    centre = run.state.origin[2] + run.state.sums[2] / 20
    assert run.state.joint[CENTRE, 2] == pytest.approx(centre)


@as_python
def test_means_that_are_known_are_never_beside_their_places() -> None:
    # Rounding of m - d or m + F d must not make the truth itself impossible.
    rng = np.random.default_rng(41)
    for _ in range(60):
        n = int(rng.integers(3, 9))
        means = np.round(rng.normal(0, 1, n) * rng.choice([1, 100]), 2) / rng.choice([1, 3, 7])
        names = [str(i) for i in range(n)]
        side = str(rng.choice(["high", "low", "both"]))
        problem = Problem(noise="gaussian:0.5", k=float(rng.choice([1, 3])), side=side)
        known = {name: float(means[int(name)]) for name in names[1:]}
        run = Run(problem, names, "joint", rng, given=PriorFacts(known=known))
        for _ in range(3):
            run.tell("0", float(rng.normal(means[0], 0.5)))
        run.update()
        spec, state = run.spec, run.state
        for index, sign in enumerate(state.signs):
            there = sign * means
            m, d = robust.median(there), robust.mad(there)
            find_least(spec, state, index)
            for way in (bounds.OUT, bounds.IN):
                bounds.price_means(spec, state, index, way, m, m, d, d)
                y, z = bounds.tune(state, n, way, -1, 0.0, 0.0)
                found = bounds.bound_of(state, n, way, -1, y, z)
                assert found <= joint_cost(run, index, there) + 1e-9


def random_case(
    rng: np.random.Generator, noises: tuple[str, ...], most: int = 60
) -> tuple[Run, np.ndarray]:
    n = int(rng.integers(3, 9))
    noise = noises[rng.integers(len(noises))]
    means = rng.uniform(0.05, 0.95, n)
    k = float(rng.choice([1.0, 2.0, 4.0]))
    scale = float(rng.choice([0.3, 1.0, 1.4826]))
    tolerance = float(rng.choice([0.0, 0.0, 0.02]))
    side = str(rng.choice(["high", "low", "both"]))
    problem = Problem(noise=noise, k=k, mad_scale=scale, tolerance=tolerance, side=side)
    run, _ = told(problem, means, rng.integers(2, most, n), int(rng.integers(1 << 30)))
    return run, means


def joint_cost(run: Run, side: int, oriented: np.ndarray) -> float:
    find_least(run.spec, run.state, side)
    return sum(
        cost_at(run.spec, run.state, side, arm, float(place)) for arm, place in enumerate(oriented)
    )


@as_python
def test_no_alternative_is_below_the_bound() -> None:
    # Any means, any box around their median and MAD, any multipliers.
    rng = np.random.default_rng(11)
    for _ in range(24):
        run, means = random_case(rng, NOISES)
        spec, state, n = run.spec, run.state, len(means)
        side = int(rng.integers(len(state.signs)))
        factor = float(state.factors[side])
        find_least(spec, state, side)
        for _ in range(6):
            there = state.estimate[side] + rng.normal(0, rng.choice([0.02, 0.2]), n)
            if rng.random() < 0.3:  # ties, and a MAD of 0
                there[: n // 2 + 1] = there[0]
            m, d = robust.median(there), robust.mad(there)
            wide = rng.choice([0.0, 0.01, 0.2], 4) * rng.random(4)
            way = int(rng.integers(2))
            bounds.price_means(
                spec, state, side, way, m - wide[0], m + wide[1], max(0, d - wide[2]), d + wide[3]
            )
            cost = joint_cost(run, side, there)
            y, z = rng.normal(0, 3), abs(rng.normal(0, 3))
            for arm in range(n):
                if naive.is_flipped(there, factor, spec.tolerance, arm, way):
                    found = bounds.bound_of(state, n, way, arm, y, z)
                    assert found <= cost + 1e-9, (way, arm)
                    better = bounds.tune(state, n, way, arm, y, z)
                    assert bounds.bound_of(state, n, way, arm, *better) <= cost + 1e-9
                    assert bounds.bound_of(state, n, way, arm, *better) >= found


@as_python
def test_a_tuned_bound_is_near_the_cheapest_alternative() -> None:
    # By brute force over a fine grid of all means; the bound is not only valid but of use.
    problem = Problem(noise="gaussian:0.5", k=1.0)
    run, _ = told(problem, np.array([0.0, 0.4, 2.0]), np.array([40, 40, 40]), 7)
    spec, state = run.spec, run.state
    grid = np.linspace(-0.8, 2.8, 37)
    find_least(spec, state, 0)
    costs = [[cost_at(spec, state, 0, arm, x) for x in grid] for arm in range(3)]
    best = math.inf
    for i, a in enumerate(grid):
        for j, b in enumerate(grid):
            for k, c in enumerate(grid):
                if c <= robust.threshold([a, b, c], spec_factor := float(state.factors[0])):
                    best = min(best, costs[0][i] + costs[1][j] + costs[2][k])
    assert spec_factor > 1
    find_least(spec, state, 0)
    found = math.inf
    for m in np.linspace(-0.5, 2, 51):
        for d in np.linspace(0, 2, 41):
            bounds.price_means(spec, state, 0, bounds.OUT, m, m, d, d)
            y, z = bounds.tune(state, 3, bounds.OUT, 2, 0.0, 0.0)
            found = min(found, bounds.bound_of(state, 3, bounds.OUT, 2, y, z))
    assert best - 0.25 <= found <= best + 0.1


def is_wrong(run: Run, means: np.ndarray) -> bool:
    """Whether some certified verdict is wrong if these are the means."""
    problem, spec = run.problem, run.spec
    for arm, verdict in enumerate(run.state.verdict):
        if verdict == Verdict.UNDECIDED:
            continue
        is_out = may_be_out = False
        for sign, factor in zip(run.state.signs, run.state.factors, strict=True):
            theta = robust.threshold(sign * means, factor)
            is_out |= bool(sign * means[arm] > theta + problem.tolerance)
            may_be_out |= bool(sign * means[arm] > theta - problem.tolerance)
        if (verdict == Verdict.NORMAL and is_out) or (
            verdict == Verdict.OUTLIER and not may_be_out
        ):
            return True
    assert spec.share > 0
    return False


def test_no_means_of_the_region_contradict_a_verdict() -> None:
    # The logic of the guarantee: while the true means are in the region, all verdicts are right.
    rng = np.random.default_rng(21)
    tried = certified = 0
    cases = 150 if IS_COMPILED else 6
    for _ in range(cases):
        # One update only: a verdict of an earlier one may rest on a region that was smaller.
        run, means = random_case(rng, ("gaussian:0.5",), most=900)
        certified += int((run.state.verdict != 0).sum())
        limit = joint_limit(run.spec, run.state)
        sign = run.state.signs[0]
        for _ in range(30):
            there = run.state.estimate[0] + rng.normal(0, 1, len(means)) * rng.choice(
                [0.02, 0.05, 0.1, 0.2], len(means)
            )
            # Go out along the line until the region's end, where alternatives are.
            for scale in (4.0, 2.0, 1.0, 0.5, 0.25):
                place = run.state.estimate[0] + scale * (there - run.state.estimate[0])
                if joint_cost(run, 0, place) < limit:
                    tried += 1
                    assert not is_wrong(run, sign * place)
                    break
    assert tried > 10 * cases
    assert certified > cases / 2


def cheap_means(
    run: Run, arm: int, way: int, rng: np.random.Generator, tries: int
) -> list[np.ndarray]:
    """Means that put `arm` on the other side and keep all others as near as a greedy choice can."""
    estimate, n = run.state.estimate[0], len(run.arms)
    factor, rank = float(run.state.factors[0]), robust.median_rank(n)
    tolerance = run.spec.tolerance
    middle, spread = robust.median(estimate), robust.mad(estimate)
    found = []
    for _ in range(tries):
        m = middle + rng.normal(0, 0.15)
        d = max(0.0, spread + rng.normal(0, 0.15))
        there = estimate.copy()
        edge = m + factor * d + (tolerance if way else -tolerance)
        there[arm] = max(there[arm], edge + 1e-9) if way else min(there[arm], edge)
        p = int(rng.choice(np.argsort(abs(there - m) + (np.arange(n) == arm) * way * 9)[:2]))
        there[p] = m
        others = [a for a in np.argsort(-there) if a != p]
        high, low = others[: rank - 1], others[rank - 1 :]
        there[high] = np.maximum(there[high], m)
        there[low] = np.minimum(there[low], m)
        away = abs(there - m)
        free = [a for a in np.argsort(-away) if a not in (p, arm)]
        outer = int((away >= d).sum())
        for a in free:
            if way == 0 and outer < rank and away[a] < d:
                there[a] = m + d if a in high else m - d
                outer += 1
        inner = int((abs(there - m) <= d).sum())
        for a in reversed(free):
            if way == 1 and inner < n - rank + 1 and abs(there[a] - m) > d:
                there[a] = m + d if a in high else m - d
                inner += 1
        if naive.is_flipped(there, factor, tolerance, arm, way):
            found.append(there)
    return found


def play_to_the_end(problem: Problem, means: np.ndarray, seed: int) -> tuple[Run, list[int]]:
    """A decided run, and the arms that its last round has decided."""
    rng = np.random.default_rng(seed)
    run = Run(problem, [str(i) for i in range(len(means))], "joint", rng)
    while not run.is_decided:
        open_arms = np.flatnonzero(run.state.verdict == 0)
        for arm, count in run.choose():
            for reward in rng.normal(means[int(arm)], 0.5, count):
                run.tell(arm, float(reward))
        run.update()
    return run, open_arms.tolist()


@pytest.mark.skipif(not IS_COMPILED, reason="whole runs take too long as plain Python")
def test_what_is_certified_has_no_cheap_alternative() -> None:
    # Rejected answers must not be reachable below log(1/delta), however one looks for them:
    # in the round that certifies, when the cheapest are just above.
    rng = np.random.default_rng(31)
    closest = math.inf
    for seed in range(12):
        means = np.concatenate([rng.uniform(0, 1, rng.integers(3, 8)), [3.5]])
        run, arms = play_to_the_end(Problem(noise="gaussian:0.5", k=2), means, seed)
        limit = joint_limit(run.spec, run.state)
        for arm in arms:
            way = bounds.OUT if run.state.verdict[arm] == Verdict.OUTLIER else bounds.IN
            for there in cheap_means(run, arm, way, rng, 3000):
                cost = joint_cost(run, 0, there)
                assert cost >= limit
                closest = min(closest, cost - limit)
    assert closest < 1.5


@pytest.mark.skipif(not IS_COMPILED, reason="whole runs take too long as plain Python")
def test_ties_huge_means_tolerances_and_two_sides() -> None:
    # Nothing breaks down, and wrong answers stay within delta = .3: of 60 runs more than 36 are
    # wrong with probability below 1e-6 if each is with probability .3. The seeds are fixed.
    wrong = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        for side, tolerance in (("both", 0.0), ("high", 0.3)):
            n = int(rng.integers(3, 8))
            means = np.round(rng.normal(0, 2, n) * rng.choice([1, 1e6]), 1)
            if seed % 3 == 0:
                means[: n // 2 + 1] = means[0]
            problem = Problem(noise="gaussian:0.5", k=2, side=side, tolerance=tolerance, delta=0.3)
            run = Run(problem, [str(i) for i in range(n)], "joint", rng, budget=3000)
            while (arm := run.ask()) is not None:
                run.tell(arm, float(rng.normal(means[int(arm)], 0.5)))
            wrong += is_wrong(run, means)
    assert wrong <= 36


@pytest.mark.skipif(not IS_COMPILED, reason="whole runs take too long as plain Python")
def test_known_means_costs_and_extreme_questions() -> None:
    # While the true means are in the region, no verdict is wrong: not a matter of luck.
    inside = certified = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        scale = float(rng.choice([1e-9, 1.0, 1e9]))
        means = rng.normal(0, 2, n)
        if seed % 3 == 0:
            means[: n // 2 + 1] = means[0]
        means = scale * (means + rng.choice([0, 1e3]))
        problem = Problem(
            noise=f"gaussian:{scale:g}",
            k=float(rng.choice([1, 4])),
            mad_scale=float(rng.choice([0.1, 1.4826])),
            side=str(rng.choice(["high", "low", "both"])),
            delta=float(rng.choice([1e-50, 0.05, 0.999])),
            tolerance=scale * float(rng.choice([0, 1])),
        )
        arms = [str(i) for i in range(n)]
        known = {arm: means[int(arm)] for arm in arms if rng.random() < 0.2}
        costs = {arm: float(rng.choice([1e-12, 1, 1e12])) for arm in arms}
        given = PriorFacts(known=known, costs=costs)
        run = Run(problem, arms, "joint", rng, budget=200, given=given)
        limit, sign, is_inside = math.log(1 / run.spec.joint_delta), run.state.signs[0], True
        while chosen := run.choose():
            for arm, count in chosen:
                for reward in rng.normal(means[int(arm)], scale, count):
                    run.tell(arm, float(reward))
            run.update()
            is_inside = is_inside and joint_cost(run, 0, sign * means) < limit
            assert not (is_inside and is_wrong(run, means)), seed
        inside += is_inside
        certified += int((run.state.verdict != 0).sum())
    assert inside > 8
    assert certified > 24
