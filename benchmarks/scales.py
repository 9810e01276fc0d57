"""What it saves to average an interval over several scales, and to bet on bounded rewards.

The first table plays `focus` with one scale and with several to the end, where the one scale
fits and where it does not. With `--joint` it plays `focus` and `joint`, with `--unknown` or
`--heavy` these on Fig. 1 with a scale that they are not told, or with heavy tails. The second
(`--bets`) compares the widths of two intervals for bounded rewards on the same rewards.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from standout import Problem, simulate
from standout.core import robust
from standout.core.compile import kernel
from standout.core.intervals import arm_interval, count_reward
from standout.core.methods import parse_method
from standout.core.noise import parse_noise
from standout.core.problem import MAD_SCALE
from standout.core.run import start_state
from standout.core.typing import Floats
from standout.simulation import InstanceFamily, parse_instance
from standout.simulation.instances import FixedFamily, Instance, NumberedArms

from efficiency import small_rates  # isort: skip

METHODS = {"one scale": "focus:scales=1", "several": "focus"}
JOINT = {"focus": "focus", "joint": "joint", "combined": "combined"}
ENDS = {"focus": "focus", "joint": "joint"}
LONG = 0.05
"""Part of --runs for instances that take millions of pulls."""

MANY = {"joint": "joint", "combined": "combined"}
Cases = Iterator[tuple[InstanceFamily, float]]
Law = Callable[[np.random.Generator, int], Floats]
LAWS: dict[str, Law] = {
    "uniform": lambda rng, s: rng.random(s),
    "0 or 1, p = .5": lambda rng, s: (rng.random(s) < 0.5).astype(float),
    "0 or 1, p = .1": lambda rng, s: (rng.random(s) < 0.1).astype(float),
    "0 or 1, p = .02": lambda rng, s: (rng.random(s) < 0.02).astype(float),
    "0, ½ or 1": lambda rng, s: rng.integers(0, 3, s) / 2,
    "Beta(2, 8)": lambda rng, s: rng.beta(2, 8, s),
    "Beta(50, 50)": lambda rng, s: rng.beta(50, 50, s),
}
MARKS = (200, 1_000, 10_000)
LONGEST = 40_000
ARMS = 17


def like_fig1(k: float, gap: float, noise: str, sigma: float) -> InstanceFamily:
    """Fig. 1's normal means with another noise and k, and so another threshold."""
    normal = np.linspace(0.0, 2.0, 15)
    theta = robust.threshold(np.concatenate([normal, [1e6, 1e6]]), k * MAD_SCALE)
    means = np.concatenate([normal, [theta + gap, theta + gap + 0.2]])
    name = f"k = {k:g}, gap {gap:g}, sigma {sigma:g}"
    sigmas = np.full(means.size, sigma) if noise == "gaussian" else None
    if sigmas is not None:
        name += " unknown"
    instance = Instance(name, NumberedArms(means.size), means, parse_noise(noise), sigmas)
    return FixedFamily(instance, default_k=k)


def cases() -> Cases:
    """The instances, and the part of --runs that each is worth."""
    for gap in ("0.6", "0.4", "0.2"):
        yield parse_instance(f"fig1:gap={gap}"), 1.0
    yield like_fig1(2, 0.4, "gaussian:0.05", 0.05), 1.0
    yield like_fig1(2, 0.4, "gaussian", 0.05), 1.0
    yield like_fig1(20, 4, "gaussian:0.5", 0.5), 1.0
    yield like_fig1(50, 10, "gaussian:0.5", 0.5), 1.0
    yield like_fig1(50, 10, "gaussian:0.05", 0.05), 1.0
    yield small_rates(), LONG
    yield parse_instance("wine"), LONG


def unknown() -> Cases:
    """Fig. 1, but that no method knows sigma."""
    for gap in (0.6, 0.4, 0.2):
        yield like_fig1(2, gap, "gaussian", 0.5), 1.0


