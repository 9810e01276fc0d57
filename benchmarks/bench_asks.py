"""Ask and tell with `joint` or `combined`, as multiples of the times with `focus`.

It measures the processor time of single asks and tells in studies on SQLite, after 40 pulls per
arm. For 17 arms it also plays a whole study to its end, which includes the proofs.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np
from bars import end, report

from standout import Problem, Study
from standout.core.typing import Floats
from standout.simulation import parse_instance

ARMS = (17, 105, 300)
PAST = 40
PAIRS = 400
MOST = 1.5
"""The largest time of an ask with the other method, as a multiple of that with `focus`."""


def measure(means: Floats, noise: str, method: str, past: int, pairs: float) -> Floats:
    """Mean seconds of an ask and of a tell, and the slowest tell, after `past` pulls per arm."""
    rng = np.random.default_rng(0)

    def draw(arm: str) -> float:
        mean = means[int(arm)]
        return float(rng.random() < mean) if noise == "bernoulli" else float(rng.normal(mean, 0.5))

    arms = [str(i) for i in range(means.size)]
    asks: list[float] = []
    tells: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Study.create(Path(folder) / "x.db", arms, Problem(noise=noise, k=2), method) as study,
    ):
        while study.status().pulls < past * means.size:
            study.tell_many([(t, draw(t.arm)) for t in study.ask(means.size)])
        while len(asks) < pairs:
            begin = time.process_time()
            tickets = study.ask(1)
            asked = time.process_time()
            if not tickets:
                break
            study.tell(tickets[0], draw(tickets[0].arm))
            asks.append(asked - begin)
            tells.append(time.process_time() - asked)
    return np.array([np.mean(asks), np.mean(tells), np.max(tells)])


def compare(
    title: str, means: Floats, noise: str, other: str, past: int = PAST, pairs: float = PAIRS
) -> None:
    measure(means, noise, other, 1, 1)  # Compile.
    focus, theirs = (measure(means, noise, name, past, pairs) for name in ("focus", other))
    report(f"{title}: {other}'s ask, over focus's", theirs[0] / focus[0], "times", MOST)
    report(f"{title}: {other}'s tell, over focus's", theirs[1] / focus[1], "times")
    ask, tell, slowest = 1000 * theirs
    print(f"{'':<12}(ask {ask:.2f} ms, tell {tell:.2f}, slowest {slowest:.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--method", default="joint", help="the other method")
    other = parser.parse_args().method
    rng = np.random.default_rng(1)
    for n_arms in ARMS:
        compare(f"{n_arms} arms, gaussian", rng.normal(0, 1, n_arms), "gaussian:0.5", other)
        compare(f"{n_arms} arms, 0 or 1", rng.beta(4, 6, n_arms), "bernoulli", other)
    fig1 = parse_instance("fig1:gap=0.6").draw(rng).means
    compare("Fig. 1 to the end", fig1, "gaussian:0.5", other, 0, math.inf)
    end()


if __name__ == "__main__":
    main()
