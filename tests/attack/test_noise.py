"""With true randomness and a large delta, no more runs are wrong than delta allows.

Were each run wrong with probability exactly delta, one group would fail with
probability at most 1e-6 (`noise.FALSE_ALARM`); the groups of one test are fewer
than 100. The seeds are fixed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from standout.core.problem import Side
from tests.attack import delays, noise
from tests.attack.noise import DELTA, SIGMA, Score, Setting

RUNS = 8
GROUP = 24
QUICK = [
    Setting(label, family, Side.HIGH)
    for label in ("focus", "roai-lucb:interval=auto", "roai-elim")
    for family in (f"gaussian:{SIGMA}", "gaussian", f"heavy:{SIGMA}")
    if label != "roai-elim" or family.startswith("gaussian:")
]


def test_simulated_runs() -> None:
    score = Score()
    noise.attack(1, RUNS, score)
    assert not score.faults(), "\n".join(score.faults())
    assert score.runs["all"] > 1000
    # Most runs come to an end within the budget.
    assert score.decided["all"] > 0.5 * score.runs["all"]


def test_runs_by_hand_reward_by_reward() -> None:
    score = Score()
    settings = [one for one in noise.settings() if one.side is Side.HIGH]
    delays.attack_runs(score, settings, 2, 3)
    assert not score.faults(), "\n".join(score.faults())


@pytest.mark.parametrize("slow_high", [False, True])
def test_studies_with_late_rewards(folder: Path, slow_high: bool) -> None:
    """High rewards come late, but within their lease: the study counts them in order."""
    score = Score()
    delays.attack_studies(
        score, str(folder / "late.db"), QUICK, 3, 3, ordered=slow_high, slow_high=slow_high
    )
    assert not score.faults(), "\n".join(score.faults())
    assert score.decided["all"] > 0.5 * score.runs["all"]


def test_the_quantile_is_that_of_the_binomial() -> None:
    """Exact, and small enough that a method that is always wrong cannot hide in its group."""
    assert noise.most_failures(GROUP, DELTA) < GROUP
    assert noise.most_failures(1000, DELTA) == 370
