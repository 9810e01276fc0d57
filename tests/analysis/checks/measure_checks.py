"""Measure how often the checks warn: `python -m tests.analysis.checks.measure_checks [STUDIES]`.

The figures in docs/developers/checks.md come from here: adaptive studies, and (with
`corners`) studies in which few values differ. Without fault no check should warn
more often than its level says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from standout.analysis.checks import noise as noise_checks
from standout.analysis.checks import order as order_checks
from standout.analysis.checks import ranks as checks
from standout.analysis.checks import workers as worker_checks
from standout.core.problem import Problem
from tests.report import corners, played
from tests.report.played import Draw, Log

CASES: tuple[tuple[str, str, Draw, str, int, int], ...] = (
    ("bernoulli, 20 arms", "bernoulli", played.bernoulli, "rates", 20, 6_000),
    ("gaussian:1, 20 arms", "gaussian:1", played.gaussian, "levels", 20, 6_000),
    ("gaussian, 20 arms", "gaussian", played.gaussian, "levels", 20, 6_000),
    ("heavy:1, 20 arms", "heavy:1", played.heavy, "levels", 20, 6_000),
    ("bounded:0,10, 20 arms", "bounded:0,10", played.grades, "marks", 20, 6_000),
    ("gaussian:1, 300 arms", "gaussian:1", played.gaussian, "levels", 300, 60_000),
    ("bernoulli, 1000 arms", "bernoulli", played.bernoulli, "rates", 1000, 100_000),
)
METHODS = ("focus", "roai-lucb", "roai-elim")


def p_values(log: Log, noise: str, sigma: float = 1.0) -> dict[str, float]:
    """What every check says about a log."""
    arms = checks.sort_rewards(log.arm, log.reward, log.n_arms)
    total = len(log.arm)
    # Skewed, and nothing to do with the rewards: seeded with what is known before them.
    delay = np.random.default_rng([total, log.n_arms]).exponential(size=total)[arms.place]
    ranks = checks.middle_ranks(arms.arm, delay)
    found = {
        "drift": order_checks.trend_of(arms, arms.place / total, alone=True).p,
        "neighbours": order_checks.neighbours(arms)[0],
        "workers": worker_checks.compare_workers(arms, log.worker, int(log.worker.max()) + 1).p,
        "delay": order_checks.trend_of(arms, ranks, ignored=checks.ALIKE).p,
    }
    if noise == "gaussian":
        found["noise"] = noise_checks.gaussian_shape(arms).p
    elif noise.startswith("gaussian"):
        found["noise"] = noise_checks.gaussian_spread(arms, sigma).p
    elif noise.startswith("heavy"):
        found["noise"] = noise_checks.heavy_spread(arms, sigma).p
    return found


def clean_studies(studies: int) -> Iterator[tuple[str, dict[str, float]]]:
    """p-values of studies without fault."""
    for name, noise, draw, means, n_arms, budget in CASES:
        problem = Problem(noise=noise, k=3)  # type: ignore[arg-type]
        for method in METHODS:
            if noise == "gaussian" and method != "focus":
                continue  # The paper's intervals need a known scale.
            if noise.startswith("heavy") and method != "focus":
                continue
            for seed in range(max(1, studies * 20 // n_arms)):
                log = played.play(
                    problem, method, getattr(played, means)(n_arms, seed), draw,
                    budget=budget, shifts=seed % 2 == 1, seed=seed,
                )  # fmt: skip
                yield f"{name}, {method}", p_values(log, noise)


FAULTS = ("drift", "neighbours", "workers", "noise")


def faulty_log(fault: str, size: float, seed: int) -> Log:
    """20 arms, 6,000 Gaussian rewards, 10 workers; `size` is in standard deviations."""
    rng = np.random.default_rng([seed, 6])
    arm, who = rng.integers(0, 20, 6000), rng.integers(0, 10, 6000)
    off = rng.normal(size=6000)
    if fault == "drift":
        off += size * np.linspace(0, 1, 6000)
    elif fault == "neighbours":
        last = np.zeros(20)
        for k, i in enumerate(arm):
            last[i] = off[k] = size * last[i] + off[k]
    elif fault == "workers":
        off += size * rng.normal(size=10)[who]
    elif fault == "noise":
        off *= 1 + size
    return Log(arm, arm + off, who, 20)


def power() -> None:
    """Shares of faulty studies that are warned about, by the size of the fault."""
    for fault in FAULTS:
        for size in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4):
            found = [p_values(faulty_log(fault, size, s), "gaussian:1")[fault] for s in range(100)]
            print(f"{fault:10} of size {size:4}: {np.mean(np.array(found) < checks.ALPHA):.2f}")


def corner_rates(studies: int) -> None:
    """A line of the table in docs/developers/checks.md per corner: false alarms, check by check."""
    shown = ("drift", "neighbours", "workers", "delay", "noise")
    print("| studies | tested |", *(f"{check} |" for check in shown))
    print("|---|---|" + "---|" * len(shown))
    for name, (noise, _) in corners.CORNERS.items():
        alarms = dict.fromkeys(shown, 0)
        tested = 0
        for seed in range(studies // 4 if name.startswith(METHODS) else studies):
            log = corners.log_of(name, seed)
            if not checks.sort_rewards(log.arm, log.reward, log.n_arms).is_enough:
                continue
            tested += 1
            found = p_values(log, noise)
            for check, p in found.items():
                alarms[check] += p < checks.ALPHA
        cells = (f"{alarms[check]} |" if check in found else "– |" for check in shown)
        print(f"| {name} | {tested:,} |", *cells, flush=True)


def main() -> None:
    if sys.argv[1:2] == ["corners"]:
        corner_rates(int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
        return
    power()
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    by_case: dict[tuple[str, str], list[float]] = {}
    for name, found in clean_studies(studies):
        for check, p in found.items():
            by_case.setdefault((name, check), []).append(p)
            by_case.setdefault(("all", check), []).append(p)
    for (name, check), values in by_case.items():
        p = np.array(values)
        shares = "  ".join(f"{level:g}: {np.mean(p < level):.4f}" for level in (0.05, 0.01, 0.001))
        print(f"{name:38} {check:10} {len(p):6} studies  {shares}  smallest {p.min():.2g}")


if __name__ == "__main__":
    main()
