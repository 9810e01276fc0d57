"""The pulls that each part of `focus` saves, and its error before the certificate.

The first table plays methods to the end, each with one more difference from ROAILUCB. It compares
them with two references: the same stopping rule with noise-free rewards (each reward is its arm's
mean), and the information limit, which no method can beat. The second table has the error of the
best guess after given numbers of pulls, the third (`--table decided`) the number of certain arms.
The printed commands reproduce every number.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from standout import simulate
from standout.core.methods import parse_method
from standout.core.noise import Bernoulli
from standout.core.run import NO_LIMIT, start_state
from standout.core.state import PULLS, UNDECIDED
from standout.simulation import InstanceFamily, default_problem, parse_instance
from standout.simulation.instances import FixedFamily, make_instance
from standout.simulation.play import play
from standout.simulation.rewards import RewardKind, Rewards, rewards_of
from standout.theory import information_limit

REFERENCE = "roai-lucb"
METHODS = (
    REFERENCE,
    "roai-lucb:interval=auto",
    "roai-lucb:interval=auto,range=exact",
    "focus:interval=hoeffding",
    "focus:range=algorithm1",
    "focus",
    "joint",
    "combined",
)
"""From the paper's method to focus: tight intervals, exact range, rule, and focus without one."""
ANYTIME = ("roai-lucb", "roai-lucb-released", "random", "focus", "joint", "focus:goal=anytime")
MARKS = (1000, 2000, 3000, 4000, 5000)
DECIDED = {
    "fig1:gap=0.4": (500, 1000, 2000, 3000, 4000),
    "wine": (20_000, 50_000, 100_000, 200_000, 300_000),
}


@dataclass(frozen=True)
class Row:
    """An instance, and its number of runs relative to --runs."""

    family: InstanceFamily
    part: float = 1.0


def small_rates() -> InstanceFamily:
    """51 arms with rates near .06, five of them up to .2: hits, clicks, defects."""
    normal = np.random.default_rng(51).normal(0.06, 0.015, 46).clip(0.01)
    means = np.concatenate([normal, [0.16, 0.17, 0.18, 0.19, 0.20]])
    return FixedFamily(make_instance("51 small rates", means, Bernoulli()), default_k=3.0)


def rows(quick: bool) -> list[Row]:
    gaps = [Row(parse_instance(f"fig1:gap={gap}")) for gap in ("0.6", "0.4", "0.2")]
    if quick:
        return gaps[:2]
    # These take millions of pulls.
    return [*gaps, Row(small_rates(), 0.05), Row(parse_instance("wine"), 0.05)]


def noise_free(family: InstanceFamily, name: str = "focus") -> int:
    """Pulls to stop when every reward is its arm's mean."""
    problem = default_problem(family)
    instance = family.draw(np.random.default_rng(0))
    method = parse_method(name)
    # A Beta with b = 0 stands for a reward without noise.
    exact = Rewards(int(RewardKind.BETA), instance.means, np.zeros(instance.n_arms), 0.0, 1.0)
    rng = np.random.default_rng(0)
    state = start_state(problem, method, instance.n_arms, rng)
    nothing = np.zeros(0, dtype=np.int64)
    guesses = np.zeros((0, instance.n_arms), dtype=np.bool_)
    spec = method.spec(problem, instance.n_arms)
    while state.counters[UNDECIDED] > 0:
        play(spec, state, exact, NO_LIMIT, 10_000, nothing, 0, guesses, rng, rng)
    return int(state.counters[PULLS])


def ablation(row: Row, runs: int, seed: int, jobs: int) -> dict[str, Any]:
    family = row.family
    count = max(2, round(runs * row.part))
    found = simulate(family, list(METHODS), runs=count, seed=seed, jobs=jobs)
    results = [result.to_dict() for result in found.results]
    paper = next(r for r in results if r["method"] == REFERENCE)
    for result in results:
        result["fewer"] = paper["pulls_mean"] / result["pulls_mean"]
    means = family.draw(np.random.default_rng(0)).means
    problem = default_problem(family)
    limit = information_limit(means, problem)
    for result in results:
        result["times_limit"] = result["pulls_mean"] / limit.lower
    return {
        "instance": family.name,
        "delta": problem.delta,
        "runs": count,
        "methods": [
            {
                key: r[key]
                for key in ("method", "pulls_mean", "pulls_se", "fewer", "wrong", "times_limit")
            }
            for r in results
        ],
        "noise_free": noise_free(family),
        "limit": limit.lower,
        "limit_upper": limit.upper,
    }


