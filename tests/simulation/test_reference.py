"""Agreement with runs of the authors' released code (Fig. 1 and Fig. 4 of the paper).

Its means and standard errors were recorded once; seeds differ, so agreement is
up to noise. The seeds here are fixed: a test that is green stays green until
the code changes, and the false-alarm probabilities below are those of such a
change that alters the random streams but nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy.stats import fisher_exact

from standout.core.kinds import IntervalKind
from standout.core.method import Method
from standout.core.methods import METHODS
from standout.simulation import MethodResult, simulate

RELEASED: dict[str, Method] = {
    "LUCB": METHODS["roai-lucb-released"],
    "Elim": METHODS["roai-elim-released"],
    # The released code uses its own radius for uniform sampling, too.
    "Random": replace(METHODS["random"], interval=IntervalKind.RELEASED),
    "RR": METHODS["rr"],
}


def play(instance: str, method: Method, **options: object) -> MethodResult:
    (result,) = simulate(instance, method, seed=2020, **options).results  # type: ignore[arg-type]
    return result


# Mean pulls until the stop and its standard error, by gap.
FIG1 = {
    ("LUCB", 0.6): (13_535, 353),
    ("LUCB", 0.4): (30_951, 1_206),
    ("LUCB", 0.2): (133_771, 3_861),
    ("Elim", 0.6): (32_555, 699),
    ("Elim", 0.4): (57_918, 1_125),
    ("Elim", 0.2): (160_046, 4_364),
    ("Random", 0.6): (36_125, 1_547),
    ("Random", 0.4): (90_264, 1_972),
    ("Random", 0.2): (418_601, 18_116),
}
RUNS = {0.6: 40, 0.4: 30, 0.2: 12}


@pytest.mark.parametrize(("name", "gap"), FIG1)
def test_fig1_pulls_until_the_stop(name: str, gap: float) -> None:
    # Within 4 standard errors of the difference. Were those errors known, a false
    # alarm had probability 6.3e-5 per cell (6e-4 for all nine); ours is estimated
    # from 40, 30 and 12 runs, which makes it at most P(|t_11| > 4) = 2.1e-3 per cell.
    expected, error = FIG1[name, gap]
    result = play(f"fig1:gap={gap}", RELEASED[name], runs=RUNS[gap])
    assert result.stopped == result.runs
    # At delta = .05 the paper's intervals are so wide that hardly any run is ever wrong.
    assert result.wrong == 0
    own_error = result.pulls.std(ddof=1) / math.sqrt(result.runs)
    assert abs(result.pulls.mean() - expected) < 4 * math.hypot(error, own_error)


PULLS = (1000, 2000, 3000, 5000, 10000)
# Wrong answers and runs of the released code at these pulls.
FIG4 = {
    "LUCB": ((34, 11, 1, 0, 0), 40),
    "Random": ((37, 14, 4, 4, 3), 40),
    "Elim": ((37, 23, 7, 6, 2), 40),
    "RR": ((97, 83, 63, 47, 18), 100),
}


@pytest.mark.parametrize("name", FIG4)
def test_fig4_error_after_some_pulls(name: str) -> None:
    # Fisher's exact test of equal error rates: a false alarm has probability at
    # most 1e-4 per cell, 2e-3 for all twenty.
    runs = 120
    result = play("fig4", RELEASED[name], runs=runs, budget=PULLS[-1], checkpoints=PULLS)
    wrong_there, runs_there = FIG4[name]
    for there, rate in zip(wrong_there, result.error_rate, strict=True):
        here = round(rate * runs)
        table = [[there, runs_there - there], [here, runs - here]]
        assert fisher_exact(table).pvalue > 1e-4, (there / runs_there, rate)
