"""Common alternatives, on a question whose answer is known.

`--peeking` counts how often a 95 % interval for a fixed sample size excludes the truth at some
look, compared with an interval that holds at all times. Without it, four ways answer the question
"which of 30 arms lie above median + 3 x 1.4826 x MAD":

- an A/B/n test with a look after every round;
- a bandit that finds the best m;
- an outlier detector on averages (the rule of PyOD's MAD);
- standout.

All get the same noise, Gaussian with a known sigma of 1. Each run has its own seed. The printed
commands reproduce every number.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from standout import MAD_SCALE, Problem, simulate
from standout.core import robust
from standout.core.noise import Gaussian
from standout.simulation.instances import FixedFamily, make_instance

Floats = NDArray[np.float64]
K, DELTA, SIGMA = 3.0, 0.05, 1.0
MOST_ROUNDS = 4000
"""A test that is not over after this many rounds is given up, and counts as not right."""
LOOKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


def means() -> Floats:
    """27 arms from a bell, one just below the threshold, and two that stand out."""
    bell = [NormalDist().inv_cdf((i + 0.5) / 27) for i in range(27)]
    return np.array([*bell, 2.5, 4.5, 5.5])


def threshold(values: Floats) -> float:
    """Of the true means, or of averages."""
    return float(robust.threshold(values, K * MAD_SCALE))


def fixed_time(pulls: Floats, alpha: float) -> Floats:
    """Half the width of the textbook's interval, made for one look."""
    return np.asarray(NormalDist().inv_cdf(1 - alpha / 2) * SIGMA / np.sqrt(pulls))


def all_times(pulls: Floats, alpha: float, rho: float = 15.0) -> Floats:
    """Half the width of an interval that holds at all numbers of pulls (Robbins 1970)."""
    wide = (pulls + rho) / pulls**2 * np.log((pulls + rho) / (rho * alpha**2))
    return np.asarray(SIGMA * np.sqrt(wide))


def peeking(runs: int, seed: int) -> list[tuple[int, float, float]]:
    """Shares of runs in which the truth lay outside at some look up to the n-th pull."""
    rng = np.random.default_rng(seed)
    pulls = np.arange(1.0, max(LOOKS) + 1)
    first = {"fixed": np.full(runs, np.inf), "all": np.full(runs, np.inf)}
    for run in range(runs):
        average = np.abs(np.cumsum(rng.standard_normal(len(pulls))) / pulls)
        for name, radius in (("fixed", fixed_time), ("all", all_times)):
            outside = np.flatnonzero(average > radius(pulls, DELTA))
            if len(outside):
                first[name][run] = outside[0] + 1
    return [(n, *(float(np.mean(first[name] <= n)) for name in ("fixed", "all"))) for n in LOOKS]


