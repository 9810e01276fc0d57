"""Time per pull and per round of every method, against the same step in plain NumPy.

    python benchmarks/bench_speed.py [--quick] [--against TREE]

Both run in this process, on the same means and the same initial rewards (20 pulls per arm). Times
are processor times, the best of several stretches, which reduces the effect of other work on the
machine. A second table scales ROAILUCB up to a million arms, each size in its own process, with its
peak memory.

With --against, the compiled steps of another checkout of standout and of this one take turns; the
ratio is theirs to ours.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from numpy_steps import Floats, Ints, NumpyRun

from standout.core.engine import end_round
from standout.core.methods import METHODS
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, ROUNDS, TOUCHED, State
from standout.simulation import Instance, default_problem, parse_instance
from standout.simulation.play import play
from standout.simulation.rewards import rewards_of

WARM_UP = 20
SIZES = (17, 105, 1001, 10001)
LARGE = (1_000, 10_000, 100_000, 1_000_000)
NO_CHECKPOINTS = np.zeros(0, dtype=np.int64)
BARS = "bars: roai-lucb-released at n = 105 at least 30x; slope at most 1; below 1 GiB"


def family(n: int, noise: str) -> str:
    outliers = max(1, min(5, n // 10))
    return f"normal:n={n},outliers={outliers},noise={noise},seed=1"


def warm_up(instance: Instance) -> tuple[Ints, Floats]:
    """Pulls and sums of an equal start."""
    rng = np.random.default_rng(1)
    pulls = np.full(instance.n_arms, WARM_UP)
    if instance.noise.name == "bernoulli":
        return pulls, rng.binomial(WARM_UP, instance.means).astype(np.float64)
    spread = instance.noise.sigma / math.sqrt(WARM_UP)
    return pulls, WARM_UP * rng.normal(instance.means, spread)


def load(state: State, pulls: Ints, sums: Floats) -> None:
    n = len(pulls)
    state.pulls[:] = pulls
    state.sums[:] = sums
    state.quota[:] = pulls
    state.counters[PULLS] = pulls.sum()
    state.touched[:n] = np.arange(n)
    state.is_touched[:] = True
    state.counters[TOUCHED] = n


def best_time(
    stretch: Callable[[], tuple[int, int]], seconds: float, prepare: Callable[[], None]
) -> tuple[float, float]:
    """Least seconds per pull and per round over stretches of work that fill `seconds`."""
    per_pull = per_round = math.inf
    end = time.process_time() + seconds
    while per_round == math.inf or time.process_time() < end:
        prepare()
        begin = time.process_time()
        pulls, rounds = stretch()
        elapsed = time.process_time() - begin
        per_pull = min(per_pull, elapsed / pulls)
        per_round = min(per_round, elapsed / rounds)
    return per_pull, per_round


def compiled(name: str, instance: Instance, seconds: float) -> tuple[float, float]:
    method = METHODS[name]
    problem = default_problem(parse_instance(instance.name))
    n = instance.n_arms
    spec, rewards = method.spec(problem, n), rewards_of(instance.means, instance.noise, None)
    guesses = np.zeros((0, n), dtype=np.bool_)
    start = warm_up(instance)
    rounds = max(1, min(1000, 200_000 // n))

    def prepare() -> None:
        """Begin again: every stretch is the same work, however many there is time for."""
        nonlocal state, reward_rng, rule_rng
        reward_rng, rule_rng = np.random.default_rng(2), np.random.default_rng(3)
        state = start_state(problem, method, n, rule_rng)
        load(state, *start)
        end_round(spec, state)

    def stretch() -> tuple[int, int]:
        pulls, played = int(state.counters[PULLS]), int(state.counters[ROUNDS])
        play(
            spec, state, rewards, NO_LIMIT, rounds, NO_CHECKPOINTS, 0, guesses, reward_rng, rule_rng
        )  # fmt: skip
        return int(state.counters[PULLS]) - pulls, int(state.counters[ROUNDS]) - played

    reward_rng, rule_rng = np.random.default_rng(2), np.random.default_rng(3)
    state = start_state(problem, method, n, rule_rng)
    prepare()
    stretch()
    return best_time(stretch, seconds, prepare)


def plain(name: str, instance: Instance, seconds: float) -> tuple[float, float]:
    problem = default_problem(parse_instance(instance.name))
    rng = np.random.default_rng(2)
    means, sigma = instance.means, instance.noise.sigma
    if instance.noise.name == "bernoulli":
        run = NumpyRun(
            name, problem, lambda arms: rng.random(len(arms)) < means[arms], *warm_up(instance)
        )
    else:
        run = NumpyRun(
            name, problem, lambda arms: rng.normal(means[arms], sigma), *warm_up(instance)
        )
    rounds = max(1, min(100, 50_000 // instance.n_arms))

    def stretch() -> tuple[int, int]:
        return sum(run.step() for _ in range(rounds)), rounds

    stretch()
    return best_time(stretch, seconds, lambda: None)


def compare(sizes: tuple[int, ...], seconds: float) -> None:
    heads = ("us/pull", "us/round", "numpy", "ratio")
    print(f"{'method':20} {'noise':9} {'n':>6} " + " ".join(f"{head:>10}" for head in heads))
    for noise in ("bernoulli", "gaussian"):
        for n in sizes:
            instance = parse_instance(family(n, noise)).draw(np.random.default_rng(0))
            for name, method in METHODS.items():
                if method.needs_bounded_rewards and noise == "gaussian":
                    continue
                per_pull, per_round = compiled(name, instance, seconds)
                row = f"{name:20} {noise:9} {n:6} {per_pull * 1e6:10.3f} {per_round * 1e6:10.2f}"
                if hasattr(NumpyRun, "_" + name.replace("-", "_")):
                    _, there = plain(name, instance, seconds)
                    row += f" {there * 1e6:10.1f} {there / per_round:9.1f}x"
                print(row, flush=True)


def scale(sizes: tuple[int, ...]) -> None:
    print(f"\n{'method':20} {'n':>8} {'us/round':>12} {'slope':>6} {'peak MiB':>9}")
    for name in ("roai-lucb-released", "roai-lucb"):
        before, last = math.nan, 1
        for n in sizes:
            command = [sys.executable, __file__, "--one", name, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            per_round, peak = (float(part) for part in done.stdout.split())
            slope = math.log(per_round / before) / math.log(n / last)
            print(f"{name:20} {n:8} {per_round * 1e6:12.1f} {slope:6.2f} {peak:9.0f}", flush=True)
            before, last = per_round, n


def one(name: str, n: int) -> None:
    """Seconds per round and the peak memory of this process."""
    instance = parse_instance(family(n, "bernoulli")).draw(np.random.default_rng(0))
    _, per_round = compiled(name, instance, 1.0)
    print(per_round, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


class Tree:
    """A process that measures with the standout of one source tree."""

    def __init__(self, source: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source / "src")},
        )

    def per_round(self, name: str, n: int, noise: str, seconds: float) -> float:
        """Seconds per round, the best of a stretch of so many seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{name} {n} {noise} {seconds}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answer() -> None:
    """Measure what standard input asks for, a line each."""
    for line in sys.stdin:
        name, n, noise, seconds = line.split()
        if name not in METHODS:
            print(math.nan, flush=True)
            continue
        instance = parse_instance(family(int(n), noise)).draw(np.random.default_rng(0))
        print(compiled(name, instance, float(seconds))[1], flush=True)


