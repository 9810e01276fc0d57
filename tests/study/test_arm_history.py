"""One arm over its pulls, against the stopping rule's own interval and a plain count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from standout import Problem, Study
from standout.study.events.arm_history import MOMENTS_KEPT, MOST_REWARDS, arm_history, moments_of
from standout.study.view import view

ARMS = ["ash", "elm", "fir", "oak"]


@pytest.mark.parametrize(
    ("noise", "method", "is_exact"),
    [
        ("gaussian:1", "roai-lucb", True),
        ("gaussian:1", "focus", False),
        ("bernoulli", "focus", False),
        ("bounded:0,1", "focus", False),
    ],
)
def test_it_ends_where_the_study_stands(
    tmp_path: Path, noise: str, method: str, is_exact: bool
) -> None:
    rng = np.random.default_rng(3)
    rewards = {arm: rng.integers(0, 2, 90).astype(float) for arm in ARMS}
    with Study.create(tmp_path / "s.db", ARMS, Problem(noise=noise, k=2), method) as study:
        pairs = [(arm, float(rewards[arm][i])) for i in range(90) for arm in ARMS]
        study.tell_many(pairs, worker="ada")
        seen = view(study)
        for place, arm in enumerate(ARMS):
            found = arm_history(study._state, place)
            assert found.arm == arm
            assert found.pulls[-1] == 90
            assert len(found.pulls) <= MOMENTS_KEPT
            means = [rewards[arm][:number].mean() for number in found.pulls]
            assert found.mean == pytest.approx(means)
            assert (found.lower <= found.upper).all()
            # Cut with more of those before it, it may be narrower than after one telling.
            slack = 0.0 if is_exact else 1.0
            assert seen.lower[place] <= found.lower[-1] <= seen.lower[place] + slack + 1e-12
            assert seen.upper[place] - slack - 1e-12 <= found.upper[-1] <= seen.upper[place]


def test_who_measured_and_what_came_last(tmp_path: Path) -> None:
    with Study.create(
        tmp_path / "s.db", ARMS, Problem(noise="gaussian:1", k=2), budget=40
    ) as study:
        for number in range(30):
            study.tell(arm="elm", reward=float(number), worker="ada" if number % 3 else "ben")
        study.tell_many([("ash", 1.0)] * 10, worker="cy")
        study.tell(arm="elm", reward=99.0, worker="cy")  # Beyond the budget.
        found = arm_history(study._state, 1)
    assert [(one.worker, one.rewards) for one in found.workers] == [("ada", 20), ("ben", 10)]
    assert found.n_workers == 2
    assert found.workers[1].mean == pytest.approx(np.mean(range(0, 30, 3)))
    assert len(found.latest) == MOST_REWARDS
    assert [(one.reward, one.counted) for one in found.latest[:2]] == [(99.0, False), (29.0, True)]


def test_an_arm_without_rewards(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s.db", ARMS, Problem(noise="bernoulli", k=2)) as study:
        found = arm_history(study._state, 0)
        assert len(found.pulls) == len(found.lower) == len(found.workers) == len(found.latest) == 0
        with pytest.raises(IndexError):
            arm_history(study._state, 4)


def test_moments_begin_and_end_where_they_should() -> None:
    for pulls in (1, 2, 59, 60, 61, 500, 123_456):
        found = moments_of(pulls, 3)
        assert found[0] == min(3, pulls)
        assert found[-1] == pulls
        assert (np.diff(found) > 0).all()
        assert len(found) <= MOMENTS_KEPT