def draw(lines: list[tuple[int, float, float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "standout"
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    looks = [line[0] for line in lines]
    ax.plot(looks, [line[1] for line in lines], "^-", color="#b3261e", label="95 % for one look")
    ax.plot(looks, [line[2] for line in lines], "o-", color="#1f5f8b", label="95 % at all times")
    ax.axhline(DELTA, color="#888", lw=1, ls="--")
    ax.text(1500, DELTA + 0.015, "promised: .05", fontsize="small", color="#555")
    ax.set(xscale="log", xlabel="pulls, with a look after each", ylim=(0, None))
    ax.set_ylabel("runs that excluded the truth")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


Player = Callable[[np.random.Generator], tuple[set[int], float]]


def ab_test(alpha: float, radius: Callable[[Floats, float], Floats]) -> Player:
    """All arms alike, a look after every round; an arm is decided when its interval leaves the
    threshold of the averages, and stays so. Over when all are."""

    def play(rng: np.random.Generator) -> tuple[set[int], float]:
        truth = means()
        totals = np.zeros(len(truth))
        verdict = np.zeros(len(truth), dtype=int)
        for pulls in range(1, MOST_ROUNDS + 1):
            totals += rng.normal(truth, SIGMA)
            if pulls < 5:
                continue
            average = totals / pulls
            line, half = threshold(average), radius(np.array(float(pulls)), alpha)
            verdict[(verdict == 0) & (average - half > line)] = 1
            verdict[(verdict == 0) & (average + half < line)] = -1
            if verdict.all():
                return set(np.flatnonzero(verdict == 1).tolist()), float(pulls * len(truth))
        return set(), float(MOST_ROUNDS * len(truth))

    return play


def best_of(wanted: int) -> Player:
    """LUCB (Kalyanakrishnan, Tewari, Auer & Stone 2012) for the best `wanted`, intervals that hold
    at all times; pulls two arms by a fiftieth of what they have."""

    def play(rng: np.random.Generator) -> tuple[set[int], float]:
        truth = means()
        pulls = np.full(len(truth), 5.0)
        totals = rng.normal(truth * pulls, SIGMA * np.sqrt(pulls))
        while pulls.sum() < MOST_ROUNDS * len(truth):
            average, half = totals / pulls, all_times(pulls, DELTA / len(truth))
            order = np.argsort(-average)
            top, rest = order[:wanted], order[wanted:]
            weak = top[np.argmin((average - half)[top])]
            strong = rest[np.argmax((average + half)[rest])]
            if (average - half)[weak] > (average + half)[strong]:
                return set(top.tolist()), float(pulls.sum())
            for arm in (weak, strong):
                more = max(1.0, pulls[arm] // 50)
                totals[arm] += rng.normal(truth[arm] * more, SIGMA * np.sqrt(more))
                pulls[arm] += more
        return set(), float(pulls.sum())

    return play


def detector(each: int) -> Player:
    """This many pulls of every arm, then the rule on the averages, once."""

    def play(rng: np.random.Generator) -> tuple[set[int], float]:
        truth = means()
        average = rng.normal(truth, SIGMA / np.sqrt(each))
        return set(np.flatnonzero(average > threshold(average)).tolist()), float(each * len(truth))

    return play


PLAYERS: dict[str, Player] = {
    "A/B/n, 95 % each, looked at": ab_test(DELTA, fixed_time),
    "A/B/n, Bonferroni, looked at": ab_test(DELTA / 30, fixed_time),
    "best 2 (the true number)": best_of(2),
    "best 3 (one too many)": best_of(3),
    "MAD on averages of 10": detector(10),
    "MAD on averages of 50": detector(50),
    "MAD on averages of 250": detector(250),
}


PROMISES = ("errors=0.5", "errors=0.2")
"""Of probable answers, which are estimates ..."""
MOST_PROBABLE = 40
"""... and of which so many runs have to do."""


def compare(runs: int, seed: int) -> None:
    truth = means()
    line = threshold(truth)
    right = set(np.flatnonzero(truth > line).tolist())
    assert right == {28, 29}
    print(f"30 arms, threshold {line:.2f}, nearest arm 2.5; outliers 4.5 and 5.5; {runs} runs\n")
    print(f"{'':<30} {'wrong answers':>13} {'wrong arms':>11} {'mean pulls':>11}  says it is sure")
    for name, play in PLAYERS.items():
        answers = [play(np.random.default_rng([seed, run])) for run in range(runs)]
        wrong = [len(found ^ right) for found, _ in answers]
        pulls = np.mean([number for _, number in answers])
        says = "no" if name.startswith("MAD") else "yes"
        share = np.mean(np.array(wrong) > 0)
        print(f"{name:<30} {share:12.1%} {np.mean(wrong):12.2f} {pulls:11,.0f}  {says}")
    family = FixedFamily(make_instance("here", truth, Gaussian(SIGMA)), default_k=K)
    problem = Problem(noise=Gaussian(SIGMA), k=K, delta=DELTA)
    for result in simulate(family, ["focus"], problem, runs=runs, seed=seed, jobs=1).results:
        values = result.to_dict()
        name = f"standout ({result.method})"
        share = result.wrong / runs
        print(f"{name:<30} {share:12.1%} {'':>12} {values['pulls_mean']:11,.0f}  proved")
    for promise in PROMISES:
        print_probable(family, problem, promise, min(runs, MOST_PROBABLE), seed)


def print_probable(
    family: FixedFamily, problem: Problem, promise: str, runs: int, seed: int
) -> None:
    """A line for runs that end on an estimate."""
    method = "focus:goal=anytime"
    (result,) = simulate(family, method, problem, runs=runs, seed=seed, until=promise).results
    wrong = np.mean([record.wrong_arms > 0 for record in result.records])
    arms = np.mean([record.wrong_arms for record in result.records])
    expected, _ = result.wrong_arms()
    print(
        f"{f'standout --until {promise}':<30} {wrong:12.1%} {arms:12.2f} "
        f"{result.pulls.mean():11,.0f}  no, {expected:.2f} wrong arms expected ({runs} runs)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peeking", action="store_true", help="intervals that are looked at again")
    parser.add_argument("--picture", type=Path, help="draw that to this file")
    parser.add_argument("--means", type=Path, help="only write the means, for standout plan")
    given = parser.parse_args()
    if given.means:
        rows = [f"arm {place},{mean!r}" for place, mean in enumerate(means().tolist())]
        given.means.write_text("arm,mean\n" + "\n".join(rows) + "\n", encoding="utf-8")
        return
    print("$ python benchmarks/alternatives.py", shlex.join(sys.argv[1:]))
    if not given.peeking:
        compare(given.runs, given.seed)
        return
    lines = peeking(given.runs, given.seed)
    print(f"{'pulls':>7} {'for one look':>13} {'at all times':>13}")
    for n, fixed, always in lines:
        print(f"{n:7,} {fixed:13.1%} {always:13.1%}")
    if given.picture:
        draw(lines, given.picture)


if __name__ == "__main__":
    main()