def against(other: Path, sizes: tuple[int, ...], seconds: float, turns: int) -> None:
    """Both trees in turns, the best of each; the ratio is theirs to ours."""
    trees = [Tree(Path(__file__).resolve().parents[1]), Tree(other.resolve())]
    print(f"{'method':20} {'noise':9} {'n':>6} {'ours us':>10} {'theirs us':>10} {'ratio':>6}")
    try:
        for noise in ("bernoulli", "gaussian"):
            for n in sizes:
                for name, method in METHODS.items():
                    if method.needs_bounded_rewards and noise == "gaussian":
                        continue
                    times = [
                        [tree.per_round(name, n, noise, seconds) * 1e6 for tree in trees]
                        for _ in range(turns)
                    ]
                    ours, theirs = (min(column) for column in zip(*times, strict=True))
                    if math.isnan(theirs):
                        continue  # A method that the other tree does not have.
                    row = f"{name:20} {noise:9} {n:6} {ours:10.2f} {theirs:10.2f}"
                    print(f"{row} {theirs / ours:6.2f}", flush=True)
    finally:
        for tree in trees:
            tree.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter stretches")
    parser.add_argument("--one", nargs=2, metavar=("METHOD", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--against", type=Path, metavar="TREE", help="another checkout")
    given = parser.parse_args()
    if given.answer:
        answer()
    elif given.against:
        against(given.against, SIZES[:2] if given.quick else SIZES, 0.1, 5)
    elif given.one:
        one(given.one[0], int(given.one[1]))
    elif given.quick:
        compare(SIZES[:2], 0.05)
        scale(LARGE[:3])
        print(BARS)
    else:
        compare(SIZES, 0.5)
        scale(LARGE)
        print(BARS)


if __name__ == "__main__":
    main()
