"""Thresholds by population bets, from tables whose counts were fixed in advance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from standout import Analysis, Problem, analyse
from standout.core import robust


def _table(n: int = 150, count: int = 200, seed: int = 3) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(seed)
    means = np.clip(rng.normal(0.3, 0.06, n), 0.01, 0.99)
    counts = np.full(n, count)
    names = [f"a{i}" for i in range(n)]
    return {"arm": names, "count": counts, "sum": rng.binomial(counts, means)}, means


def test_fixed_counts_narrow_the_threshold_and_say_what_they_take() -> None:
    table, means = _table()
    problem = Problem(noise="bernoulli")
    plain, fixed = analyse(table, problem), analyse(table, problem, is_fixed=True)
    widths = [each.found.threshold.upper - each.found.threshold.lower for each in (plain, fixed)]
    assert widths[1] < 0.7 * widths[0]
    truth = robust.threshold(means, problem.factor)
    assert fixed.found.threshold.lower <= truth <= fixed.found.threshold.upper
    assert any("fixed before its first reward" in line for line in fixed.assumptions)
    assert not any("fixed before its first" in line for line in plain.assumptions)
    assert sum(note.startswith("threshold by the") for note in fixed.notes) == 3
    assert fixed.problem.delta == 0.05
    assert fixed.found.problem is not None
    assert fixed.found.problem.delta == 0.05
    (possible,) = fixed.possible
    assert fixed.found.threshold.lower < possible.lower < possible.upper
    assert possible.upper < fixed.found.threshold.upper
    assert "no method could prove more" in fixed.summary()
    assert Analysis.from_dict(fixed.to_dict()) is not None
    again = analyse(table, problem, is_fixed=True)
    assert again.found.threshold == fixed.found.threshold


@pytest.mark.parametrize("count", [300, 30_000])
def test_what_is_possible_is_never_beyond_what_is_proved(count: int) -> None:
    table, _ = _table(count=count)
    said = analyse(table, Problem(noise="bernoulli"), is_fixed=True)
    # With many rewards an arm's own interval shows its mean, and nothing is left to say.
    assert bool(said.possible) == (count == 300)
    for possible in said.possible:
        assert said.found.threshold.lower <= possible.lower
        assert possible.upper <= said.found.threshold.upper


def test_low_side_is_the_mirror_image() -> None:
    table, _ = _table()
    turned = table | {"sum": table["count"] - table["sum"]}
    low = analyse(turned, Problem(noise="bernoulli", side="low"), is_fixed=True).possible[0]
    high = analyse(table, Problem(noise="bernoulli"), is_fixed=True).possible[0]
    assert 1 - low.upper == pytest.approx(high.lower, abs=1e-6)
    assert 1 - low.lower == pytest.approx(high.upper, abs=1e-6)


@pytest.mark.parametrize(
    ("noise", "n", "method"),
    [("bounded:0,1", 60, "focus"), ("bernoulli", 12, "focus"), ("bernoulli", 60, "roai-elim")],
)
def test_where_there_is_no_bet_nothing_changes(noise: str, n: int, method: str) -> None:
    table, _ = _table(n)
    problem = Problem(noise=noise)
    plain = analyse(table, problem, method, is_ordered=False)
    fixed = analyse(table, problem, method, is_ordered=False, is_fixed=True)
    assert fixed.found.threshold == plain.found.threshold
    assert any("change nothing" in note for note in fixed.notes)


def test_arms_without_rewards_or_with_few_leave_the_bounds_valid() -> None:
    table, means = _table(60)
    table["count"] = np.where(np.arange(60) % 7 == 0, 0, table["count"])
    table["sum"] = np.where(table["count"] == 0, 0, table["sum"])
    table["count"][1], table["sum"][1] = 1, 1
    said = analyse(table, Problem(noise="bernoulli"), is_fixed=True)
    assert said.found.threshold.lower <= robust.threshold(means, 4.4478)
    assert said.found.threshold.upper >= robust.threshold(means, 4.4478)
    same = table | {"count": np.full(60, 1), "sum": np.zeros(60, dtype=int)}
    lone = analyse(same, Problem(noise="bernoulli"), is_fixed=True)
    assert lone.found.threshold.upper == math.inf or lone.found.threshold.upper >= 1