def heavy() -> Cases:
    """Fig. 1 with rewards of Student's t with 3 degrees of freedom, of the same sigma."""
    for gap in (0.6, 0.4, 0.2):
        yield like_fig1(2, gap, "heavy:0.5", 0.5), 1.0


def random_questions(seed: int, count: int = 10) -> Cases:
    """Normal means of 50 to 150 arms with a random k; none of them is near the threshold."""
    rng = np.random.default_rng(seed)
    while count > 0:
        means = rng.normal(0.0, 1.0, int(rng.integers(50, 151)))
        k = float(rng.uniform(1.5, 2.5))
        off = means - robust.threshold(means, k * MAD_SCALE)
        if abs(off).min() < 0.1 or not (off > 0.0).any():
            continue
        name = f"{means.size} arms, k = {k:.2f}, gap {abs(off).min():.2f}"
        noise = parse_noise("gaussian:0.5")
        yield FixedFamily(Instance(name, NumberedArms(means.size), means, noise), default_k=k), 1.0
        count -= 1


def compare(methods: dict[str, str], runs: int, seed: int, jobs: int, made: Cases) -> None:
    """Methods by their titles, and how many times fewer pulls the last takes than the first."""
    print(f"| instance | {' | '.join(methods)} | fewer | wrong |\n|---|---|---|---|---|")
    for family, part in made:
        count = max(2, round(part * runs))
        found = simulate(family, list(methods.values()), runs=count, seed=seed, jobs=jobs).results
        means = [result.pulls.mean() for result in found]
        cells = [f"{r.pulls.mean():,.0f} ± {r.pulls.std() / count**0.5:,.0f}" for r in found]
        wrong = sum(result.wrong for result in found)
        print(
            f"| {family.name} | {' | '.join(cells)} | {means[0] / means[-1]:.2f}× | {wrong} |",
            flush=True,
        )


@kernel("interval")
def widths(spec, state, rewards, found):  # type: ignore[no-untyped-def]
    """Add the interval's width after each reward to `found`."""
    for i in range(len(rewards)):
        count_reward(spec, state, 0, rewards[i])
        lower, upper = arm_interval(spec, state, 0)
        found[i] += upper - lower


def mean_widths(interval: str, law: Law, runs: int, seed: int) -> Floats:
    problem = Problem(noise="bounded:0,1", k=2, delta=0.05)
    method = parse_method(f"focus:interval={interval}")
    found = np.zeros(LONGEST)
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        state = start_state(problem, method, ARMS, rng)
        widths(method.spec(problem, ARMS), state, law(rng, LONGEST), found)
    return found / runs


def compare_bets(runs: int, seed: int) -> None:
    heads = " | ".join(f"{mark:,} rewards" for mark in MARKS)
    print(f"| rewards | {heads} |\n|---|{'---|' * len(MARKS)}")
    for name, law in LAWS.items():
        before = mean_widths("bernstein", law, runs, seed)
        after = mean_widths("betting", law, runs, seed)
        needed = [1 + int(np.argmax(after <= before[mark - 1])) for mark in MARKS]
        cells = [f"{mark / pulls:.2f}×" for mark, pulls in zip(MARKS, needed, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--joint", action="store_true", help="focus and joint")
    parser.add_argument("--unknown", action="store_true", help="focus and joint, sigma unknown")
    parser.add_argument("--heavy", action="store_true", help="focus and joint, heavy tails")
    parser.add_argument("--random", action="store_true", help="joint and combined, normal means")
    parser.add_argument("--bets", action="store_true", help="intervals for bounded rewards")
    chosen = parser.parse_args()
    if chosen.bets:
        compare_bets(max(1, chosen.runs // 20), chosen.seed)
    else:
        methods = JOINT if chosen.joint else METHODS
        made = cases()
        if chosen.unknown:
            methods, made = ENDS, unknown()
        if chosen.heavy:
            methods, made = ENDS, heavy()
        if chosen.random:
            methods, made = MANY, random_questions(chosen.seed)
        compare(methods, chosen.runs, chosen.seed, chosen.jobs, made)


if __name__ == "__main__":
    main()