def show_ablation(table: dict[str, Any]) -> None:
    print(f"\n{table['instance']}: pulls to stop, delta = {table['delta']}, {table['runs']} runs")
    print(f"  {'method':34} {'pulls':>11} {'± se':>9} {'fewer':>7} {'wrong':>6} {'× limit':>8}")
    for row in table["methods"]:
        print(
            f"  {row['method']:34} {row['pulls_mean']:11,.0f} {row['pulls_se'] or 0:9,.0f} "
            f"{row['fewer']:6.2f}x {row['wrong']:6} {row['times_limit']:8.1f}"
        )
    print(f"  {'focus, rewards without noise':34} {table['noise_free']:11,}")
    limit = f"{table['limit']:,.0f} to {table['limit_upper']:,.0f}"
    print(f"  {'information limit':34} {limit:>21}", flush=True)


def anytime(instance: str, runs: int, seed: int, jobs: int) -> dict[str, Any]:
    found = simulate(
        instance, list(ANYTIME), runs=runs, seed=seed, jobs=jobs, budget=MARKS[-1],
        checkpoints=MARKS,
    )  # fmt: skip
    rates = {result.method: result.error_rate.tolist() for result in found.results}
    return {"instance": instance, "runs": runs, "checkpoints": list(MARKS), "error_rate": rates}


def show_anytime(table: dict[str, Any]) -> None:
    print(f"\n{table['instance']}: share of wrong best guesses, {table['runs']} runs")
    print(f"  {'method':34} " + " ".join(f"{mark:>7,}" for mark in table["checkpoints"]))
    for method, rates in table["error_rate"].items():
        print(f"  {method:34} " + " ".join(f"{rate:7.3f}" for rate in rates), flush=True)


def decided(instance: str, method: str, runs: int, seed: int) -> list[float]:
    """Mean number of arms that are certain after this many pulls."""
    family, chosen = parse_instance(instance), parse_method(method)
    problem = default_problem(family)
    nothing = np.zeros(0, dtype=np.int64)
    found = []
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        drawn = family.draw(rng)
        guesses = np.zeros((0, drawn.n_arms), dtype=np.bool_)
        rewards = rewards_of(drawn.means, drawn.noise, drawn.sigmas)
        state = start_state(problem, chosen, drawn.n_arms, rng)
        spec = chosen.spec(problem, drawn.n_arms)
        for mark in DECIDED[instance]:
            while state.counters[UNDECIDED] > 0 and state.counters[PULLS] < mark:
                play(spec, state, rewards, mark, 1000, nothing, 0, guesses, rng, rng)
            found.append(drawn.n_arms - int(state.counters[UNDECIDED]))
    return [float(mean) for mean in np.reshape(found, (runs, -1)).mean(axis=0)]


def show_decided(instance: str, runs: int, seed: int) -> dict[str, Any]:
    marks = DECIDED[instance]
    print(f"\n{instance}: arms that are certain, mean of {runs} runs")
    print(f"  {'method':34} " + " ".join(f"{mark:>7,}" for mark in marks))
    table: dict[str, Any] = {"instance": instance, "runs": runs, "pulls": marks, "decided": {}}
    for method in ("focus", "joint", "combined"):
        means = table["decided"][method] = decided(instance, method, runs, seed)
        print(f"  {method:34} " + " ".join(f"{mean:7.1f}" for mean in means), flush=True)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two instances, few runs")
    parser.add_argument("--runs", type=int, help="runs of each method (100; --quick: 10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="only the instances whose name has this in it")
    parser.add_argument("--table", choices=("pulls", "anytime", "decided"), help="only one table")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to FILE")
    given = parser.parse_args(arguments)
    runs = given.runs or (10 if given.quick else 100)
    words = list(sys.argv[1:] if arguments is None else arguments)
    print("$ python benchmarks/efficiency.py " + shlex.join(words))
    found: dict[str, Any] = {"runs": runs, "seed": given.seed, "ablation": [], "anytime": []}
    for instance in DECIDED if given.table == "decided" else ():
        if given.only in instance:
            part = 1.0 if instance != "wine" else 0.05
            table = show_decided(instance, max(2, round(part * runs)), given.seed)
            found.setdefault("decided", []).append(table)
    for row in rows(given.quick):
        if given.only not in row.family.name or given.table not in (None, "pulls"):
            continue
        table = ablation(row, runs, given.seed, given.jobs)
        show_ablation(table)
        found["ablation"].append(table)
    for instance in ("fig4",) if given.quick else ("fig4", "wine"):
        if given.only not in instance or given.table not in (None, "anytime"):
            continue
        table = anytime(instance, 3 * runs, given.seed, given.jobs)
        show_anytime(table)
        found["anytime"].append(table)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
