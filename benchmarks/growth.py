"""The cost of a tell in a study with a long history, as a multiple of the cost in a new one."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from bars import report

from standout.service.rating.rater import read_record
from standout.study import Study

MILLION = 1_000_000
SLOWEST = 2.0
"""The largest multiple; medians of some hundred calls vary by half."""
CALLS = 150
PART = 50_000
"""The number of tickets per ask."""


def median(call: Callable[[], object], calls: int = CALLS) -> float:
    """Milliseconds, the median of many calls."""
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return float(np.median(times)) * 1000


def add_expired(study: Study, count: int) -> None:
    """Add tickets whose leases have ended, as a rating page leaves them."""
    for _ in range(count // PART):
        study.ask(PART, lease=1e-6)
        time.sleep(0.001)


def measure(study: Study) -> dict[str, float]:
    """Median times of the usual calls."""
    tickets = iter(study.ask(61 * 5 + CALLS))

    def tell_sixty() -> None:
        study.tell_many([(next(tickets), 1.0) for _ in range(60)])

    return {
        "tell": median(lambda: study.tell(next(tickets), 1.0)),
        "tell 60": median(tell_sixty, 5),
        "ask": median(study.ask),
        "a new rater's record": median(lambda: read_record(study, "rater:token:new"), 20),
    }


def bench_growth(study: Study, label: str) -> None:
    """Before and after a million expired tickets, and then a million rewards."""
    young = measure(study)
    add_expired(study, MILLION)
    _compare(young, measure(study), f"{label}: {MILLION:,} expired tickets")
    rng = np.random.default_rng(3)
    for _ in range(10):
        names = [study.arms[i] for i in rng.integers(0, len(study.arms), MILLION // 10)]
        study.tell_many(zip(names, rng.normal(0, 5, MILLION // 10).tolist(), strict=True))
    _compare(young, measure(study), f"{label}: and {MILLION:,} rewards")


def _compare(young: dict[str, float], old: dict[str, float], what: str) -> None:
    for name, before in young.items():
        report(f"{what}: {name}, over fresh", old[name] / before, "times", SLOWEST)
        print(f"{'':<12}({before:.2f} ms, then {old[name]:.2f} ms)", flush=True)
